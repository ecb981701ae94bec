/**
 * The secret by which the provider's server can tell this market's requests from anybody else's; shown when asked for.
 */
import type { SigningSecret } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { el } from "../kit/Dom.browser.ts"
import { command } from "../kit/KeyShown.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"

const PATH = "/api/v1/market/providers/signing-secret"

export const signing = (): Panel => {
  const said = saying()
  const showing = deed(
    "Show the signing secret",
    said,
    async () => shown(await ask<SigningSecret>("GET", PATH, { key: keyOf("provider") })),
    "plain"
  )
  return panel("signing", "Signed requests", () =>
    Promise.resolve([
      el(
        "p",
        { class: "narrow" },
        "Every request to your server is signed. Check the signature, and refuse what did not come through this market: " +
          "it would be a call that nobody pays for."
      ),
      el("div", { class: "actions" }, showing),
      said
    ])
  )
}

const shown = (answer: SigningSecret): HTMLElement =>
  el(
    "div",
    {},
    command(answer.secret),
    el(
      "dl",
      { class: "facts" },
      el("dt", {}, "Header"),
      el("dd", {}, el("code", {}, answer.signature_header)),
      el("dt", {}, "Algorithm"),
      el("dd", {}, answer.algorithm),
      el("dt", {}, "Signed text"),
      el("dd", {}, el("code", {}, answer.signed_text))
    )
  )
