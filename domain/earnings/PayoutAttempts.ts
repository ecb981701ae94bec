/**
 * Executes a payout whose money is reserved. The processor's transfer carries the payout's id, so it is made once; its
 * result posts the money or returns it to its lots. After a crash between any two steps, `work` continues the payout.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { PaymentFailed, PaymentGateway, type Transferred } from "../ledger/PaymentGateway.ts"
import type { Leg } from "../ledger/Transfer.ts"
import type { PayoutId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { isOpen, paidLeg, type Payout, payoutReference, PayoutStore, returningLegs } from "./PayoutStore.ts"

export const WORKED_AT_ONCE_MAX = 50
/** Longer than an attempt may take, so that one worker at a time processes a payout. */
const LEASE = Duration.minutes(2)
const PAUSE_MAX_SECONDS = 3_600

export const makePayoutAttempts = Effect.gen(function* () {
  const store = yield* PayoutStore
  const ledger = yield* Ledger
  const gateway = yield* PaymentGateway
  const { atomically } = yield* UnitOfWork

  const post = (payout: Payout, step: string, legs: ReadonlyArray<Leg>) =>
    ledger.post({ reference: `${payoutReference(payout.id)}${step}`, legs })

  const reservedOf = (payout: Payout) => ledger.byReference(payoutReference(payout.id))

  /** Claims the payout, unless another worker has it or it has ended. */
  const lease = Effect.fnUntraced(function* (id: PayoutId) {
    const now = yield* DateTime.now
    const found = Option.getOrUndefined(yield* store.lock(id))
    if (found === undefined || !isOpen(found) || DateTime.isGreaterThan(found.nextAttemptAt, now)) return undefined
    const taken: Payout = {
      ...found,
      state: "transferring",
      attempts: found.attempts + 1,
      nextAttemptAt: DateTime.addDuration(now, LEASE)
    }
    yield* store.update(taken)
    return { taken, first: found.state === "requested" }
  }, atomically)

  /** A processor forgets an order's id after a while: before an order is repeated, the first one is looked up. */
  const order = Effect.fnUntraced(function* (payout: Payout, first: boolean) {
    const made = first ? undefined : yield* gateway.transferOf(payout.id).pipe(Effect.mapError(unknownYet))
    const { accountId, amountCents, id: payoutId, providerId } = payout
    const transfer = made ?? (yield* gateway.transfer({ payoutId, providerId, accountId, amountCents }))
    if (transfer.amountCents === amountCents) return transfer
    const reason = `transfer ${transfer.transferId} has ${transfer.amountCents} cents, the payout ${amountCents}`
    return yield* new PaymentFailed({ operation: "transfer", definite: false, reason })
  })

  /** The platform's own accounts, which every payout touches, are locked last and briefly. */
  const end = (
    id: PayoutId,
    step: string,
    legsOf: (payout: Payout) => Effect.Effect<ReadonlyArray<Leg>, StoreUnavailable>,
    changed: (payout: Payout, now: DateTime.Utc) => Payout
  ) =>
    atomically(
      Effect.gen(function* () {
        const current = Option.getOrThrow(yield* store.lock(id))
        if (!isOpen(current)) return current
        const ended = changed(current, yield* DateTime.now)
        yield* store.update(ended)
        yield* dieUnlessUnavailable(post(ended, step, yield* legsOf(ended)))
        return ended
      })
    )

  const paid = (id: PayoutId, { transferId }: Transferred) =>
    end(
      id,
      ":paid",
      (payout) => Effect.succeed([paidLeg(payout.providerId, fromCents(payout.amountCents))]),
      (payout, now) => ({ ...payout, state: "paid", transferId, paidAt: now })
    )

  const failed = (id: PayoutId, failure: string) =>
    end(
      id,
      ":failed",
      (payout) =>
        Effect.map(reservedOf(payout), (reserved) =>
          returningLegs(reserved, "payout_clearing", { start: 0n, end: fromCents(payout.amountCents) })
        ),
      (payout) => ({ ...payout, state: "failed", failure })
    )

  const unclear = Effect.fnUntraced(function* (id: PayoutId, error: PaymentFailed) {
    const current = Option.getOrThrow(yield* store.lock(id))
    if (!isOpen(current)) return current
    yield* Effect.logWarning(`Payout ${id} has an unknown outcome after ${current.attempts} attempts: ${error.message}`)
    const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, 2 ** Math.min(current.attempts, 12))
    const paused = { ...current, nextAttemptAt: DateTime.add(yield* DateTime.now, { seconds: pauseSeconds }) }
    yield* store.update(paused)
    return paused
  }, atomically)

  /** One attempt; returns the payout after it. */
  const advance = Effect.fn("Payouts.advance")(function* (id: PayoutId) {
    const leased = yield* lease(id)
    if (leased === undefined) return Option.getOrThrow(yield* store.find(id))
    return yield* order(leased.taken, leased.first).pipe(
      Effect.flatMap((made) => paid(id, made)),
      Effect.catchTag("PaymentFailed", (error) => (error.definite ? failed(id, error.reason) : unclear(id, error)))
    )
  })

  const work = Effect.gen(function* () {
    if (gateway.mode !== "live") return 0
    const due = yield* store.due(yield* DateTime.now, WORKED_AT_ONCE_MAX)
    const worked = yield* round(due, { failing: "Payouts that could not be continued", concurrency: 8, work: advance })
    return worked.filter((payout) => !isOpen(payout)).length
  }).pipe(Effect.withSpan("Payouts.work"))

  const reversed = Effect.fn("Payouts.reversed")(function* (id: PayoutId, transfer: Transferred) {
    const found = Option.getOrUndefined(yield* store.lock(id))
    if (found === undefined || found.state === "failed") return
    const reversedCents = Math.min(transfer.reversedCents, found.amountCents)
    // A reversed transfer was made: the report of that may still be on its way.
    const payout = isOpen(found) ? yield* paid(id, transfer) : found
    const moreCents = reversedCents - payout.reversedCents
    if (moreCents <= 0) return
    const part = { start: fromCents(payout.reversedCents), end: fromCents(reversedCents) }
    const legs = returningLegs(yield* reservedOf(payout), "processor", part)
    yield* dieUnlessUnavailable(post(payout, `:reversed:${reversedCents}`, legs))
    const whole = reversedCents >= payout.amountCents
    yield* store.update({ ...payout, reversedCents, state: whole ? "reversed" : payout.state })
  }, atomically)

  return { advance, work, reversed }
})

/** A rejected look-up says nothing about the transfer: it may have been made. */
const unknownYet = ({ operation, reason }: PaymentFailed) => new PaymentFailed({ operation, reason, definite: false })
