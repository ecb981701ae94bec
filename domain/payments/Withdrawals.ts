/**
 * Withdraws unspent funds to the payment methods of the loads. The ledger reserves the money before the processor is
 * asked; each refund carries the id of its part, so it is made once; its result posts the money or returns it. After a
 * crash between any two steps, `work` continues the part.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { least, PaidFunds, positive } from "../ledger/PaidFunds.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { IdempotencyConflict } from "../shared/Idempotency.ts"
import { type ConsumerId, type LoadId, WithdrawalId, WithdrawalPartId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { AccountFrozen } from "../metering/CallRejections.ts"
import { ChargebackStore } from "./ChargebackStore.ts"
import { FreezeStore } from "./FreezeStore.ts"
import { uuidFrom } from "./Loads.ts"
import { LoadStore } from "./LoadStore.ts"
import { PaymentFailed, PaymentGateway, type RefundState } from "../ledger/PaymentGateway.ts"
import { ProcessorFees } from "./ProcessorFees.ts"
import { planWithdrawal, type RefundableLoad, totalCents } from "./WithdrawalPlan.ts"
import { makeWithdrawalParts } from "./WithdrawalParts.ts"
import { type Withdrawal, type WithdrawalPart, WithdrawalStore } from "./WithdrawalStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const WITHDRAWAL_CENTS_MIN = 100
export const WITHDRAWAL_CENTS_MAX = 10_000_000
export const WITHDRAWALS_LISTED_MAX = 100
/** The newest loads: older ones are spent. */
const LOADS_CONSIDERED_MAX = 200

/** Only unspent money of refundable payments can be withdrawn; credits cannot. */
export class NotWithdrawable extends Schema.TaggedError<NotWithdrawable>()("NotWithdrawable", {
  amountCents: Schema.Int,
  withdrawableCents: Schema.Int
}) {
  override get message() {
    return (
      `${dollars(this.amountCents)} cannot be withdrawn: ${dollars(this.withdrawableCents)} is unspent and can be refunded ` +
      `to your payment methods. Credits cannot be withdrawn.`
    )
  }
}

/** An account that owes money pays its debt before it withdraws. */
export class DebtOutstanding extends Schema.TaggedError<DebtOutstanding>()("DebtOutstanding", {
  owedCents: Schema.Int
}) {
  override get message() {
    return `This account owes ${dollars(this.owedCents)}. Pay the debt before you withdraw.`
  }
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** A consumer's order to get unspent funds back to its payment methods. */
export interface WithdrawalRequest {
  readonly consumerId: ConsumerId
  readonly amountCents: number
  /** The caller's idempotency key: the same key is the same withdrawal. */
  readonly key: string | undefined
}

/** Why nothing was withdrawn. The wallet is unchanged. */
export type WithdrawalRejected = AccountFrozen | DebtOutstanding | NotWithdrawable | IdempotencyConflict | PaymentFailed

export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    readonly mode: PaymentGateway["Service"]["mode"]
    request(
      request: WithdrawalRequest
    ): Effect.Effect<
      { readonly withdrawal: Withdrawal; readonly repeated: boolean },
      WithdrawalRejected | StoreUnavailable
    >
    withdrawableCents(consumerId: ConsumerId): Effect.Effect<number, StoreUnavailable>
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Withdrawal>, StoreUnavailable>
    /** Applies the processor's report of one of our refunds. False if the part is unknown or has failed. */
    refunded(id: WithdrawalPartId, refundId: string, state: RefundState): Effect.Effect<boolean, StoreUnavailable>
    /** Continues interrupted withdrawals; returns how many parts ended. */
    readonly work: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/Withdrawals") {
  static readonly layer = Layer.effect(
    Withdrawals,
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const loads = yield* LoadStore
      const chargebacks = yield* ChargebackStore
      const freezes = yield* FreezeStore
      const fees = yield* ProcessorFees
      const ledger = yield* Ledger
      const paidFunds = yield* PaidFunds
      const gateway = yield* PaymentGateway
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const { atomically } = yield* UnitOfWork
      const parts = yield* makeWithdrawalParts

      const refundableLoads = Effect.fnUntraced(function* (consumerId: ConsumerId) {
        const withdrawn = yield* store.withdrawnCents(consumerId)
        const disputed = new Set<LoadId>(
          (yield* chargebacks.ofConsumer(consumerId))
            .filter(({ funds, state }) => funds === "withdrawn" || state !== "won")
            .map(({ loadId }) => loadId)
        )
        const paid = yield* loads.paidOf(consumerId, LOADS_CONSIDERED_MAX)
        return paid.flatMap(({ load, refundedCents }): ReadonlyArray<RefundableLoad> => {
          const leftCents = load.amountCents - refundedCents - (withdrawn.get(load.id) ?? 0)
          return leftCents <= 0 || load.paymentId === undefined || disputed.has(load.id) ? [] : [{ load, leftCents }]
        })
      })

      /** Paid funds, which never include credit, as far as they are available and can be refunded. */
      const withdrawableOf = Effect.fnUntraced(function* (
        consumerId: ConsumerId,
        refundable: ReadonlyArray<RefundableLoad>,
        availableMicrocents: bigint
      ) {
        const unspent = positive(least(availableMicrocents, yield* paidFunds.paid(consumerId)))
        return totalCents(planWithdrawal(refundable, toCents(unspent)))
      })

      const withdrawableCents = Effect.fn("Withdrawals.withdrawableCents")(function* (consumerId: ConsumerId) {
        const { availableMicrocents, owedMicrocents } = yield* ledger.funds(consumerId)
        if (owedMicrocents > 0n || Option.isSome(yield* freezes.find(consumerId))) return 0
        return yield* withdrawableOf(consumerId, yield* refundableLoads(consumerId), availableMicrocents)
      })

      /** The processor is asked here, before the unit of work. */
      const learnFees = Effect.fnUntraced(function* (consumerId: ConsumerId) {
        for (const { load } of yield* refundableLoads(consumerId)) {
          if (load.feeCents !== undefined) continue
          if ((yield* fees.ofLoad(load)) === undefined) {
            const reason = `the fee of a payment from ${DateTime.formatIso(load.createdAt)} is not known yet`
            return yield* new PaymentFailed({ operation: "fee", definite: false, reason })
          }
        }
      })

      const reserve = Effect.fnUntraced(function* (id: WithdrawalId, { amountCents, consumerId }: WithdrawalRequest) {
        // Locks the wallet: withdrawals of one consumer run one after the other.
        const { availableMicrocents, owedMicrocents } = yield* ledger.lockedFunds(consumerId)
        const known = yield* store.find(id)
        if (Option.isSome(known)) return { withdrawal: known.value, repeated: true }
        if (Option.isSome(yield* freezes.find(consumerId))) return yield* new AccountFrozen()
        if (owedMicrocents > 0n) return yield* new DebtOutstanding({ owedCents: toCents(owedMicrocents + 9_999n) })
        const refundable = (yield* refundableLoads(consumerId)).filter(({ load }) => load.feeCents !== undefined)
        const planned = planWithdrawal(refundable, amountCents)
        const withdrawable = yield* withdrawableOf(consumerId, refundable, availableMicrocents)
        if (amountCents > withdrawable || totalCents(planned) !== amountCents) {
          return yield* new NotWithdrawable({ amountCents, withdrawableCents: withdrawable })
        }
        const now = yield* DateTime.now
        const parts = yield* Effect.forEach(planned, ({ amountCents: cents, feeCents, load }) =>
          Effect.map(entropy.uuid, (uuid): WithdrawalPart => ({
            id: WithdrawalPartId.make(uuid),
            withdrawalId: id,
            consumerId,
            loadId: load.id,
            paymentId: load.paymentId!,
            amountCents: cents,
            feeCents,
            state: "requested",
            refundId: undefined,
            failure: undefined,
            attempts: 0,
            nextAttemptAt: now
          }))
        )
        const withdrawal: Withdrawal = { id, consumerId, amountCents, createdAt: now, parts }
        yield* store.insert(withdrawal)
        const leg = { kind: "withdrawal", debit: "wallet", credit: "refund_clearing", consumerId } as const
        yield* ledger.post({ reference: `withdraw:${id}`, legs: [{ ...leg, amount: fromCents(amountCents) }] })
        return { withdrawal, repeated: false }
      })

      const request = Effect.fn("Withdrawals.request")(function* (asked: WithdrawalRequest) {
        const { amountCents, consumerId, key } = asked
        const id = WithdrawalId.make(
          key === undefined ? yield* entropy.uuid : uuidFrom(sha256Hex(`withdrawal\n${consumerId}\n${key}`))
        )
        if (Option.isNone(yield* store.find(id))) yield* learnFees(consumerId)
        const { repeated, withdrawal } = yield* atomically(reserve(id, asked)).pipe(
          Effect.catchTags({
            InsufficientBalance: ({ availableMicrocents }) =>
              Effect.fail(new NotWithdrawable({ amountCents, withdrawableCents: toCents(availableMicrocents) })),
            DuplicateReference: Effect.die
          })
        )
        if (withdrawal.amountCents !== amountCents) return yield* new IdempotencyConflict({ reason: "other_request" })
        if (!repeated) yield* Effect.forEach(withdrawal.parts, (part) => parts.advance(part.id), { discard: true })
        return { withdrawal: Option.getOrThrow(yield* store.find(id)), repeated }
      })

      return Withdrawals.of({
        mode: gateway.mode,
        request,
        withdrawableCents,
        list: (consumerId) => store.list(consumerId, WITHDRAWALS_LISTED_MAX),
        refunded: parts.refunded,
        work: parts.work
      })
    })
  )
}
