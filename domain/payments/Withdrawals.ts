/**
 * Withdraws unspent funds to the payment methods of the loads. The ledger reserves the money before the processor is
 * asked; each refund carries the id of its part, so it is made once; its result posts the money or returns it. After a
 * crash between any two steps, `work` continues the part.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { intoWallet, Ledger, legsOf } from "../ledger/Ledger.ts"
import { least, PaidFunds, positive } from "../ledger/PaidFunds.ts"
import { PaymentFailed, PaymentGateway, type RefundState } from "../ledger/PaymentGateway.ts"
import type { Leg } from "../ledger/Transfer.ts"
import { AccountFrozen } from "../metering/CallRejections.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { IdempotencyConflict } from "../shared/Idempotency.ts"
import { type ConsumerId, type LoadId, WithdrawalId, WithdrawalPartId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ChargebackStore, FreezeStore } from "./AccountFreezes.ts"
import { type Load, LoadStore, uuidFrom } from "./Loads.ts"
import { ProcessorFees } from "./ProcessorFees.ts"

/** `failed` and `returned` end with the money in the wallet again. */
export const WithdrawalPartState = Schema.Literals(["requested", "refunding", "paid", "failed", "returned"])
export type WithdrawalPartState = typeof WithdrawalPartState.Type

/** The refund of one payment, in whole or in part. */
export interface WithdrawalPart {
  readonly id: WithdrawalPartId
  readonly withdrawalId: WithdrawalId
  readonly consumerId: ConsumerId
  readonly loadId: LoadId
  /** The payment's id at the processor. */
  readonly paymentId: string
  /** The amount out of the wallet. */
  readonly amountCents: number
  /** The processor's fee for this part; the rest is refunded. */
  readonly feeCents: number
  readonly state: WithdrawalPartState
  readonly refundId: string | undefined
  readonly failure: string | undefined
  readonly attempts: number
  /** It is not processed before then: a lease, and the pause after an attempt with unknown outcome. */
  readonly nextAttemptAt: DateTime.Utc
}

/** An order of a consumer to get unspent funds back. It has one part for each payment that is refunded. */
export interface Withdrawal {
  readonly id: WithdrawalId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly createdAt: DateTime.Utc
  readonly parts: ReadonlyArray<WithdrawalPart>
}

export const isOpenPart = ({ state }: Pick<WithdrawalPart, "state">): boolean =>
  state === "requested" || state === "refunding"

/**
 * Port to withdrawals of unspent funds. Each consists of one refund per load: requested → refunding → paid or failed;
 * returned if the processor could not deliver it.
 */
export class WithdrawalStore extends Context.Service<
  WithdrawalStore,
  {
    /** False if the id exists; nothing is changed. */
    insert(withdrawal: Withdrawal): Effect.Effect<boolean, StoreUnavailable>
    find(id: WithdrawalId): Effect.Effect<Option.Option<Withdrawal>, StoreUnavailable>
    /** Newest first. */
    list(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<Withdrawal>, StoreUnavailable>
    /** Locks it until the end of the unit of work. */
    lockPart(id: WithdrawalPartId): Effect.Effect<Option.Option<WithdrawalPart>, StoreUnavailable>
    updatePart(part: WithdrawalPart): Effect.Effect<void, StoreUnavailable>
    /** Open ones whose next attempt is due, longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<WithdrawalPartId>, StoreUnavailable>
    hasOpen(consumerId: ConsumerId): Effect.Effect<boolean, StoreUnavailable>
    /** Includes withdrawals in progress. */
    withdrawnCents(consumerId: ConsumerId): Effect.Effect<ReadonlyMap<LoadId, number>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/WithdrawalStore") {}

// A plan says from which loads a withdrawal is refunded, with the processor's fee of each. Newest loads first: the
// oldest load was spent first.

export interface RefundableLoad {
  readonly load: Load
  /** The amount that is left after refunds, withdrawals and chargebacks. */
  readonly leftCents: number
}

export interface PlannedPart {
  readonly load: Load
  readonly amountCents: number
  readonly feeCents: number
}

/** Takes what fits, at most `amountCents`, from the loads in their order. */
export const planWithdrawal = (
  loads: ReadonlyArray<RefundableLoad>,
  amountCents: number
): ReadonlyArray<PlannedPart> => {
  let missing = amountCents
  return loads.flatMap(({ leftCents, load }) => {
    const taken = Math.min(leftCents, missing)
    const feeCents = retainedFee(load, taken)
    // The processor refunds whole cents above zero.
    if (taken <= 0 || taken <= feeCents) return []
    missing -= taken
    return [{ load, amountCents: taken, feeCents }]
  })
}

/** The processing fee of the load, pro rata, rounded up: the platform, which paid it, never loses. */
const retainedFee = ({ amountCents, feeCents = 0 }: Load, taken: number): number =>
  Number((BigInt(feeCents) * BigInt(taken) + BigInt(amountCents) - 1n) / BigInt(amountCents))

export const totalCents = (parts: ReadonlyArray<{ readonly amountCents: number }>): number =>
  parts.reduce((sum, { amountCents }) => sum + amountCents, 0)

// Refunds the parts of withdrawals at the processor, one attempt at a time. A part that a crash left between two steps is
// continued by `work`.

const WORKED_AT_ONCE_MAX = 50
/** Any attempt takes less time, so one worker at a time processes a part. */
const LEASE = Duration.minutes(2)
const PAUSE_MAX_SECONDS = 3_600

export const makeWithdrawalParts = Effect.gen(function* () {
  const store = yield* WithdrawalStore
  const freezes = yield* FreezeStore
  const ledger = yield* Ledger
  const gateway = yield* PaymentGateway
  const { atomically } = yield* UnitOfWork

  /** Claims the part, unless another worker has it or it has ended. */
  const lease = Effect.fnUntraced(function* (id: WithdrawalPartId) {
    const now = yield* DateTime.now
    const found = Option.getOrUndefined(yield* store.lockPart(id))
    if (found === undefined || !isOpenPart(found) || DateTime.isGreaterThan(found.nextAttemptAt, now)) {
      return undefined
    }
    const taken: WithdrawalPart = {
      ...found,
      state: "refunding",
      attempts: found.attempts + 1,
      nextAttemptAt: DateTime.addDuration(now, LEASE)
    }
    yield* store.updatePart(taken)
    return { taken, first: found.state === "requested" }
  }, atomically)

  /** A processor forgets an order's id after a while: before an order is repeated, the first one is looked up. */
  const order = Effect.fnUntraced(function* ({ taken, first }: { taken: WithdrawalPart; first: boolean }) {
    const { amountCents, consumerId, feeCents, id, paymentId } = taken
    const made = first
      ? undefined
      : yield* gateway
          .refundOf(id, paymentId)
          .pipe(Effect.mapError((error) => new PaymentFailed({ ...error, definite: false })))
    if (made !== undefined) return made
    // The bank may return the same money: a refund that was not ordered before is not ordered now.
    if (Option.isSome(yield* freezes.find(consumerId))) {
      return yield* new PaymentFailed({ operation: "refund", definite: true, reason: "the account is frozen" })
    }
    return yield* gateway.refund({ partId: id, paymentId, amountCents: amountCents - feeCents })
  })

  const end = (
    id: WithdrawalPartId,
    changed: (part: WithdrawalPart) => WithdrawalPart,
    legsFor: (part: WithdrawalPart) => Effect.Effect<ReadonlyArray<Leg>, StoreUnavailable>
  ) =>
    atomically(
      Effect.gen(function* () {
        const current = Option.getOrThrow(yield* store.lockPart(id))
        if (!isOpenPart(current)) return current
        const ended = changed(current)
        yield* store.updatePart(ended)
        const reference = `withdraw:${ended.withdrawalId}:${id}:${ended.state}`
        yield* dieUnlessUnavailable(ledger.post({ reference, legs: yield* legsFor(ended) }))
        return ended
      })
    )

  const paid = (id: WithdrawalPartId, refundId: string) =>
    end(
      id,
      (part) => ({ ...part, state: "paid", refundId }),
      ({ amountCents, consumerId, feeCents }) => {
        const from = { kind: "withdrawal", debit: "refund_clearing", consumerId } as const
        return Effect.succeed(
          legsOf(
            { ...from, credit: "processor", amount: fromCents(amountCents - feeCents) },
            { ...from, credit: "platform_fee", amount: fromCents(feeCents) }
          )
        )
      }
    )

  const failed = (id: WithdrawalPartId, failure: string, refundId?: string) =>
    end(
      id,
      (part) => ({ ...part, state: "failed", failure, refundId }),
      ({ amountCents, consumerId }) =>
        Effect.map(ledger.lockedFunds(consumerId), (funds) =>
          intoWallet(
            [{ kind: "withdrawal", debit: "refund_clearing", consumerId, amount: fromCents(amountCents) }],
            funds
          )
        )
    )

  const unclear = Effect.fnUntraced(function* (id: WithdrawalPartId, error: PaymentFailed) {
    const current = Option.getOrThrow(yield* store.lockPart(id))
    if (!isOpenPart(current)) return current
    yield* Effect.logWarning(`Refund ${id} has an unknown outcome after ${current.attempts} attempts: ${error.message}`)
    const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, 2 ** Math.min(current.attempts, 12))
    const paused = { ...current, nextAttemptAt: DateTime.add(yield* DateTime.now, { seconds: pauseSeconds }) }
    yield* store.updatePart(paused)
    return paused
  }, atomically)

  /** One attempt; returns whether the part has ended. */
  const advance = Effect.fn("Withdrawals.advance")(function* (id: WithdrawalPartId) {
    const leased = yield* lease(id)
    if (leased === undefined) return false
    const part = yield* order(leased).pipe(
      Effect.flatMap((made) =>
        made.state === "failed"
          ? failed(id, "the processor could not deliver the refund", made.refundId)
          : paid(id, made.refundId)
      ),
      Effect.catchTag("PaymentFailed", (error) => (error.definite ? failed(id, error.reason) : unclear(id, error)))
    )
    return !isOpenPart(part)
  })

  /** The money returned to the processor's balance, so it returns to the wallet. */
  const returned = Effect.fnUntraced(function* (part: WithdrawalPart) {
    const { amountCents, consumerId, feeCents, id } = part
    yield* store.updatePart({ ...part, state: "returned", failure: "the processor could not deliver the refund" })
    const amount = fromCents(amountCents - feeCents)
    const funds = yield* ledger.lockedFunds(consumerId)
    const from = { kind: "withdrawal", consumerId } as const
    const legs = [
      { ...from, debit: "processor", credit: "refund_clearing", amount } as const,
      ...intoWallet([{ ...from, debit: "refund_clearing", amount }], funds)
    ]
    yield* dieUnlessUnavailable(ledger.post({ reference: `withdraw:${part.withdrawalId}:${id}:returned`, legs }))
  })

  const refunded = Effect.fn("Withdrawals.refunded")(function* (
    id: WithdrawalPartId,
    refundId: string,
    state: RefundState
  ) {
    const part = Option.getOrUndefined(yield* store.lockPart(id))
    if (part === undefined) return false
    if (state === "pending") return true
    // It was returned to the wallet and was made nevertheless: then it is a refund like any other.
    if (state === "settled" && part.state === "failed" && part.refundId !== refundId) return false
    if (state === "settled") yield* paid(id, refundId)
    else if (isOpenPart(part)) yield* failed(id, "the processor could not deliver the refund", refundId)
    else if (part.state === "paid") yield* returned(part)
    return true
  }, atomically)

  const work = Effect.gen(function* () {
    const due = yield* store.due(yield* DateTime.now, WORKED_AT_ONCE_MAX)
    const worked = yield* round(due, { failing: "Refunds that could not be continued", concurrency: 8, work: advance })
    return worked.filter((ended) => ended).length
  }).pipe(Effect.withSpan("Withdrawals.work"))

  return { advance, refunded, work }
})

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

/** The reason why nothing was withdrawn. The wallet is unchanged. */
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

      const request = Effect.fn("Withdrawals.request")(function* (requested: WithdrawalRequest) {
        const { amountCents, consumerId, key } = requested
        const id = WithdrawalId.make(
          key === undefined ? yield* entropy.uuid : uuidFrom(sha256Hex(`withdrawal\n${consumerId}\n${key}`))
        )
        if (Option.isNone(yield* store.find(id))) yield* learnFees(consumerId)
        const { repeated, withdrawal } = yield* atomically(reserve(id, requested)).pipe(
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
