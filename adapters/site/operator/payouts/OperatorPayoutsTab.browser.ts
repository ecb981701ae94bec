/**
 * Payouts of all providers.
 */
import { useState } from "preact/hooks"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, moneyColumn, statusColumn, timeColumn } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { openModal } from "../../console/Modal.browser.ts"
import { type Badges, h, section, statusChoices, TimeText, type View } from "../../console/View.browser.ts"
import { MICROCENTS_PER_CENT, moneyOfCents } from "../../kit/Format.browser.ts"
import {
  named,
  namedId,
  OPERATOR,
  type Payouts,
  providerLink,
  type RetriedPayout,
  rowsOf
} from "../lists/OperatorLists.browser.ts"

interface RetryProps {
  readonly payout: Payouts["payouts"][number]
  readonly retried: () => void
}

/** Retries a failed payout, after asking for the reason. */
const RetryButton = ({ payout, retried }: RetryProps): View => {
  const { api } = useConsole()
  const path = `${OPERATOR}/payouts/${encodeURIComponent(payout.payout_id)}/retry`
  const ask = () =>
    openModal("Retry the payout", (close) => [
      h(
        "p",
        null,
        "A new payout goes to the provider's own account: what it has available now, which may differ from the failed payout."
      ),
      h(InputForm, {
        id: "retry-payout",
        submit: "Retry payout",
        fields: [{ name: "reason", label: "Reason", hint: "For the audit trail." }],
        send: async ({ reason }, idempotencyKey) => {
          const found = await api.post<RetriedPayout>(path, { reason }, idempotencyKey)
          close()
          retried()
          announce(found.state === "failed" ? "bad" : "good", resultOf(found))
        }
      })
    ])
  return h("button", { type: "button", class: "plain tiny", onClick: () => void ask() }, "Retry")
}

const resultOf = ({ amount_cents: cents, failure, repeated, state }: RetriedPayout): string => {
  const amount = moneyOfCents(cents)
  if (repeated) return `This payout was retried before. Nothing more was paid. The payout of ${amount} is ${state}.`
  if (state === "failed") return `The new payout of ${amount} failed too: ${failure ?? "no reason was given"}`
  return state === "paid" ? `A new payout of ${amount} was made.` : `A new payout of ${amount} is in progress.`
}

type Payout = Payouts["payouts"][number]

const STATES: Badges<Payout["state"]> = {
  requested: ["Requested", "info"],
  transferring: ["Transferring", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed", "bad"],
  reversed: ["Reversed", "bad"]
}

export const tab = (): View => {
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const columns = [...COLUMNS, retryColumn(() => setVersion((before) => before + 1))]
  return section(
    "payouts",
    h(
      "p",
      null,
      "An open payout is attempted again automatically until the processor reports its outcome. A failed one has returned its money: retry it when its cause is gone."
    ),
    h(ListView<Payout>, {
      id: "payouts",
      caption: "Payouts",
      filters: [{ name: "state", label: "State", choices: statusChoices(STATES) }],
      load: rowsOf<"payouts", Payout>(api, "/payouts", "payouts"),
      keyOf: ({ payout_id }) => payout_id,
      textOf: (one) =>
        `${one.payout_id} ${one.provider_name} ${one.provider_id} ${one.transfer_id ?? ""} ${one.failure ?? ""}`,
      columns,
      version: String(version),
      empty: "No payouts yet. A provider requests one when its earnings are mature, or gets one each month."
    })
  )
}

const retryColumn = (retried: () => void): Column<Payout> => ({
  name: "Retry",
  cell: (one) => (one.state === "failed" ? h(RetryButton, { payout: one, retried }) : undefined),
  csv: () => ""
})

const COLUMNS: ReadonlyArray<Column<Payout>> = [
  timeColumn("Requested", (one) => one.created_at),
  column("Provider", (one) => one.provider_name, {
    cell: (one) => named(providerLink, one.provider_name, one.provider_id),
    csv: (one) => namedId(one.provider_name, one.provider_id)
  }),
  moneyColumn("Amount", (one) => one.amount_cents * MICROCENTS_PER_CENT),
  statusColumn("State", STATES, ({ state }) => state),
  { name: "Attempts", cell: ({ attempts }) => attempts, isNumber: true, csv: ({ attempts }) => attempts },
  {
    name: "Next attempt",
    cell: ({ next_attempt_at: at }) => (at === null ? undefined : h(TimeText, { at })),
    csv: ({ next_attempt_at: at }) => at ?? ""
  },
  { name: "Result", cell: resultIn, isLong: true, csv: (one) => resultIn(one) ?? "" }
]

function resultIn({ failure, transfer_id: transfer }: Payout): string | null {
  return failure ?? transfer
}
