/**
 * Disputes as a state machine with money: filed → under review → decided, each with a deadline. The call's earnings are
 * frozen at the filing. A refund moves what is covered (domain/earnings); a credit comes from platform funds.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { lotDayOf } from "../ledger/Lots.ts"
import type { FundsTooLow } from "../ledger/PlatformFunds.ts"
import { UnfitOutputs } from "../metering/UnfitOutputs.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import { ReceiptStore, type Settled } from "../receipts/ReceiptStore.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ConsumerId, type ProviderId, type ReceiptId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { ChargebackRecoveries, type RecoveredByChargeback } from "../payments/ChargebackRecoveries.ts"
import { Refunds } from "../earnings/Refunds.ts"
import {
  type Dispute,
  DisputeId,
  type DisputeReason,
  type DisputeStatus,
  type DisputeTally,
  type Statement
} from "./Dispute.ts"
import { makeDisputeDecisions, type Ruling } from "./DisputeDecisions.ts"
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
import {
  type AlreadyDecided,
  type CreditBeyondCost,
  DisputeNotFound,
  NoSuchReceipt,
  NotAnswerable
} from "./DisputeErrors.ts"
import { type DisputeOwner, DisputeStore, type FilerRecord } from "./DisputeStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A complaint about one call, by its consumer or its provider. */
export interface Filing extends Statement {
  readonly receiptId: ReceiptId
  readonly reason: DisputeReason
}

/** What a provider says to a dispute: `accept` refunds the call at once. */
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
    /** For the operator: contested ones, earliest deadline first. */
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

/** What a dispute stores of its receipt. */
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
