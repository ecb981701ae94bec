/**
 * Disputes over HTTP.
 */
import { Effect, type Schema } from "effect"
import type { Principal } from "../../../domain/accounts/Authentication.ts"
import { scopesOf } from "../../../domain/accounts/Levels.ts"
import { Claims, type SubjectClaims } from "../../../domain/earnings/Claims.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type Dispute, type FilerRecord, isFailed, isOpen, type Statement } from "../../../domain/trust/DisputeStore.ts"
import { ANSWER_DAYS, Disputes, FILED_PER_DAY_MAX, OPEN_WITH_BAD_RECORD_MAX } from "../../../domain/trust/Disputes.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { duplicate, forbidden, invalidField, notFound, type ProblemsOf, tooMany } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { DisputesApi } from "./DisputesApi.ts"

export const disputeProblems = {
  AlreadyDecided: duplicate(),
  AlreadyDisputed: duplicate(),
  CreditBeyondCost: invalidField("amount_microcents"),
  DisputeNotFound: notFound(),
  FilingTooLate: invalidField("receipt_id"),
  NoSuchReceipt: notFound(),
  NotAParty: forbidden(),
  NotAnswerable: duplicate(),
  RecoveredByChargeback: (e) => ({
    status: 409,
    code: "RECOVERED_BY_CHARGEBACK",
    extra: { chargeback_id: e.chargebackId }
  }),
  TooManyDisputes: (e) =>
    tooMany(e.limit === "a_day" ? FILED_PER_DAY_MAX : OPEN_WITH_BAD_RECORD_MAX, e.retryAfterSeconds)
} satisfies ProblemsOf<Disputes>

const { route } = routesWith(disputeProblems)

// Disputes as the API shows them.

/** Omits parties and statements. */
const publicDispute = (dispute: Dispute) => ({
  dispute_id: dispute.id,
  ...fieldsOf(dispute, "status", "reason"),
  filed_by_type: dispute.filedBy,
  ...fieldsOf(dispute, "createdAt", "respondBy", "decideBy"),
  resolved_at: dispute.decision === undefined ? null : format(dispute.decision.at),
  decided_by: dispute.decision?.by ?? null
})

type Evidence = Readonly<Record<string, Schema.Json>>

const statementView = ({ evidence, text }: Statement) => ({
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
  claim: { ...statementView(dispute.claim), reference: dispute.claim.reference ?? null },
  answer: dispute.answer === undefined ? null : { ...statementView(dispute.answer), at: format(dispute.answer.at) },
  note: dispute.decision?.note ?? null
})

const NO_CLAIMS: SubjectClaims = { paidMicrocents: 0n, outstandingMicrocents: 0n }

/** The refund of the decision, plus payments of claims since. */
const refundedOf = ({ decision }: Dispute, { paidMicrocents }: SubjectClaims): Microcents =>
  Microcents.make((decision?.refunded ?? zero) + paidMicrocents)

export const filerView = (record: FilerRecord) => ({
  filed_in_all: record.total,
  ...fieldsOf(record, "open", "upheld", "denied", "credited"),
  filed_last_day: record.lastDay
})

const { endpoints } = DisputesApi

export const disputesRoutes = Effect.gen(function* () {
  const disputes = yield* Disputes
  const claims = yield* Claims
  const baseUrl = yield* BaseUrl

  const withClaims = Effect.fnUntraced(function* (dispute: Dispute) {
    return disputeView(dispute, (yield* claims.ofSubjects([dispute.id])).get(dispute.id))
  })

  return [
    route(endpoints.file, function* ({ as, payload }) {
      const filer = as("consumer", "provider")
      const dispute = yield* disputes.file(filer, {
        receiptId: payload.receipt_id,
        reason: payload.reason,
        reference: payload.reference,
        ...statement(payload.description, payload.evidence)
      })
      return {
        dispute_id: dispute.id,
        ...fieldsOf(dispute, "receiptId", "status", "reason"),
        filed_by: filer.ownerId,
        filed_by_type: dispute.filedBy,
        ...fieldsOf(dispute, "createdAt", "respondBy"),
        message: nextStep(dispute),
        dispute_url: `${baseUrl}/api/v1/market/disputes/${dispute.id}`
      }
    }),
    route(endpoints.list, function* ({ as, query }) {
      const page = yield* pageRequest("disputes", query)
      const caller = as("consumer", "provider", "operator")
      const found = yield* disputes.list(caller.role === "operator" ? undefined : caller, query.status, page)
      const owed = yield* claims.ofSubjects(found.items.map(({ id }) => id))
      const items = found.items.map((dispute) => disputeView(dispute, owed.get(dispute.id)))
      return { disputes: items, ...pageFields("disputes", page, found) }
    }),
    route(endpoints.find, function* ({ caller, params }) {
      const dispute = yield* disputes.find(params.id)
      if (!isParty(dispute, caller)) return publicDispute(dispute)
      const details = filerView(yield* disputes.recordOf(dispute))
      return { ...(yield* withClaims(dispute)), details }
    }),
    route(endpoints.respond, function* ({ as, params, payload: { action, evidence, message } }) {
      const answer = { action, ...statement(message, evidence) }
      return yield* withClaims(yield* disputes.respond(as("provider").ownerId, params.id, answer))
    }),
    route(endpoints.resolve, function* ({ params, payload: { amount_microcents: amount, note, resolution } }) {
      const resolved = yield* disputes.resolve(params.id, { resolution, note, amount })
      return yield* withClaims(resolved)
    })
  ]
})

const statement = (text: string | undefined, evidence: object | undefined): Statement => ({
  text,
  evidence: evidence === undefined ? undefined : JSON.stringify(evidence)
})

const nextStep = (dispute: Dispute): string => {
  const { cost, filedBy, outcome, unfit } = dispute
  if (filedBy === "provider") return "The consumer is refunded within seconds."
  if (cost > zero && isFailed(dispute)) {
    return `The outcome on the receipt is ${outcome}, but the call was billed. It is refunded within seconds.`
  }
  if (cost > zero && unfit) {
    return "The output does not match the tool's output schema, but the call was billed. It is refunded within seconds."
  }
  return `The provider has ${ANSWER_DAYS} days to answer. Without an answer, the dispute is decided for you.`
}

/** The operator decides disputes, so it sees what the parties see. */
const isParty = ({ consumerId, providerId }: Dispute, caller: Principal | undefined): boolean =>
  caller !== undefined &&
  (caller.role !== "consumer" || (scopesOf(caller.levels)?.includes("read") ?? true)) &&
  (caller.role === "operator" || caller.ownerId === (caller.role === "consumer" ? consumerId : providerId))
