/**
 * A button that does something at the service, and a place where it says how that went.
 */
import { Refused, words } from "./Api.ts"
import { button, el, fill, notice } from "./Dom.ts"

/** Lives outside of what is loaded again, so that what was said stays. */
export const saying = (): HTMLElement => el("div", { "aria-live": "polite" })

/** `work` is given an idempotency key, the same until the service has answered. What it gives back is said. */
export const deed = (
  label: string,
  said: HTMLElement,
  work: (idempotencyKey: string) => Promise<string | Node | undefined>,
  style = ""
): HTMLButtonElement => {
  let open: string | undefined
  const run = async () => {
    open ??= crypto.randomUUID()
    doer.disabled = true
    fill(said)
    try {
      const done = await work(open)
      open = undefined
      if (done !== undefined) fill(said, typeof done === "string" ? notice("good", done) : done)
    } catch (error) {
      if (error instanceof Refused) open = undefined
      fill(said, notice("bad", words(error)))
    } finally {
      doer.disabled = false
    }
  }
  const doer = button(label, () => void run(), style)
  return doer
}
