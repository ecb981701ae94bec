/**
 * Disputes, as both dashboards show them.
 */
import { accountApi } from "./AccountApi.browser.ts"
import { el } from "./Dom.browser.ts"
import { dateTime } from "./Format.browser.ts"
import { pagedList } from "./PagedList.browser.ts"
import type { Disputes } from "./ApiResponses.browser.ts"
import type { Role } from "./Session.browser.ts"
import { type Column, table } from "./Table.browser.ts"

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

export const readDisputes = (
  role: Role,
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly status?: string }
): Promise<Disputes> => accountApi(role).get<Disputes>(DISPUTES_PATH, query)

/** A table of disputes, loaded page by page. */
export const disputeTable = (role: Role, columns: ReadonlyArray<Column<Dispute>>, none: string): Promise<HTMLElement> =>
  pagedList(
    (cursor) => readDisputes(role, { limit: PAGE_SIZE, cursor }),
    (page) => page.disputes,
    (all) => table("Disputes", columns, all, none)
  )

/** When a dispute under review is decided at the latest. */
export const decisionDeadline = ({ decide_by: deadline, status }: Dispute): HTMLElement | undefined =>
  status === "under_review" && deadline !== null
    ? el("div", { class: "small muted" }, "by ", dateTime(deadline))
    : undefined
