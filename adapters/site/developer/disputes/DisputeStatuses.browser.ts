/**
 * What the status of a dispute means to the developer.
 */
import type { Badges } from "../../console/Badge.browser.ts"
import type { Dispute } from "../../console/DisputeTerms.browser.ts"

export const STATUSES: Badges<Dispute["status"]> = {
  filed: ["Waiting for provider", "info"],
  under_review: ["Under review", "info"],
  resolved_refund: ["Refunded", "good"],
  resolved_credit: ["Credited", "good"],
  resolved_denied: ["Denied", "bad"]
}
