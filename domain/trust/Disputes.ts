/**
 * Disputes as a state machine with money: filed → under review → decided, each with a deadline. The call's earnings are
 * frozen at the filing. A refund moves what is covered (domain/refunds); a credit comes from platform funds. Money
 * moves in the unit of work of the decision, under the dispute's lock and with its id as reference: once, even with
 * concurrent decisions.
 */
import { Context, DateTime, Effect, Exit, Layer, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { lotDayOf } from "../ledger/Lots.ts"
import { type FundsTooLow, fundsTooLow } from "../ledger/PlatformFunds.ts"
import { UnfitOutputs } from "../metering/UnfitOutputs.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import { ReceiptStore } from "../receipts/ReceiptStore.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ConsumerId, type ProviderId, type ReceiptId } from "../shared/Ids.ts"
import { feeOf, type Microcents, zero } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { ChargebackRecoveries, type RecoveredByChargeback } from "../payments/ChargebackRecoveries.ts"
import { Refunds } from "../refunds/Refunds.ts"
import {
  type DecidedBy,
  decidedByItself,
  type Dispute,
  DisputeId,
  type DisputeReason,
  type DisputeStatus,
  type DisputeTally,
  isOpen,
  isPastDecision,
  type Resolution,
  type Statement
} from "./Dispute.ts"
import {
  AlreadyDisputed,
  ANSWER_DAYS,
  DECISION_DAYS,
  FilingTooLate,
  isInTime,
  limitOf,
  NotAParty,
  partyTo,
  type TooManyDisputes
} from "./DisputeFilings.ts"
import { AlreadyDecided, CreditBeyondCost, DisputeNotFound, NoSuchReceipt, NotToAnswer } from "./DisputeRefusals.ts"
import { type DisputeOwner, DisputeStore, type FilerRecord } from "./DisputeStore.ts"
import { dieUnlessUnavailable, type StoreUnavailable } from "../shared/StoreUnavailable.ts"

export interface Filing extends Statement {
  readonly receiptId: ReceiptId
  readonly reason: DisputeReason
}

export interface Answer extends Statement {
  readonly action: "accept" | "contest"
}

export interface Ruling {
  readonly resolution: Resolution
  readonly note: string | undefined
  /** Of a credit. Default: the whole cost. */
  readonly amount: Microcents | undefined
}

const DECIDED_AT_ONCE_MAX = 100
const PAST_DECISION = "past the operator's deadline"

export class Disputes extends Context.Service<
  Disputes,
  {
    file(
      owner: DisputeOwner,
      filing: Filing
    ): Effect.Effect<
      Dispute,
      | NoSuchReceipt
      | NotAParty
      | FilingTooLate
      | AlreadyDisputed
      | TooManyDisputes
      | RecoveredByChargeback
      | StoreUnavailable
    >
    /** Accepting refunds at once; contesting leaves the decision to the operator, until its deadline. */
    respond(
      providerId: ProviderId,
      id: DisputeId,
      answer: Answer
    ): Effect.Effect<Dispute, DisputeNotFound | NotToAnswer | StoreUnavailable>
    resolve(
      id: DisputeId,
      ruling: Ruling
    ): Effect.Effect<Dispute, DisputeNotFound | AlreadyDecided | CreditBeyondCost | FundsTooLow | StoreUnavailable>
    /** The payment was charged back, so the consumer has its money: denied, unless it is decided already. */
    denyByChargeback(id: DisputeId): Effect.Effect<void, StoreUnavailable>
    find(id: DisputeId): Effect.Effect<Dispute, DisputeNotFound | StoreUnavailable>
    /** All disputes for the operator, who has no owner id. */
    list(
      owner: DisputeOwner | undefined,
      status: DisputeStatus | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Dispute>, StoreUnavailable>
    /** Results of the filer's disputes. */
    recordOf(dispute: Dispute): Effect.Effect<FilerRecord, StoreUnavailable>
    against(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<DisputeTally, StoreUnavailable>
    /** Decides disputes that need no person; returns how many. */
    readonly work: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/Disputes") {
  static readonly layer = Layer.effect(
    Disputes,
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const receipts = yield* ReceiptStore
      const ledger = yield* Ledger
      const refunds = yield* Refunds
      const unfit = yield* UnfitOutputs
      const entropy = yield* Entropy
      const recoveries = yield* ChargebackRecoveries
      const { atomically } = yield* UnitOfWork

      const file = Effect.fn("Disputes.file")(function* (owner: DisputeOwner, filing: Filing) {
        const receipt = Option.getOrUndefined(yield* receipts.find(filing.receiptId))
        if (receipt === undefined) return yield* new NoSuchReceipt({ receiptId: filing.receiptId })
        const filedBy = partyTo(receipt, owner)
        if (filedBy === undefined) return yield* new NotAParty({ receiptId: filing.receiptId })
        const now = yield* DateTime.now
        if (!isInTime(receipt, now)) return yield* new FilingTooLate({ calledAt: receipt.timestamp })
        // A chargeback locks the wallet too: it comes before all of this, or finds the dispute.
        yield* ledger.lockedStanding(receipt.agent_id)
        yield* recoveries.mayBeDisputed(receipt.agent_id, DateTime.makeUnsafe(receipt.created_at))
        const limit = limitOf(yield* store.filedBy(owner, DateTime.subtract(now, { days: 1 })))
        if (limit !== undefined) return yield* limit
        const id = DisputeId.make(yield* entropy.uuid)
        const stake = atStake(receipt)
        const dispute: Dispute = {
          id,
          ...stake,
          frozen: yield* refunds.freeze({ ...stake, subject: id }),
          unfit: yield* unfit.isNoted({ consumerId: receipt.agent_id, receiptId: receipt.receipt_id }),
          cause: yield* receipts.causeOf(receipt.receipt_id),
          reason: filing.reason,
          filedBy,
          claim: { text: filing.text, evidence: filing.evidence },
          answer: undefined,
          status: "filed",
          decision: undefined,
          createdAt: now,
          respondBy: DateTime.add(now, { days: ANSWER_DAYS }),
          decideBy: undefined
        }
        if (!(yield* store.insert(dispute))) return yield* new AlreadyDisputed({ receiptId: filing.receiptId })
        return dispute
      }, atomically)

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
        yield* ledger.lockedStanding(dispute.consumerId)
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

      const respond = Effect.fn("Disputes.respond")(function* (providerId: ProviderId, id: DisputeId, answer: Answer) {
        const dispute = yield* locked(id)
        // Disputes of others are reported as not found.
        if (dispute.providerId !== providerId) return yield* new DisputeNotFound({ disputeId: id })
        if (dispute.status !== "filed" || dispute.filedBy === "provider") {
          return yield* new NotToAnswer({ status: dispute.status })
        }
        const { action, evidence, text } = answer
        const now = yield* DateTime.now
        if (DateTime.isLessThan(dispute.respondBy, now)) return yield* new NotToAnswer({ status: "past its deadline" })
        const answered: Dispute = { ...dispute, answer: { text, evidence, at: now } }
        if (action === "accept") return yield* refund(answered, "provider")
        const decideBy = DateTime.add(now, { days: DECISION_DAYS })
        const contested: Dispute = { ...answered, status: "under_review", decideBy }
        yield* store.update(contested)
        return contested
      }, atomically)

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
        const by = decidedByItself(dispute, yield* DateTime.now)
        if (by === undefined) return false
        yield* refund(dispute, by)
        return true
      }, atomically)

      const work = Effect.gen(function* () {
        const due = yield* store.due(yield* DateTime.now, DECIDED_AT_ONCE_MAX)
        // One that fails must not block the others.
        const decided = yield* Effect.forEach(due, (id) => Effect.exit(decideAlone(id)))
        const stuck = decided.filter(Exit.isFailure)
        if (stuck.length > 0) {
          yield* Effect.logError(
            `${stuck.length} disputes could not be decided; the reason for the first one:`,
            stuck[0]!.cause
          )
        }
        return decided.filter((exit) => Exit.isSuccess(exit) && exit.value).length
      }).pipe(Effect.withSpan("Disputes.work"))

      const find = Effect.fn("Disputes.find")(function* (id: DisputeId) {
        const found = yield* store.find(id)
        return Option.isSome(found) ? found.value : yield* new DisputeNotFound({ disputeId: id })
      })

      return Disputes.of({
        file,
        respond,
        resolve,
        denyByChargeback,
        find,
        list: store.list,
        recordOf: Effect.fnUntraced(function* (dispute) {
          const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
          return yield* store.filedBy(filerOf(dispute), since)
        }),
        against: store.against,
        work
      })
    })
  )
}

/** What a dispute stores of its receipt. */
const atStake = (receipt: Receipt) => ({
  receiptId: receipt.receipt_id,
  consumerId: receipt.agent_id,
  providerId: receipt.provider_id,
  cost: receipt.cost_microcents,
  fee: feeOf(receipt.cost_microcents),
  lot: lotDayOf(DateTime.makeUnsafe(receipt.created_at)),
  outcome: receipt.status
})

const filerOf = ({ consumerId, filedBy, providerId }: Dispute): DisputeOwner =>
  filedBy === "agent"
    ? { role: "consumer", ownerId: consumerId satisfies ConsumerId }
    : { role: "provider", ownerId: providerId }
