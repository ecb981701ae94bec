/**
 * Disputes in lists, and one dispute below the way back to all of them.
 */
import { type ComponentChildren, Fragment } from "preact"
import type { Disputes } from "../kit/ApiResponses.browser.ts"
import { money } from "../kit/Format.browser.ts"
import type { KeyRole } from "../kit/Session.browser.ts"
import { type ConsoleApi, useConsole } from "./ConsoleContext.browser.ts"
import type { Column } from "./DataTable.browser.ts"
import type { ListFilter, RowPage } from "./ListView.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { Loaded, useResource } from "./Resource.browser.ts"
import { type Badges, h, TimeText, type View } from "./View.browser.ts"

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

/** What each status means to the account that reads it. */
export const DISPUTE_STATUSES: Readonly<Record<KeyRole, Badges<Dispute["status"]>>> = {
  consumer: {
    filed: ["Waiting for provider", "info"],
    under_review: ["Under review", "info"],
    resolved_refund: ["Refunded", "good"],
    resolved_credit: ["Credited", "good"],
    resolved_denied: ["Denied", "bad"]
  },
  provider: {
    filed: ["Response required", "info"],
    under_review: ["Under review", "info"],
    resolved_refund: ["Refunded", "bad"],
    resolved_denied: ["Denied", "good"],
    resolved_credit: ["Credited by platform", ""]
  },
  operator: {
    filed: ["Waiting for the provider", ""],
    under_review: ["Waiting for you", "info"],
    resolved_refund: ["Refunded", "good"],
    resolved_credit: ["Credited", "good"],
    resolved_denied: ["Denied", "bad"]
  }
}

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

interface DisputeDetailProps<Found> {
  /** Of all disputes in the API. */
  readonly path: string
  readonly id: string
  readonly show: (dispute: Found, reload: () => Promise<void>) => ComponentChildren
}

/** Disputes, as the lists of both consoles show them. */
export const DisputeDetail = <Found>({ id, path, show }: DisputeDetailProps<Found>): View => {
  const { api } = useConsole()
  const dispute = useResource(() => api.get<Found>(`${path}/${encodeURIComponent(id)}`), [path, id])
  return h(
    Fragment,
    null,
    h("a", { href: pathTo("disputes"), class: "back" }, "← All disputes"),
    h(Loaded<Found>, { of: dispute, show: (found) => show(found, dispute.reload) })
  )
}

/** What a party sent as evidence: text, never markup, because parties write anything. Undefined: nothing was sent. */
export const evidenceOf = (evidence: unknown): View | undefined =>
  evidence === null || evidence === undefined
    ? undefined
    : h("pre", null, h("code", null, JSON.stringify(evidence, undefined, 2)))
