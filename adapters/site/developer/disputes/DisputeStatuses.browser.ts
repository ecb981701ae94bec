/**
 * What the status of a dispute means to the developer.
 */
import type { Dispute } from "../../console/DisputeDetail.browser.ts"
import type { Badges } from "../../console/Values.browser.ts"

export const STATUSES: Badges<Dispute["status"]> = {
  filed: ["Waiting for provider", "info"],
  under_review: ["Under review", "info"],
  resolved_refund: ["Refunded", "good"],
  resolved_credit: ["Credited", "good"],
  resolved_denied: ["Denied", "bad"]
}
