/**
 * A button that runs an operation and shows its result in a status area.
 */
import { errorMessage, idempotentRequest } from "./ApiRequest.browser.ts"
import { button, el, fill, notice, restoreFocus, showResult } from "./Dom.browser.ts"

/** Place it outside of content that is reloaded, so that messages stay. */
export const statusArea = (): HTMLElement => el("div", { "aria-live": "polite", tabindex: -1 })

export interface Action {
  readonly label: string
  /** Accessible name, where the label alone is ambiguous. */
  readonly name?: string
  readonly style?: string
  readonly status: HTMLElement
  /** Resolves to the message to show. The idempotency key stays the same until the outcome is known. */
  readonly run: (idempotencyKey: string) => Promise<string | Node | void>
}

export const actionButton = ({ label, name, run, status, style = "" }: Action): HTMLButtonElement => {
  const request = idempotentRequest()
  const start = async () => {
    made.disabled = true
    fill(status)
    try {
      const message = await run(request.keyFor(label))
      request.finished()
      showResult(status, message)
    } catch (error) {
      request.finished(error)
      fill(status, notice("bad", errorMessage(error)))
    } finally {
      made.disabled = false
      restoreFocus(made, status)
    }
  }
  const made = button(label, () => void start(), style)
  if (name !== undefined) made.setAttribute("aria-label", name)
  return made
}
