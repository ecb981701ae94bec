/**
 * Modal dialogs. Escape closes them.
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
