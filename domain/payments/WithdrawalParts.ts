/**
 * Refunds the parts of withdrawals at the processor, one attempt at a time. A part that a crash left between two steps is
 * continued by `work`.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { intoWallet, legsOf } from "../ledger/Movements.ts"
import type { Leg } from "../ledger/Transfer.ts"
import type { WithdrawalPartId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { FreezeStore } from "./FreezeStore.ts"
import { PaymentFailed, PaymentGateway, type RefundState } from "../ledger/PaymentGateway.ts"
import { isOpenPart, type WithdrawalPart, WithdrawalStore } from "./WithdrawalStore.ts"
import { dieUnlessUnavailable, type StoreUnavailable } from "../shared/StoreUnavailable.ts"

const WORKED_AT_ONCE_MAX = 50
/** Longer than an attempt may take, so that one worker at a time processes a part. */
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
