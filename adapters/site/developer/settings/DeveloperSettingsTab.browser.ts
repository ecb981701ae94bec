/**
 * Settings of the developer: withdrawal of unspent funds, and an export of the account's data.
 */
import type { ComponentChildren } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataExport } from "../../console/DataExport.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import {
  type Badges,
  CopyValue,
  Empty,
  facts,
  h,
  section,
  statusBadge,
  TimeText,
  type View
} from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { WithdrawalList, WithdrawalResponse } from "../../kit/ApiResponses.browser.ts"
import { centsIn, dollarsInput, MICROCENTS_PER_CENT, moneyOfCents } from "../../kit/Format.browser.ts"

// Withdrawals of unspent funds to the payment methods that paid for them.

type Withdrawal = WithdrawalList["withdrawals"][number]

const PATH = "/api/v1/market/balance/withdraw"
const CENTS_MIN = 100
/** The interval while the payment processor works on a withdrawal. */
const LIVE_MS = 3_000

const STATUSES: Badges<Withdrawal["status"]> = {
  pending: ["Pending", "info"],
  paid: ["Paid", "good"],
  partly_paid: ["Partly paid", ""],
  failed: ["Failed", "bad"]
}

const WithdrawFunds = (): View => {
  const { api } = useConsole()
  const all = useResource(() => api.get<WithdrawalList>(PATH), [], {
    refreshMs: ({ withdrawals }) => (withdrawals.some(({ status }) => status === "pending") ? LIVE_MS : undefined)
  })
  const withdraw = (available: number) => {
    const range = `from ${moneyOfCents(CENTS_MIN)} to ${moneyOfCents(available)}`
    return h(InputForm, {
      id: "withdraw",
      key: available,
      style: "row",
      submit: "Withdraw funds",
      fields: [
        {
          name: "amount_cents",
          label: "Amount in dollars",
          type: "number",
          value: dollarsInput(available * MICROCENTS_PER_CENT),
          hint: `Any amount ${range}.`
        }
      ],
      send: async ({ amount_cents: entered }, idempotencyKey) => {
        const cents = centsIn(entered)
        if (!Number.isInteger(cents)) throw invalid({ amount_cents: "Enter dollars and cents, such as 5.00." })
        if (cents < CENTS_MIN || cents > available) throw invalid({ amount_cents: `Enter an amount ${range}.` })
        await api.post<WithdrawalResponse>(PATH, { amount_cents: cents }, idempotencyKey)
        await all.reload()
      }
    })
  }
  return section(
    "withdrawals",
    h("h2", null, "Withdraw unspent funds"),
    h(
      "p",
      { class: "muted" },
      "Refunds unspent funds to the payment methods that paid for them. The payment processor's fee is not refunded, and credits cannot be withdrawn."
    ),
    loaded(all, ({ withdrawable_cents: available, withdrawals }) => [
      available < CENTS_MIN
        ? h(Empty, null, `You can withdraw ${moneyOfCents(available)}. The minimum is ${moneyOfCents(CENTS_MIN)}.`)
        : withdraw(available),
      withdrawals.length === 0
        ? undefined
        : h(DataTable<Withdrawal>, {
            caption: "Withdrawals",
            columns: COLUMNS,
            rows: withdrawals,
            keyOf: ({ withdrawal_id }) => withdrawal_id
          })
    ])
  )
}

const COLUMNS: ReadonlyArray<Column<Withdrawal>> = [
  { name: "Time", cell: (one) => h(TimeText, { at: one.created_at }) },
  { name: "Status", cell: (one) => statusBadge(STATUSES, one.status) },
  { name: "Amount", cell: (one) => moneyOfCents(one.amount_cents), isNumber: true },
  { name: "Processor fee", cell: (one) => moneyOfCents(one.processor_fee_cents), isNumber: true },
  { name: "Refunded", cell: (one) => moneyOfCents(one.refund_cents), isNumber: true }
]

export const tab = (): ComponentChildren => {
  const { account } = useConsole()
  return [
    section(
      "account",
      facts([
        ["Name", account.name],
        ["Account ID", h(CopyValue, { name: "account ID", text: account.id })]
      ])
    ),
    h(WithdrawFunds, null),
    h(DataExport, { lists: EXPORTED })
  ]
}

const EXPORTED = [
  { name: "account", path: "/api/v1/market/whoami" },
  { name: "balance", path: "/api/v1/market/balance" },
  { name: "withdrawals", path: "/api/v1/market/balance/withdraw" },
  { name: "keys", path: "/api/v1/market/keys" },
  { name: "grants", path: "/api/v1/market/grants" },
  { name: "toolbox", path: "/api/market/toolbox" },
  { name: "invoices", path: "/api/v1/market/invoices", items: "invoices" },
  { name: "disputes", path: "/api/v1/market/disputes", items: "disputes" },
  { name: "receipts", path: "/api/v1/market/receipts", items: "receipts" }
]
