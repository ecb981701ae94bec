/**
 * A dialog that asks for confirmation. Escape cancels.
 */
import { type Child, button, el, on } from "./Dom.browser.ts"

export interface Confirmation {
  readonly title: string
  readonly text: ReadonlyArray<Child>
  /** Label of the button that confirms. */
  readonly action: string
  readonly isDangerous?: boolean
}

export const confirmed = ({ action, isDangerous, text, title }: Confirmation): Promise<boolean> =>
  new Promise((resolve) => {
    const close = (answer: string) => () => dialog.close(answer)
    const cancel = button("Cancel", close("no"), "plain")
    cancel.autofocus = true
    const dialog = on(
      el(
        "dialog",
        { "aria-labelledby": "confirm-title" },
        el("h2", { id: "confirm-title" }, title),
        el(
          "div",
          {},
          text.map((part) => (typeof part === "string" ? el("p", {}, part) : part))
        ),
        el("div", { class: "actions" }, button(action, close("yes"), isDangerous === true ? "danger" : ""), cancel)
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
