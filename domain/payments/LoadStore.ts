/**
 * Loads of balances through the processor, the reversals of their payments, and the processor's events that have had
 * their effect.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, LoadId } from "../shared/Ids.ts"

/**
 * `opening`: ordered, and the processor has perhaps not heard of it. `mismatched`: another amount or currency was paid than
 * was ordered, and nothing was credited. `paid` is final; the others may still become it.
 */
export type LoadState = "opening" | "open" | "paid" | "expired" | "failed" | "mismatched"

export interface Load {
  readonly id: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly state: LoadState
  readonly sessionId: string | undefined
  readonly checkoutUrl: string | undefined
  /** Of the processor: names the payment in refunds and card disputes. */
  readonly paymentId: string | undefined
  /** What the processor kept of the payment; undefined until it has said so. */
  readonly feeCents: number | undefined
  readonly createdAt: DateTime.Utc
  /** When the wallet was credited. */
  readonly paidAt: DateTime.Utc | undefined
  /** When it was last changed or asked about. */
  readonly updatedAt: DateTime.Utc
}

/** A refund. `taken`: out of the wallet. `returned` is final: it came again, or was never taken. */
export interface Reversal {
  /** The processor's id of the refund. */
  readonly id: string
  readonly loadId: LoadId
  readonly amountCents: number
  readonly state: "taken" | "returned"
}

export interface PaidLoad {
  readonly load: Load
  /** By refunds that were made at the processor; withdrawals are not among them. */
  readonly refundedCents: number
}

export class LoadStore extends Context.Service<
  LoadStore,
  {
    /** False where the id is known already: then nothing is changed. */
    insert(load: Load): Effect.Effect<boolean>
    find(id: LoadId): Effect.Effect<Option.Option<Load>>
    findByPayment(paymentId: string): Effect.Effect<Option.Option<Load>>
    /** Nobody else changes it until the unit of work around it ends. */
    lock(id: LoadId): Effect.Effect<Option.Option<Load>>
    update(load: Load): Effect.Effect<void>
    /** `opening` and `open` ones that nobody has changed or asked about since, the longest waiting first. */
    unsettled(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>>
    /** Of a consumer: `opening`, `open`, or paid after `since`. */
    pendingOrPaidSince(consumerId: ConsumerId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<Load>>
    /** Paid ones of a consumer, the last one first. */
    paidOf(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<PaidLoad>>
    /** Paid since then, and what the processor kept of it is not known: the longest waiting first. */
    withoutFee(paidSince: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>>
    /** How many of a consumer's are `opening` or `open`. */
    unsettledOf(consumerId: ConsumerId): Effect.Effect<number>
    reversal(id: string): Effect.Effect<Option.Option<Reversal>>
    putReversal(reversal: Reversal): Effect.Effect<void>
    /** False where the event has had its effect already. Waits for another unit of work that has it in hand. */
    claimEvent(eventId: string, at: DateTime.Utc): Effect.Effect<boolean>
    /** Forgets events that were claimed before; returns how many. */
    forgetEvents(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/payments/LoadStore") {}
