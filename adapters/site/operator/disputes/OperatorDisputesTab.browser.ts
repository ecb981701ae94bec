/**
 * Disputes that wait for the operator's decision, and all others.
 */
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { costColumn, filedColumn, reasonColumn, reasonLabel } from "../../console/DisputeDetail.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { statusBadge, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { relativeTime } from "../../kit/Format.browser.ts"
import { named, namedId, providerLink, rowsOf } from "../lists/OperatorLists.browser.ts"
import type { Disputes } from "../lists/OperatorResponses.browser.ts"
import { DisputeDecision } from "./DisputeDecision.browser.ts"
import { STATUSES } from "./RulingStatuses.browser.ts"

type Dispute = Disputes["disputes"][number]

const CHOICES = [
  ["", "Waiting for you"],
  ["filed", "Waiting for the provider"],
  ["resolved_refund", "Refunded"],
  ["resolved_credit", "Credited"],
  ["resolved_denied", "Denied"]
] as const

export const tab = ({ detail }: TabProps): View => {
  const { api } = useConsole()
  if (detail !== undefined) return h(DisputeDecision, { id: detail })
  return h(
    "section",
    { id: "disputes" },
    h("p", null, "A contested dispute that you do not decide in time is refunded."),
    h(ListView<Dispute>, {
      id: "disputes",
      caption: "Disputes",
      filters: [{ name: "status", label: "Status", choices: CHOICES }],
      load: rowsOf<"disputes", Dispute>(api, "/disputes", "disputes"),
      keyOf: ({ dispute_id }) => dispute_id,
      textOf: (one) =>
        `${reasonLabel(one.reason)} ${one.receipt_id} ${one.consumer_name} ${one.agent_id} ${one.provider_name} ` +
        `${one.provider_id} ${one.claim.text ?? ""} ${one.answer?.text ?? ""}`,
      columns: COLUMNS,
      empty: "No dispute waits for you. A dispute appears here when its provider contests it."
    })
  )
}

const COLUMNS: ReadonlyArray<Column<Dispute>> = [
  filedColumn,
  {
    name: "Decide by",
    cell: ({ decide_by: at }) =>
      at === null
        ? "–"
        : [h(TimeText, { at, key: "at" }), h("div", { class: "small muted", key: "in" }, relativeTime(at))],
    sortBy: ({ decide_by: at }) => at ?? "",
    csv: ({ decide_by: at }) => at ?? ""
  },
  reasonColumn,
  costColumn,
  {
    name: "Provider",
    cell: (one) => named(providerLink, one.provider_name, one.provider_id),
    sortBy: (one) => one.provider_name,
    csv: (one) => namedId(one.provider_name, one.provider_id)
  },
  { name: "Claim", cell: ({ claim }) => claim.text ?? "–", isLong: true, csv: ({ claim }) => claim.text ?? "" },
  {
    name: "Status",
    cell: ({ status }) => statusBadge(STATUSES, status),
    sortBy: ({ status }) => status,
    csv: ({ status }) => status
  }
]
