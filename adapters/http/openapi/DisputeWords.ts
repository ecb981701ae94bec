/**
 * Words of disputes.
 */
import { CONSUMER_ID, NOW } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const DISPUTE_ID = "0193fa10-6c1d-7e44-9b02-5f6a7b8c9d0e"

export const disputeWords: Words = {
  "disputes.find.id": ["The dispute.", DISPUTE_ID],
  "disputes.respond.id": ["The dispute.", DISPUTE_ID],
  "disputes.resolve.id": ["The dispute.", DISPUTE_ID],
  "disputes.list.status": ["Only disputes that stand like this."],
  dispute_id: ["The dispute.", DISPUTE_ID],
  "FileDispute.": ["What is wrong with a call."],
  "FileDispute.receipt_id": ["The receipt of the call."],
  "FileDispute.reason": ["What is wrong; `other` needs a description."],
  "FileDispute.description": ["In your words; the other party reads it, the public does not."],
  evidence: ["Any JSON object that shows it, at most 16 KiB.", { expected: "paper A", got: "paper B" }],
  "AnswerDispute.": ["What the provider says to it."],
  action: ["`accept` gives the money back; `contest` leaves the decision to the operator, until `decide_by`."],
  "AnswerDispute.message": ["Why it is contested."],
  "ResolveDispute.": ["The operator's decision."],
  resolution: ["How the dispute ends."],
  note: ["Why, for the parties.", "The answer is not what was asked for"],
  "ResolveDispute.amount_microcents": ["Of a credit: how much, at most what the call cost; all of it, if absent."],
  "DisputeFiled.": ["The dispute is on its way."],
  "DisputeFiled.status": ["Where it stands."],
  "DisputeFiled.message": [
    "What happens next.",
    "The provider has 7 days to answer. If it does not, the dispute is decided for you."
  ],
  filed_by: ["Who filed it.", CONSUMER_ID],
  filed_by_type: ["Which party filed it."],
  respond_by: ["Until then the provider may answer.", "2026-11-27T09:30:00.000Z"],
  decide_by: [
    "Until then the operator may decide it; after that it is decided for the filer. Null unless contested.",
    null
  ],
  dispute_url: ["Where to follow it.", `https://billing.example.org/api/v1/market/disputes/${DISPUTE_ID}`],
  "PublicDispute.": ["How a dispute stands, as everybody sees it."],
  "PublicDispute.reason": ["What is said to be wrong."],
  "Dispute.": ["A dispute, as its parties see it."],
  "Dispute.reason": ["What is said to be wrong."],
  "WholeDispute.": ["A dispute, as its parties see it, with the filer's record."],
  "WholeDispute.reason": ["What is said to be wrong."],
  "DisputeFiled.reason": ["What is said to be wrong."],
  "SeenDispute.": ["The whole dispute to its parties, how it stands to everybody else."],
  "DisputePage.": ["A page of disputes."],
  disputes: ["The disputes of this page, newest first."],
  resolved_at: ["When it was decided; null while it is open.", null],
  decided_by: [
    "What decided it: the receipt or an output that did not fit, the provider's word, its silence, the operator, or the operator's silence.",
    null
  ],
  paid_microcents: ["What the consumer got back.", 0],
  claim: ["What the filer says."],
  "DisputeClaim.": ["What the filer says."],
  "DisputeClaim.text": ["In its own words.", "The answer was about another paper"],
  answer: ["What the provider said to it; null if nothing.", null],
  "DisputeAnswer.": ["What the provider said to it."],
  "DisputeAnswer.text": ["In its own words.", "The query named that paper"],
  at: ["When it was said.", NOW],
  details: ["How the filer's disputes went."],
  "FilerRecord.": ["How the filer's disputes went."],
  filed_in_all: ["How many it filed.", 3],
  "FilerRecord.open": ["How many of them are open.", 1],
  upheld: ["How many ended in a refund.", 1],
  denied: ["How many were denied.", 1],
  credited: ["How many the platform paid.", 0],
  filed_last_day: ["How many were filed within the last day.", 1]
}
