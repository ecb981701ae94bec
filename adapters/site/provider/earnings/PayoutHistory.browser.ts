/**
 * Payouts so far, newest first.
 */
import { Fragment } from "preact"
import { type Badges, statusBadge } from "../../console/Badge.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Payouts } from "../../kit/ApiResponses.browser.ts"
import { moneyOfCents } from "../../kit/Format.browser.ts"

type Payout = Payouts["history"][number]

const STATUSES: Badges<Payout["status"]> = {
  requested: ["Requested", "info"],
  transferring: ["In transit", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed", "bad"],
  reversed: ["Reversed", "bad"]
}

export const PayoutHistory = ({ history }: { readonly history: ReadonlyArray<Payout> }): View =>
  h(
    Fragment,
    null,
    h("h3", null, "Payout history"),
    h(DataTable<Payout>, { caption: "Payout history", columns: COLUMNS, rows: history, keyOf: ({ id }) => id })
  )

const COLUMNS: ReadonlyArray<Column<Payout>> = [
  { name: "Requested", cell: ({ created_at: at }) => h(TimeText, { at }) },
  { name: "Amount", cell: (one) => moneyOfCents(one.amount_cents), isNumber: true },
  { name: "Status", cell: ({ status }) => statusBadge(STATUSES, status) },
  { name: "Paid", cell: ({ paid_at: at }) => (at === null ? "–" : h(TimeText, { at })) },
  {
    name: "Result",
    cell: ({ failure, stripe_transfer_id: transfer }) =>
      failure ?? (transfer === null ? "–" : h("code", null, transfer)),
    isLong: true
  }
]
