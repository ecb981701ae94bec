/**
 * The secret that signs requests to the provider's server.
 */
import { Fragment } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { CodeBlock } from "../../console/Copyable.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { Facts } from "../../console/Figures.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { SigningSecret } from "../../kit/ApiResponses.browser.ts"

export const RequestSigning = (): View => {
  const { api } = useConsole()
  const [shown, setShown] = useState<SigningSecret>()
  return h(
    "section",
    { id: "signing" },
    h("h2", null, "Request signing"),
    h(
      "p",
      { class: "narrow" },
      "Every request to your server is signed. Verify the signature and reject other requests: you are not paid for them."
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: "Show signing secret",
        style: "plain",
        run: async () => setShown(await api.get<SigningSecret>("/api/v1/market/providers/signing-secret"))
      })
    ),
    h("div", { "aria-live": "polite" }, shown === undefined ? undefined : secretView(shown))
  )
}

const secretView = ({ algorithm, secret, signature_header, signed_text }: SigningSecret): View =>
  h(
    Fragment,
    null,
    h(CodeBlock, { text: secret }),
    h(Facts, {
      all: [
        ["Header", h("code", null, signature_header)],
        ["Algorithm", algorithm],
        ["Signed text", h("code", null, signed_text)]
      ]
    })
  )
