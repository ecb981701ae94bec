/**
 * Port to loads, the reversals of their payments, and applied events of the processor.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, LoadId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/**
 * `opening`: ordered, the processor may not have received it. `mismatched`: another amount or currency was paid, and
 * nothing was credited. `paid` is final; every other state may still become `paid`.
 */
export type LoadState = "opening" | "open" | "paid" | "expired" | "failed" | "mismatched"

/** An order to add funds, from its checkout to the credit of the wallet. */
export interface Load {
  readonly id: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly state: LoadState
  readonly sessionId: string | undefined
  readonly checkoutUrl: string | undefined
  /** Of the processor: identifies the payment in refunds and chargebacks. */
  readonly paymentId: string | undefined
  /** The processor's fee; undefined until it is reported. */
  readonly feeCents: number | undefined
  readonly createdAt: DateTime.Utc
  /** When the wallet was credited. */
  readonly paidAt: DateTime.Utc | undefined
  /** When it was last changed or checked. */
  readonly updatedAt: DateTime.Utc
}

/** A refund. `taken`: out of the wallet. `returned` is final: the money came back, or was never taken. */
export interface Reversal {
  /** The processor's id of the refund. */
  readonly id: string
  readonly loadId: LoadId
  readonly amountCents: number
  readonly state: "taken" | "returned"
}

/** A load is checked every minute at most, and ever more rarely while it is unpaid: after an eighth of its age. */
export const CHECKED_EVERY_SECONDS = 60
export const CHECKS_PER_AGE = 8

export const isCheckDue = ({ createdAt, updatedAt }: Load, now: DateTime.Utc): boolean => {
  const [ageMs, waitedMs] = [createdAt, updatedAt].map((since) => now.epochMilliseconds - since.epochMilliseconds)
  return waitedMs! >= Math.max(CHECKED_EVERY_SECONDS * 1_000, ageMs! / CHECKS_PER_AGE)
}

/** A load whose money arrived, and how much of it the processor gave back. */
export interface PaidLoad {
  readonly load: Load
  /** By refunds made at the processor, without withdrawals. */
  readonly refundedCents: number
}

export class LoadStore extends Context.Service<
  LoadStore,
  {
    /** False if the id exists; nothing is changed. */
    insert(load: Load): Effect.Effect<boolean, StoreUnavailable>
    find(id: LoadId): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    findByPayment(paymentId: string): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    /** Locked until the end of the unit of work. */
    lock(id: LoadId): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    update(load: Load): Effect.Effect<void, StoreUnavailable>
    /** `opening` and `open` ones whose check is due: see `isCheckDue`. Longest waiting first. */
    unsettled(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** Of a consumer: `opening`, `open`, or paid after `since`. */
    pendingOrPaidSince(
      consumerId: ConsumerId,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** Paid loads of a consumer, newest first. */
    paidOf(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<PaidLoad>, StoreUnavailable>
    /** Paid since then, with an unknown fee: longest waiting first. */
    withoutFee(paidSince: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** How many loads of a consumer are `opening` or `open`. */
    unsettledOf(consumerId: ConsumerId): Effect.Effect<number, StoreUnavailable>
    reversal(id: string): Effect.Effect<Option.Option<Reversal>, StoreUnavailable>
    putReversal(reversal: Reversal): Effect.Effect<void, StoreUnavailable>
    /** False if the event was applied already. Waits for another unit of work that has claimed it. */
    claimEvent(eventId: string, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /** Removes events that were claimed before; returns how many. */
    forgetEvents(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/LoadStore") {}
