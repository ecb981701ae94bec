/**
 * A button that does something at the service, and a place where it says how that went.
 */
import { words } from "./Api.browser.ts"
import { button, el, fill, focusAgain, notice } from "./Dom.browser.ts"
import { makeWish } from "./IdempotentRequest.browser.ts"

/** Lives outside of what is loaded again, so that what was said stays. */
export const saying = (): HTMLElement => el("div", { "aria-live": "polite", tabindex: -1 })

/** `work` is given an idempotency key, the same until the service has answered. What it gives back is said. */
export const deed = (
  label: string,
  said: HTMLElement,
  work: (idempotencyKey: string) => Promise<string | Node | undefined>,
  style = ""
): HTMLButtonElement => {
  const wish = makeWish()
  const run = async () => {
    doer.disabled = true
    fill(said)
    try {
      const done = await work(wish.keyFor(label))
      wish.heard()
      if (done !== undefined) fill(said, typeof done === "string" ? notice("good", done) : done)
    } catch (error) {
      wish.heard(error)
      fill(said, notice("bad", words(error)))
    } finally {
      doer.disabled = false
      focusAgain(doer, said)
    }
  }
  const doer = button(label, () => void run(), style)
  return doer
}
