/**
 * The secret by which the provider's server can tell this market's requests from anybody else's; shown when asked for.
 */
import type { SigningSecret } from "./Answers.ts"
import { ask } from "./Api.ts"
import { deed, saying } from "./Deed.ts"
import { el } from "./Dom.ts"
import { command } from "./KeyShown.ts"
import { type Panel, panel } from "./Panel.ts"
import { keyOf } from "./Session.ts"

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
