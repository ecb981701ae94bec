/**
 * Decides disputes: by the provider that accepts, by the operator, by a chargeback, or by a deadline. Money moves in the
 * unit of work of the decision, under the dispute's lock and with its id as reference: once, even with concurrent
 * decisions.
 */
import { DateTime, Effect, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { fundsTooLow } from "../ledger/PlatformFunds.ts"
import { Refunds } from "../earnings/Refunds.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { dieUnlessUnavailable } from "../shared/StoreUnavailable.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import {
  type DecidedBy,
  automaticDecision,
  type Dispute,
  type DisputeId,
  isOpen,
  isPastDecision,
  type Resolution
} from "./Dispute.ts"
import { AlreadyDecided, CreditBeyondCost, DisputeNotFound } from "./DisputeErrors.ts"
import { DisputeStore } from "./DisputeStore.ts"

/** The operator's decision of a dispute that the provider contested. */
export interface Ruling {
  readonly resolution: Resolution
  readonly note: string | undefined
  /** Of a credit. Default: the whole cost. */
  readonly amount: Microcents | undefined
}

const DECIDED_AT_ONCE_MAX = 100
const PAST_DECISION = "past the operator's deadline"

export const makeDisputeDecisions = Effect.gen(function* () {
  const store = yield* DisputeStore
  const ledger = yield* Ledger
  const refunds = yield* Refunds
  const { atomically } = yield* UnitOfWork

  const locked = Effect.fnUntraced(function* (id: DisputeId) {
    const found = yield* store.lock(id)
    return Option.isSome(found) ? found.value : yield* new DisputeNotFound({ disputeId: id })
  })

  /** In the unit of work that holds the lock. */
  const decide = Effect.fnUntraced(function* (
    dispute: Dispute,
    status: Resolution,
    by: DecidedBy,
    terms: { readonly amount: Microcents; readonly note?: string | undefined }
  ) {
    const refunded = yield* pay({ ...dispute, status }, terms.amount)
    const decided: Dispute = {
      ...dispute,
      status,
      decision: { by, amount: terms.amount, refunded, note: terms.note, at: yield* DateTime.now }
    }
    yield* store.update(decided)
    return decided
  })

  const pay = Effect.fnUntraced(function* (dispute: Dispute, amount: Microcents) {
    const call = { ...dispute, subject: dispute.id }
    if (dispute.status === "resolved_refund") return amount === zero ? zero : yield* refunds.refund(call)
    // The wallet is locked before the provider's lots, as in refunds.
    yield* ledger.lockedFunds(dispute.consumerId)
    yield* refunds.release(call)
    if (amount === zero) return zero
    const credit = { reference: `dispute:${dispute.id}`, consumerId: dispute.consumerId, amount }
    yield* ledger
      .credit(credit)
      .pipe(Effect.catchTags({ InsufficientBalance: fundsTooLow, DuplicateReference: Effect.die }))
    return amount
  })

  const refund = (dispute: Dispute, by: DecidedBy, note?: string) =>
    decide(dispute, "resolved_refund", by, { amount: dispute.cost, note }).pipe(
      Effect.catchTag("FundsTooLow", Effect.die)
    )

  const resolve = Effect.fn("Disputes.resolve")(function* (id: DisputeId, { amount, note, resolution }: Ruling) {
    const dispute = yield* locked(id)
    if (!isOpen(dispute)) return yield* new AlreadyDecided({ status: dispute.status })
    // The deadline that the parties know applies, also before the job has run.
    if (isPastDecision(dispute, yield* DateTime.now)) return yield* new AlreadyDecided({ status: PAST_DECISION })
    if (resolution === "resolved_refund") return yield* refund(dispute, "operator", note)
    if (resolution === "resolved_denied")
      return yield* decide(dispute, resolution, "operator", { amount: zero, note }).pipe(
        Effect.catchTag("FundsTooLow", Effect.die)
      )
    const credited = amount ?? dispute.cost
    if (credited <= zero || credited > dispute.cost) {
      return yield* new CreditBeyondCost({ costMicrocents: dispute.cost })
    }
    return yield* decide(dispute, resolution, "operator", { amount: credited, note })
  }, atomically)

  const denyByChargeback = Effect.fn("Disputes.denyByChargeback")(function* (id: DisputeId) {
    const dispute = yield* locked(id)
    if (!isOpen(dispute)) return
    yield* decide(dispute, "resolved_denied", "chargeback", { amount: zero })
  }, dieUnlessUnavailable)

  const decideAlone = Effect.fnUntraced(function* (id: DisputeId) {
    const dispute = yield* locked(id)
    const by = automaticDecision(dispute, yield* DateTime.now)
    if (by === undefined) return false
    yield* refund(dispute, by)
    return true
  }, atomically)

  const work = Effect.gen(function* () {
    const due = yield* store.due(yield* DateTime.now, DECIDED_AT_ONCE_MAX)
    const decided = yield* round(due, {
      failing: "Disputes that could not be decided",
      work: (id) => dieUnlessUnavailable(decideAlone(id))
    })
    return decided.filter((isDecided) => isDecided).length
  }).pipe(Effect.withSpan("Disputes.work"))

  return { locked, refund, resolve, denyByChargeback, work }
})
