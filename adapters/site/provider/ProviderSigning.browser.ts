/**
 * The secret that signs requests to the provider's server.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { codeBlock } from "../kit/CodeBlock.browser.ts"
import { el, facts } from "../kit/Dom.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { SigningSecret } from "../kit/ApiResponses.browser.ts"

export const signingPanel = (): Panel => {
  const status = statusArea()
  const show = actionButton({
    label: "Show signing secret",
    style: "plain",
    status,
    run: async () =>
      secretView(await accountApi("provider").get<SigningSecret>("/api/v1/market/providers/signing-secret"))
  })
  return panel("signing", "Request signing", () =>
    Promise.resolve([
      el(
        "p",
        { class: "narrow" },
        "Every request to your server is signed. Verify the signature and reject other requests: you are not paid for them."
      ),
      el("div", { class: "actions" }, show),
      status
    ])
  )
}

const secretView = ({ algorithm, secret, signature_header, signed_text }: SigningSecret): HTMLElement =>
  el(
    "div",
    codeBlock(secret),
    facts([
      ["Header", el("code", signature_header)],
      ["Algorithm", algorithm],
      ["Signed text", el("code", signed_text)]
    ])
  )
