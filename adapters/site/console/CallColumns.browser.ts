/**
 * Calls, as the lists of both consoles show them.
 */
import type { UsagePage } from "../kit/ApiResponses.browser.ts"
import { milliseconds } from "../kit/Format.browser.ts"
import { type Column, column, moneyColumn, statusColumn } from "./DataTable.browser.ts"
import type { ListFilter } from "./ListView.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { type Badges, h, statusChoices, TimeText } from "./View.browser.ts"

export type Call = UsagePage["records"][number]

export const USAGE_PATH = "/api/v1/market/usage"

export const OUTCOMES: Badges<Call["status"]> = {
  success: ["Success", "good"],
  error: ["Error", "bad"],
  timeout: ["Timeout", "bad"],
  rate_limited: ["Rate limited", "bad"]
}

export const PERIODS: ReadonlyArray<readonly [value: string, label: string]> = [
  ["", "30 days"],
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["90d", "90 days"]
]

export const CALL_FILTERS: ReadonlyArray<ListFilter> = [
  { name: "period", label: "Period", choices: PERIODS },
  { name: "status", label: "Outcome", choices: statusChoices(OUTCOMES) }
]

/** Each row leads to its details. */
export const callColumns: ReadonlyArray<Column<Call>> = [
  column("Time", (call) => call.created_at, {
    cell: (call) =>
      h("a", { href: pathTo("calls", call.receipt_id) }, h(TimeText, { at: call.created_at, isPrecise: true }))
  }),
  column("Tool", (call) => call.tool_name),
  statusColumn("Outcome", OUTCOMES, ({ status }) => status),
  moneyColumn("Cost", (call) => call.cost_microcents),
  column("Duration", (call) => call.duration_ms, { cell: (call) => milliseconds(call.duration_ms), isNumber: true })
]

/** The column exists only in CSV. */
export const receiptColumn: Column<Call> = {
  name: "Receipt",
  cell: (call) => h("code", { class: "short", title: call.receipt_id }, `${call.receipt_id.slice(0, 13)}…`),
  csv: (call) => call.receipt_id
}
