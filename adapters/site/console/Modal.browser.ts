/**
 * Modal dialogs: with any content, or to confirm an operation. Escape closes or cancels them.
 */
import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { h, type View } from "./View.browser.ts"

interface Open {
  readonly id: number
  readonly title: string
  readonly show: (close: () => void) => ComponentChildren
  readonly closed: () => void
}

const all = signal<ReadonlyArray<Open>>([])
let lastId = 0

/** Resolves once it is closed. */
export const openModal = (title: string, show: Open["show"]): Promise<void> =>
  new Promise((closed) => {
    all.value = [...all.value, { id: ++lastId, title, show, closed }]
  })

export interface Confirmation {
  readonly title: string
  readonly text: ComponentChildren
  /** Label of the button that confirms. */
  readonly action: string
  readonly isDangerous?: boolean
}

export const confirmed = async ({ action, isDangerous, text, title }: Confirmation): Promise<boolean> => {
  let answer = false
  await openModal(title, (close) => [
    typeof text === "string" ? h("p", null, text) : text,
    h(
      "div",
      { class: "actions" },
      h(
        "button",
        {
          type: "button",
          class: isDangerous === true ? "danger" : "",
          onClick: () => {
            answer = true
            close()
          }
        },
        action
      ),
      h("button", { type: "button", class: "plain", autofocus: true, onClick: close }, "Cancel")
    )
  ])
  return answer
}

/** The console shows its modals here. */
export const Modals = (): ComponentChildren => all.value.map((one) => h(Modal, { key: one.id, one }))

const Modal = ({ one }: { readonly one: Open }): View => {
  const element = useRef<HTMLDialogElement>(null)
  const title = `dialog-${one.id}-title`
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  const close = () => element.current?.close()
  const closed = () => {
    all.value = all.value.filter((other) => other !== one)
    one.closed()
  }
  return h(
    "dialog",
    { ref: element, "aria-labelledby": title, onClose: closed },
    h(
      "div",
      { class: "toolbar" },
      h("h2", { id: title }, one.title),
      h("button", { type: "button", class: "plain tiny", onClick: close }, "Close")
    ),
    h("div", { class: "body" }, one.show(close))
  )
}
