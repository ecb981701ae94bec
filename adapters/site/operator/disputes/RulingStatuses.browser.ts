/**
 * What the status of a dispute means to the operator.
 */
import type { Badges } from "../../console/Values.browser.ts"
import type { Dispute } from "../lists/OperatorResponses.browser.ts"

export const STATUSES: Badges<Dispute["status"]> = {
  filed: ["Waiting for the provider", ""],
  under_review: ["Waiting for you", "info"],
  resolved_refund: ["Refunded", "good"],
  resolved_credit: ["Credited", "good"],
  resolved_denied: ["Denied", "bad"]
}
