/**
 * A receipt with its verification result, its proof, and downloads of both.
 */
import { Fragment } from "preact"
import { Announcements } from "../console/Announcements.browser.ts"
import { ReceiptCheck } from "../console/ReceiptCheck.browser.ts"
import { Loaded, useResource } from "../console/Resource.browser.ts"
import { Facts, Notice } from "../console/Values.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import type { ReceiptResponse } from "../kit/ApiResponses.browser.ts"

export const ReceiptView = ({ id }: { readonly id: string }): View => {
  const found = useResource(() => request<ReceiptResponse>("GET", `/api/v1/market/receipts/${id}`), [id])
  return h(Loaded<ReceiptResponse>, {
    of: found,
    show: ({ receipt, verification }) =>
      h(
        Fragment,
        null,
        verification.valid
          ? h(Notice, { style: "good" }, "Valid: signed by this service.")
          : h(Notice, { style: "bad" }, "Not valid: the signature does not match."),
        h(Facts, {
          all: Object.entries(receipt).map(
            ([name, value]) => [name, h("span", { class: "number" }, String(value))] as const
          )
        }),
        h(Announcements, null),
        h(ReceiptCheck, { receipt })
      )
  })
}
