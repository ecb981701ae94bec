/**
 * The developer's calls, newest first, each with its details.
 */
import { useRef } from "preact/hooks"
import { type Call, CALL_FILTERS, callColumns, receiptColumn, USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { CallDetail } from "../../console/CallDetail.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import type { Dispute } from "../../console/DisputeDetail.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Badge } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { UsagePage } from "../../kit/ApiResponses.browser.ts"
import { disputedCalls } from "../disputes/DisputedCalls.browser.ts"
import { CallDispute } from "./CallDispute.browser.ts"

const PAGE_SIZE = 20
const DISPUTES_SHOWN_DAYS = 90
const DAY_MS = 86_400_000

export const tab = ({ detail }: TabProps): View => {
  const { account, api } = useConsole()
  const disputes = useRef<Promise<ReadonlyMap<string, Dispute>> | undefined>(undefined)
  if (detail !== undefined) {
    return h(CallDetail, {
      id: detail,
      actions: (receipt) => (receipt.agent_id === account.id ? h(CallDispute, { receipt }) : undefined)
    })
  }
  return h(
    "section",
    { id: "calls" },
    h(ListView<DeveloperCall>, {
      id: "calls",
      caption: "Calls",
      filters: CALL_FILTERS,
      load: async (cursor, { period = "30d", status }) => {
        const page = await api.get<UsagePage>(USAGE_PATH, { period, status, limit: PAGE_SIZE, cursor })
        disputes.current ??= disputedCalls(api, Date.now() - DISPUTES_SHOWN_DAYS * DAY_MS)
        const disputed = await disputes.current
        return {
          rows: page.records.map((call) => ({ ...call, dispute: disputed.get(call.receipt_id) })),
          next: page.next_cursor
        }
      },
      keyOf: ({ receipt_id }) => receipt_id,
      textOf: (call) => `${call.tool_name} ${call.tool} ${call.receipt_id} ${call.status}`,
      columns: COLUMNS,
      empty: [
        "No calls in the last 30 days. ",
        h("a", { href: "/catalog", key: "catalog" }, "Browse the catalog"),
        " or ",
        h("a", { href: pathTo("connect"), key: "connect" }, "connect a client"),
        "."
      ]
    })
  )
}

interface DeveloperCall extends Call {
  readonly dispute: Dispute | undefined
}

const COLUMNS: ReadonlyArray<Column<DeveloperCall>> = [
  ...callColumns,
  receiptColumn,
  {
    name: "Dispute",
    cell: ({ dispute }) =>
      dispute === undefined
        ? "–"
        : h("a", { href: pathTo("disputes", dispute.dispute_id) }, h(Badge, { label: "Disputed", style: "info" })),
    sortBy: ({ dispute }) => (dispute === undefined ? 0 : 1),
    csv: ({ dispute }) => dispute?.status ?? ""
  }
]
