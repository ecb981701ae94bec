/**
 * Asks again before something is done that cannot be undone: money moves, a key ends. Escape says no.
 */
import { type Child, button, el, on } from "./Dom.browser.ts"

export interface Asking {
  readonly title: string
  readonly text: ReadonlyArray<Child>
  /** What is done, in words: the label of the button that does it. */
  readonly yes: string
  readonly no?: string
  readonly isDangerous?: boolean
}

export const confirmed = ({ isDangerous, no = "Cancel", text, title, yes }: Asking): Promise<boolean> =>
  new Promise((resolve) => {
    const close = (answer: string) => () => dialog.close(answer)
    const refuse = button(no, close("no"), "plain")
    refuse.autofocus = true
    const dialog = on(
      el(
        "dialog",
        { "aria-labelledby": "asking" },
        el("h2", { id: "asking" }, title),
        el("div", {}, ...text),
        el("div", { class: "actions" }, button(yes, close("yes"), isDangerous === true ? "danger" : ""), refuse)
      ),
      {
        close: () => {
          dialog.remove()
          resolve(dialog.returnValue === "yes")
        }
      }
    )
    document.body.append(dialog)
    dialog.showModal()
  })
