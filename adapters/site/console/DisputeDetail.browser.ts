/**
 * Disputes in lists, and one dispute below the way back to all of them.
 */
import type { ComponentChildren } from "preact"
import type { Disputes } from "../kit/ApiResponses.browser.ts"
import type { KeyRole } from "../kit/Session.browser.ts"
import { type ConsoleApi, useConsole } from "./ConsoleContext.browser.ts"
import { type Column, column, moneyColumn } from "./DataTable.browser.ts"
import type { RowPage } from "./ListView.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { loaded, useResource } from "./Resource.browser.ts"
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
export const filedColumn: Column<Dispute> = column("Filed", (one) => one.created_at, {
  cell: (one) => h("a", { href: pathTo("disputes", one.dispute_id) }, h(TimeText, { at: one.created_at }))
})

export const reasonColumn: Column<Dispute> = column("Reason", (one) => one.reason, {
  cell: (one) => reasonLabel(one.reason)
})

export const costColumn: Column<Dispute> = moneyColumn("Cost", (one) => one.cost_microcents)

/** Says when a dispute under review is decided at the latest. */
export const decisionDeadline = ({ decide_by: deadline, status }: Dispute): View | undefined =>
  status === "under_review" && deadline !== null
    ? h("div", { class: "small muted", key: "deadline" }, "Decision by ", h(TimeText, { at: deadline }))
    : undefined

interface DisputeDetailProps<Found> {
  readonly path: string
  readonly id: string
  readonly show: (dispute: Found, reload: () => Promise<void>) => ComponentChildren
}

export const DisputeDetail = <Found>({ id, path, show }: DisputeDetailProps<Found>): ComponentChildren => {
  const { api } = useConsole()
  const dispute = useResource(() => api.get<Found>(`${path}/${encodeURIComponent(id)}`), [path, id])
  return [
    h("a", { href: pathTo("disputes"), class: "back" }, "← All disputes"),
    loaded(dispute, (found) => show(found, dispute.reload))
  ]
}

/** Evidence is text, never markup, because parties write anything. Undefined: nothing was sent. */
export const evidenceOf = (evidence: unknown): View | undefined =>
  evidence === null || evidence === undefined
    ? undefined
    : h("pre", null, h("code", null, JSON.stringify(evidence, undefined, 2)))
