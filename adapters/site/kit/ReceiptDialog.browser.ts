/**
 * A receipt with its verification result, and downloads of the receipt and its proof.
 */
import { actionButton, statusArea } from "./Action.browser.ts"
import { errorMessage, request, requestFile } from "./ApiRequest.browser.ts"
import { openDialog } from "./Dialog.browser.ts"
import { button, el, facts, fill, notice, saveFile } from "./Dom.browser.ts"
import type { ReceiptResponse } from "./ApiResponses.browser.ts"

export const receiptButton = (id: string): HTMLElement => button("Receipt", () => openReceipt(id), "plain tiny")

const openReceipt = (id: string): void => {
  const place = el("div", { "aria-live": "polite" }, "Loading…")
  openDialog("Receipt", place)
  showReceipt(id, place).catch((error: unknown) => fill(place, notice("bad", errorMessage(error))))
}

const showReceipt = async (id: string, place: HTMLElement): Promise<void> => {
  const path = `/api/v1/market/receipts/${id}`
  const { receipt, verification } = await request<ReceiptResponse>("GET", path)
  const status = statusArea()
  fill(
    place,
    verification.valid
      ? notice("good", "Valid: signed by this service.")
      : notice("bad", "Not valid: the signature does not match."),
    facts(Object.entries(receipt).map(([name, value]) => [name, el("span", { class: "number" }, String(value))])),
    status,
    el(
      "div",
      { class: "actions" },
      button("Download receipt", () => saveFile(`${id}.json`, `${JSON.stringify(receipt, null, 2)}\n`), "plain"),
      actionButton({
        label: "Download proof",
        style: "plain",
        status,
        run: async () => {
          saveFile(`${id}.tlog-proof`, await requestFile(`${path}/proof`))
        }
      }),
      el("a", { href: "/verify" }, "Verify offline")
    )
  )
}
