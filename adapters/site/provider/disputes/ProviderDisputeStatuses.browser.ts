/**
 * What the status of a dispute means to the provider, and who decided it.
 */
import type { Dispute } from "../../console/DisputeDetail.browser.ts"
import { type Badges, statusBadge } from "../../console/Values.browser.ts"
import type { View } from "../../console/View.browser.ts"

export const STATUSES: Badges<Dispute["status"]> = {
  filed: ["Response required", "info"],
  under_review: ["Under review", "info"],
  resolved_refund: ["Refunded", "bad"],
  resolved_denied: ["Denied", "good"],
  resolved_credit: ["Credited by platform", ""]
}

/** Refunds that the provider began itself need no response. */
export const needsResponse = ({ filed_by_type: by, status }: Dispute): boolean => status === "filed" && by === "agent"

export const providerBadge = (dispute: Dispute): View =>
  dispute.status === "filed" && !needsResponse(dispute)
    ? statusBadge({ filed: ["Refunding", "info"] }, "filed")
    : statusBadge(STATUSES, dispute.status)

const DECIDERS: Readonly<Record<NonNullable<Dispute["decided_by"]>, string>> = {
  evidence: "Receipt",
  provider: "You",
  deadline: "Response deadline",
  operator: "Operator",
  operator_deadline: "Review deadline",
  chargeback: "Chargeback"
}

export const deciderOf = ({ decided_by: by }: Dispute): string | undefined => (by === null ? undefined : DECIDERS[by])
