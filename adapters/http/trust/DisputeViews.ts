/**
 * Disputes as the API shows them.
 */
import type { Schema } from "effect"
import type { SubjectClaims } from "../../../domain/earnings/Claims.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type Dispute, type FilerRecord, isOpen, type Statement } from "../../../domain/trust/DisputeStore.ts"

/** Without parties and statements. */
export const publicDispute = (dispute: Dispute) => ({
  dispute_id: dispute.id,
  status: dispute.status,
  reason: dispute.reason,
  filed_by_type: dispute.filedBy,
  created_at: format(dispute.createdAt),
  respond_by: format(dispute.respondBy),
  decide_by: dispute.decideBy === undefined ? null : format(dispute.decideBy),
  resolved_at: dispute.decision === undefined ? null : format(dispute.decision.at),
  decided_by: dispute.decision?.by ?? null
})

type Evidence = Readonly<Record<string, Schema.Json>>

const said = ({ evidence, text }: Statement) => ({
  text: text ?? null,
  evidence: evidence === undefined ? null : (JSON.parse(evidence) as Evidence)
})

export const disputeView = (dispute: Dispute, claims: SubjectClaims = NO_CLAIMS) => ({
  ...publicDispute(dispute),
  receipt_id: dispute.receiptId,
  agent_id: dispute.consumerId,
  provider_id: dispute.providerId,
  cost_microcents: dispute.cost,
  paid_microcents: refundedOf(dispute, claims),
  refunded_microcents: refundedOf(dispute, claims),
  outstanding_microcents: Microcents.make(claims.outstandingMicrocents),
  frozen_microcents: isOpen(dispute) ? dispute.frozen : zero,
  claim: said(dispute.claim),
  answer: dispute.answer === undefined ? null : { ...said(dispute.answer), at: format(dispute.answer.at) },
  note: dispute.decision?.note ?? null
})

const NO_CLAIMS: SubjectClaims = { paidMicrocents: 0n, outstandingMicrocents: 0n }

/** The refund of the decision, plus payments of claims since. */
const refundedOf = ({ decision }: Dispute, { paidMicrocents }: SubjectClaims): Microcents =>
  Microcents.make((decision?.refunded ?? zero) + paidMicrocents)

export const filerView = (record: FilerRecord) => ({
  filed_in_all: record.total,
  open: record.open,
  upheld: record.upheld,
  denied: record.denied,
  credited: record.credited,
  filed_last_day: record.lately
})
