/**
 * Loads of balances through the processor, the reversals of their payments, and the processor's events that have had
 * their effect.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, LoadId } from "../shared/Ids.ts"

/** `opening`: ordered, and the processor has perhaps not heard of it. `paid` is final; the others may still become it. */
export type LoadState = "opening" | "open" | "paid" | "expired" | "failed"

export interface Load {
  readonly id: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly state: LoadState
  readonly sessionId: string | undefined
  readonly checkoutUrl: string | undefined
  /** Of the processor: names the payment in refunds and card disputes. */
  readonly paymentId: string | undefined
  readonly createdAt: DateTime.Utc
  /** When it was last changed or asked about. */
  readonly updatedAt: DateTime.Utc
}

/** `taken`: out of the wallet. `returned` is final: it came again, or was never taken. */
export interface Reversal {
  /** The processor's id of the refund or card dispute. */
  readonly id: string
  readonly loadId: LoadId
  readonly state: "taken" | "returned"
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
    /** Whether there was never a load through a processor. */
    readonly isEmpty: Effect.Effect<boolean>
    /** `opening` and `open` ones that nobody has changed or asked about since, the longest waiting first. */
    unsettled(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>>
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
