/**
 * Calls of the provider's tools, newest first, each with its details.
 */
import { Fragment } from "preact"
import { type Call, CALL_FILTERS, callColumns, receiptColumn, USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { CallDetail } from "../../console/CallDetail.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { UsagePage } from "../../kit/ApiResponses.browser.ts"
import { CallTotals } from "./CallTotals.browser.ts"

const PAGE_SIZE = 20

const COLUMNS = [...callColumns, receiptColumn]

export const tab = ({ detail }: TabProps): View => {
  const { api } = useConsole()
  if (detail !== undefined) return h(CallDetail, { id: detail })
  return h(
    Fragment,
    null,
    h(CallTotals, null),
    h(
      "section",
      { id: "calls" },
      h(ListView<Call>, {
        id: "calls",
        caption: "Calls",
        filters: CALL_FILTERS,
        load: async (cursor, { period = "30d", status }) => {
          const page = await api.get<UsagePage>(USAGE_PATH, { period, status, limit: PAGE_SIZE, cursor })
          return { rows: page.records, next: page.next_cursor }
        },
        keyOf: ({ receipt_id: id }) => id,
        textOf: (call) => `${call.tool_name} ${call.tool} ${call.receipt_id} ${call.status}`,
        columns: COLUMNS,
        empty: [
          "No calls in the last 30 days. Agents find your tools in the ",
          h("a", { key: "catalog", href: "/catalog" }, "catalog"),
          "; ",
          h("a", { key: "start", href: pathTo() }, "Overview"),
          " shows how to test a call."
        ]
      })
    )
  )
}
