/**
 * Outcomes of calls, as the call tables of both dashboards show them.
 */
import { badge } from "./Dom.browser.ts"
import { dateTime, milliseconds, money } from "./Format.browser.ts"
import type { UsagePage } from "./ApiResponses.browser.ts"
import type { Column } from "./Table.browser.ts"

export type Call = UsagePage["records"][number]

export const USAGE_PATH = "/api/v1/market/usage"

const OUTCOMES = {
  success: ["Success", "good"],
  error: ["Error", "bad"],
  timeout: ["Timeout", "bad"],
  rate_limited: ["Rate limited", "bad"]
} as const

/** `tool`: the cell with the tool's name. */
export const callColumns = (tool: Column<Call>["cell"]): ReadonlyArray<Column<Call>> => [
  { name: "Time", cell: (call) => dateTime(call.created_at) },
  { name: "Tool", cell: tool },
  { name: "Outcome", cell: ({ status }) => badge(OUTCOMES[status][0], OUTCOMES[status][1]) },
  { name: "Cost", cell: (call) => money(call.cost_microcents), isNumber: true },
  { name: "Duration", cell: (call) => milliseconds(call.duration_ms), isNumber: true }
]
