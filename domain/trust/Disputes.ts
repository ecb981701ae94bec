/**
 * Disputes as a state machine with money: filed → under review → decided, each with a deadline. The call's earnings are
 * frozen at the filing. A refund moves what is covered (domain/earnings); a credit comes from platform funds.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Refunds } from "../earnings/Refunds.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { fundsTooLow, type FundsTooLow } from "../ledger/PlatformFunds.ts"
import { lotDayOf } from "../ledger/Transfer.ts"
import { UnfitOutputs } from "../metering/Settlement.ts"
import { ChargebackRecoveries, type RecoveredByChargeback } from "../payments/ChargebackRecoveries.ts"
import { type Receipt, ReceiptStore, type Settled } from "../receipts/Receipts.ts"
import { Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import { formatAmount, type Microcents, zero } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { round } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import {
  automaticDecision,
  type DecidedBy,
  type Dispute,
  DisputeId,
  type DisputeOwner,
  type DisputeReason,
  type DisputeStatus,
  DisputeStore,
  type DisputeTally,
  type FilerRecord,
  isOpen,
  isPastDecision,
  type Party,
  type Resolution,
  type Statement
} from "./DisputeStore.ts"

// Reasons why a dispute cannot be filed, answered or decided.

/** A dispute is about a receipt, and none has this id. */
export class NoSuchReceipt extends Schema.TaggedError<NoSuchReceipt>()("NoSuchReceipt", { receiptId: Schema.String }) {
  override get message() {
    return `Receipt ${this.receiptId} does not exist.`
  }
}

/** No such dispute, or the caller is not a party to it. */
export class DisputeNotFound extends Schema.TaggedError<DisputeNotFound>()("DisputeNotFound", {
  disputeId: Schema.String
}) {
  override get message() {
    return `Dispute ${this.disputeId} does not exist.`
  }
}

/** The provider already answered, or the dispute is decided. */
export class NotAnswerable extends Schema.TaggedError<NotAnswerable>()("NotAnswerable", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status} and can no longer be answered.`
  }
}

/** A dispute is decided once. The decision stands. */
export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()("AlreadyDecided", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status}: it is decided already.`
  }
}

/** A dispute refunds at most what the call cost. */
export class CreditBeyondCost extends Schema.TaggedError<CreditBeyondCost>()("CreditBeyondCost", {
  costMicrocents: Schema.BigInt
}) {
  override get message() {
    return `A credit is $0.000001 to ${formatAmount(this.costMicrocents)}, the cost of the call.`
  }
}

// The rule of filing a dispute: only a party of the call may, in time, once, and within limits.

export const FILING_DAYS_MAX = 30
export const ANSWER_DAYS = 7
/** The operator's days, from the day on which the provider contested. */
export const DECISION_DAYS = 30
export const FILED_PER_DAY_MAX = 20
/** From this many decided disputes on, a filer who lost most of them may have fewer open at once. */
export const RECORD_COUNTS_FROM = 10
export const OPEN_WITH_BAD_RECORD_MAX = 5

/** The caller is neither the consumer nor the provider of the call. */
export class NotAParty extends Schema.TaggedError<NotAParty>()("NotAParty", { receiptId: Schema.String }) {
  override get message() {
    return `Receipt ${this.receiptId} can be disputed only by its consumer or its provider.`
  }
}

/** A call can be disputed for a limited time, while the provider's money can still be frozen. */
export class FilingTooLate extends Schema.TaggedError<FilingTooLate>()("FilingTooLate", { calledAt: Schema.String }) {
  override get message() {
    return `A call can be disputed for ${FILING_DAYS_MAX} days; this one was made at ${this.calledAt}.`
  }
}

/** A receipt has one open dispute, and none after a decision for its filer. */
export class AlreadyDisputed extends Schema.TaggedError<AlreadyDisputed>()("AlreadyDisputed", {
  receiptId: Schema.String
}) {
  override get message() {
    return `Receipt ${this.receiptId} already has a dispute that is open or was decided for its filer.`
  }
}

/** The account filed the maximum of one day or, after many denied ones, has the maximum open. */
export class TooManyDisputes extends Schema.TaggedError<TooManyDisputes>()("TooManyDisputes", {
  limit: Schema.Literals(["a_day", "open"]),
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return this.limit === "a_day"
      ? `An account files at most ${FILED_PER_DAY_MAX} disputes a day.`
      : `Most of your decided disputes were denied: at most ${OPEN_WITH_BAD_RECORD_MAX} can be open at once.`
  }
}

/** The role of this owner in the receipt. */
export const partyTo = (receipt: Receipt, owner: DisputeOwner): Party | undefined => {
  if (owner.role === "consumer") return receipt.agent_id === owner.ownerId ? "agent" : undefined
  return receipt.provider_id === owner.ownerId ? "provider" : undefined
}

export const isInTime = (receipt: Receipt, now: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(now, DateTime.addDuration(DateTime.makeUnsafe(receipt.timestamp), DAYS_30))

const DAYS_30 = `${FILING_DAYS_MAX} days` as const
const DAY_SECONDS = 86_400

export const limitOf = (record: FilerRecord): TooManyDisputes | undefined => {
  if (record.lastDay >= FILED_PER_DAY_MAX)
    return new TooManyDisputes({ limit: "a_day", retryAfterSeconds: DAY_SECONDS })
  const decided = record.total - record.open
  const mostlyDenied = decided >= RECORD_COUNTS_FROM && record.denied * 2 > decided
  return mostlyDenied && record.open >= OPEN_WITH_BAD_RECORD_MAX
    ? new TooManyDisputes({ limit: "open", retryAfterSeconds: DAY_SECONDS })
    : undefined
}

// Decides disputes: by the provider that accepts, by the operator, by a chargeback, or by a deadline. Money moves in the
// unit of work of the decision, under the dispute's lock and with its id as reference: once, even with concurrent
// decisions.

/** The operator's decision of a dispute that the provider contested. */
export interface Ruling {
  readonly resolution: Resolution
  readonly note: string | undefined
  /** Default: the whole cost. */
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

  /** Runs in the unit of work that holds the lock. */
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

/** A complaint about one call, by its consumer or its provider. */
export interface Filing extends Statement {
  readonly receiptId: ReceiptId
  readonly reason: DisputeReason
  /** The filer's reference, such as a ticket of its tracker. */
  readonly reference?: string | undefined
}

/** `accept` refunds the call at once. */
export interface Answer extends Statement {
  readonly action: "accept" | "contest"
}

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
    ): Effect.Effect<Dispute, DisputeNotFound | NotAnswerable | StoreUnavailable>
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
    /** Lists contested disputes for the operator, earliest deadline first. */
    contested(page: PageRequest): Effect.Effect<Page<Dispute>, StoreUnavailable>
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
      const { denyByChargeback, locked, refund, resolve, work } = yield* makeDisputeDecisions
      const { atomically } = yield* UnitOfWork

      const file = Effect.fn("Disputes.file")(function* (owner: DisputeOwner, filing: Filing) {
        const receipt = Option.getOrUndefined(yield* receipts.find(filing.receiptId))
        const settled = Option.getOrUndefined(yield* receipts.settledOf(filing.receiptId))
        if (receipt === undefined || settled === undefined)
          return yield* new NoSuchReceipt({ receiptId: filing.receiptId })
        const filedBy = partyTo(receipt, owner)
        if (filedBy === undefined) return yield* new NotAParty({ receiptId: filing.receiptId })
        const now = yield* DateTime.now
        if (!isInTime(receipt, now)) return yield* new FilingTooLate({ calledAt: receipt.timestamp })
        // A chargeback locks the wallet too: it comes before all of this, or finds the dispute.
        yield* ledger.lockedFunds(receipt.agent_id)
        yield* recoveries.mayBeDisputed(receipt.agent_id, DateTime.makeUnsafe(receipt.created_at))
        const limit = limitOf(yield* store.filedBy(owner, DateTime.subtract(now, { days: 1 })))
        if (limit !== undefined) return yield* limit
        const id = DisputeId.make(yield* entropy.uuid)
        const stake = atStake(receipt, settled)
        const dispute: Dispute = {
          id,
          ...stake,
          frozen: yield* refunds.freeze({ ...stake, subject: id }),
          unfit: yield* unfit.isRecorded({ consumerId: receipt.agent_id, receiptId: receipt.receipt_id }),
          cause: settled.cause,
          reason: filing.reason,
          filedBy,
          claim: { text: filing.text, evidence: filing.evidence, reference: filing.reference },
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

      const respond = Effect.fn("Disputes.respond")(function* (providerId: ProviderId, id: DisputeId, answer: Answer) {
        const dispute = yield* locked(id)
        // Disputes of others are reported as not found.
        if (dispute.providerId !== providerId) return yield* new DisputeNotFound({ disputeId: id })
        if (dispute.status !== "filed" || dispute.filedBy === "provider") {
          return yield* new NotAnswerable({ status: dispute.status })
        }
        const { action, evidence, text } = answer
        const now = yield* DateTime.now
        if (DateTime.isLessThan(dispute.respondBy, now))
          return yield* new NotAnswerable({ status: "past its deadline" })
        const answered: Dispute = { ...dispute, answer: { text, evidence, at: now } }
        if (action === "accept") return yield* refund(answered, "provider")
        const decideBy = DateTime.add(now, { days: DECISION_DAYS })
        const contested: Dispute = { ...answered, status: "under_review", decideBy }
        yield* store.update(contested)
        return contested
      }, atomically)

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
        contested: store.contested,
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

const atStake = (receipt: Receipt, { fee }: Settled) => ({
  receiptId: receipt.receipt_id,
  consumerId: receipt.agent_id,
  providerId: receipt.provider_id,
  cost: receipt.cost_microcents,
  fee,
  lot: lotDayOf(DateTime.makeUnsafe(receipt.created_at)),
  outcome: receipt.status
})

const filerOf = ({ consumerId, filedBy, providerId }: Dispute): DisputeOwner =>
  filedBy === "agent"
    ? { role: "consumer", ownerId: consumerId satisfies ConsumerId }
    : { role: "provider", ownerId: providerId }
