/**
 * Disputes, as the lists of both consoles show them.
 */
import type { Disputes } from "../kit/ApiResponses.browser.ts"
import type { Column } from "./DataTable.browser.ts"
import type { ConsoleApi } from "./ConsoleApi.browser.ts"
import type { ListFilter } from "./ListFilters.browser.ts"
import type { RowPage } from "./ListView.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { TimeText } from "./TimeText.browser.ts"
import { money } from "../kit/Format.browser.ts"
import { h, type View } from "./View.browser.ts"

export type Dispute = Disputes["disputes"][number]

export const DISPUTES_PATH = "/api/v1/market/disputes"
const PAGE_SIZE = 20

export const DISPUTE_REASONS = [
  ["quality", "Poor result"],
  ["tool_error", "Tool error"],
  ["timeout", "Timeout"],
  ["overcharge", "Overcharged"],
  ["other", "Other"]
] as const

export const reasonLabel = (reason: string): string =>
  DISPUTE_REASONS.find(([value]) => value === reason)?.[1] ?? reason

export const disputePage = async (
  api: ConsoleApi,
  cursor: string | undefined,
  status: string | undefined,
  limit = PAGE_SIZE
): Promise<RowPage<Dispute>> => {
  const page = await api.get<Disputes>(DISPUTES_PATH, { limit, cursor, status })
  return { rows: page.disputes, next: page.next_cursor }
}

/** Each row leads to its details. */
export const filedColumn: Column<Dispute> = {
  name: "Filed",
  cell: (one) => h("a", { href: pathTo("disputes", one.dispute_id) }, h(TimeText, { at: one.created_at })),
  sortBy: (one) => one.created_at,
  csv: (one) => one.created_at
}

export const reasonColumn: Column<Dispute> = {
  name: "Reason",
  cell: (one) => reasonLabel(one.reason),
  sortBy: (one) => one.reason,
  csv: (one) => one.reason
}

export const costColumn: Column<Dispute> = {
  name: "Cost",
  cell: (one) => money(one.cost_microcents),
  isNumber: true,
  sortBy: (one) => one.cost_microcents,
  csv: (one) => money(one.cost_microcents)
}

/** `labels`: what each status means to this role. */
export const statusFilter = (
  labels: Readonly<Record<string, readonly [label: string, ...rest: Array<unknown>]>>
): ListFilter => ({
  name: "status",
  label: "Status",
  choices: [["", "All"], ...Object.entries(labels).map(([value, [label]]) => [value, label] as const)]
})

/** When a dispute under review is decided at the latest. */
export const decisionDeadline = ({ decide_by: deadline, status }: Dispute): View | undefined =>
  status === "under_review" && deadline !== null
    ? h("div", { class: "small muted", key: "deadline" }, "Decision by ", h(TimeText, { at: deadline }))
    : undefined
