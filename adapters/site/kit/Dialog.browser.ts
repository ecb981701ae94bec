/**
 * Modal dialogs: with any content, or to confirm an operation. Escape closes or cancels them.
 */
import { button, type Child, el, on } from "./Dom.browser.ts"

export const openDialog = (title: string, ...children: ReadonlyArray<Child>): HTMLDialogElement => {
  const dialog = el(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    el(
      "div",
      { class: "toolbar" },
      el("h2", { id: "dialog-title" }, title),
      button("Close", () => dialog.close(), "plain tiny")
    ),
    el("div", { class: "body" }, ...children)
  )
  document.body.append(on(dialog, { close: () => dialog.remove() }))
  dialog.showModal()
  return dialog
}

export interface Confirmation {
  readonly title: string
  readonly text: ReadonlyArray<Child>
  /** Label of the button that confirms. */
  readonly action: string
  readonly isDangerous?: boolean
}

/** Asks for confirmation. */
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
          text.map((part) => (typeof part === "string" ? el("p", part) : part))
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
