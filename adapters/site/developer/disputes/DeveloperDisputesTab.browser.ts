/**
 * Disputes of the developer, each with its details.
 */
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, moneyColumn } from "../../console/DataTable.browser.ts"
import {
  costColumn,
  decisionDeadline,
  type Dispute,
  DISPUTE_STATUSES,
  DisputeDetail,
  disputePage,
  DISPUTES_PATH,
  evidenceOf,
  filedColumn,
  reasonColumn,
  reasonLabel
} from "../../console/DisputeDetail.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { CallLink } from "../../console/PublicNames.browser.ts"
import { facts, h, section, statusBadge, statusChoices, TimeText, type View } from "../../console/View.browser.ts"
import { money } from "../../kit/Format.browser.ts"

const FILTERS = [{ name: "status", label: "Status", choices: statusChoices(DISPUTE_STATUSES.consumer) }]

export const tab = ({ detail }: TabProps): View => {
  const { api } = useConsole()
  if (detail !== undefined) return h(DisputeDetail<Dispute>, { path: DISPUTES_PATH, id: detail, show: factsOf })
  return section(
    "disputes",
    h(ListView<Dispute>, {
      id: "disputes",
      caption: "Disputes",
      filters: FILTERS,
      load: (cursor, { status }) => disputePage(api, cursor, status),
      keyOf: ({ dispute_id }) => dispute_id,
      textOf: (one) =>
        `${reasonLabel(one.reason)} ${one.receipt_id} ${one.claim.reference ?? ""} ${one.claim.text ?? ""} ${one.answer?.text ?? ""}`,
      columns: COLUMNS,
      empty: [
        "No disputes. You can dispute a paid call for 30 days: open it in ",
        h("a", { key: "calls", href: pathTo("calls") }, "Calls"),
        "."
      ]
    })
  )
}

const COLUMNS: ReadonlyArray<Column<Dispute>> = [
  filedColumn,
  reasonColumn,
  costColumn,
  column("Status", (one) => one.status, {
    cell: (one) => [statusBadge(DISPUTE_STATUSES.consumer, one.status), decisionDeadline(one)]
  }),
  { ...moneyColumn("Refunded", (one) => one.refunded_microcents), cell: (one) => refundOf(one) },
  { name: "Response", cell: responseOf, isLong: true, csv: (one) => one.answer?.text ?? one.note ?? "" }
]

const refundOf = (one: Dispute): string =>
  one.resolved_at === null
    ? "–"
    : // The part of the refund that the provider still owes.
      one.outstanding_microcents > 0
      ? `${money(one.refunded_microcents)}, ${money(one.outstanding_microcents)} outstanding`
      : money(one.refunded_microcents)

function responseOf(one: Dispute): View {
  return h(
    "span",
    null,
    one.answer?.text ?? one.note ?? (one.status === "filed" ? "Due " : ""),
    one.status === "filed" ? h(TimeText, { at: one.respond_by }) : undefined
  )
}

const factsOf = (one: Dispute): View =>
  facts([
    ["Status", [statusBadge(DISPUTE_STATUSES.consumer, one.status), decisionDeadline(one)]],
    ["Call", h(CallLink, { href: pathTo("calls", one.receipt_id), receiptId: one.receipt_id })],
    ["Cost", money(one.cost_microcents)],
    ["Refunded", one.resolved_at === null ? undefined : refundOf(one)],
    ["Reason", reasonLabel(one.reason)],
    ["Description", one.claim.text ?? undefined],
    [one.filed_by_type === "agent" ? "Your reference" : "Provider's reference", one.claim.reference ?? undefined],
    ["Evidence", evidenceOf(one.claim.evidence)],
    ["Filed", h(TimeText, { at: one.created_at })],
    ["Response", responseOf(one)],
    ["Provider's evidence", evidenceOf(one.answer?.evidence)],
    ["Decision", one.note ?? undefined],
    ["Decided", one.resolved_at === null ? undefined : h(TimeText, { at: one.resolved_at })]
  ])
