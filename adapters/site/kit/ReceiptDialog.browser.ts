/**
 * One receipt with everything it says, whether it is valid, and the files that prove it elsewhere.
 */
import type { OneReceipt } from "./Answers.browser.ts"
import { ask, askText, words } from "./Api.browser.ts"
import { deed, saying } from "./Action.browser.ts"
import { openDialog } from "./Dialog.browser.ts"
import { button, el, fill, notice } from "./Dom.browser.ts"
import { save } from "./Save.browser.ts"

/** The receipt as the service keeps it, verified there; the proof is for verifying it without the service. */
export const openReceipt = (id: string): void => {
  const place = el("div", { "aria-live": "polite" }, "Loading…")
  openDialog("Receipt", place)
  void showReceipt(id, place)
}

const showReceipt = async (id: string, place: HTMLElement): Promise<void> => {
  const path = `/api/v1/market/receipts/${id}`
  try {
    const { receipt: shown, verification } = await ask<OneReceipt>("GET", path)
    const said = saying()
    fill(
      place,
      verification.valid
        ? notice("good", "Valid: the signature is this service's own.")
        : notice("bad", "Not valid: the signature does not fit."),
      el(
        "dl",
        { class: "facts" },
        Object.entries(shown).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "number" }, String(value))])
      ),
      said,
      el(
        "div",
        { class: "actions" },
        button("Download the receipt", () => save(`${id}.json`, `${JSON.stringify(shown, null, 2)}\n`), "plain"),
        deed(
          "Download the proof",
          said,
          async () => {
            save(`${id}.tlog-proof`, await askText(`${path}/proof`))
            return undefined
          },
          "plain"
        ),
        el("a", { href: "/verify" }, "Verify it without trusting us")
      )
    )
  } catch (error) {
    fill(place, notice("bad", words(error)))
  }
}
