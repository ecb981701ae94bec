/**
 * Opens a receipt. What shows and verifies it is loaded only then.
 */
import { openModal } from "../console/Modal.browser.ts"
import { h, type View } from "../console/View.browser.ts"

export const ReceiptButton = ({ id }: { readonly id: string }): View => {
  const open = async () => {
    const { ReceiptView } = await import("./ReceiptView.browser.ts")
    await openModal("Receipt", () => h(ReceiptView, { id }))
  }
  return h("button", { type: "button", class: "plain tiny", onClick: () => void open() }, "Receipt")
}
