/**
 * Payouts as they go on: requested → transferring → paid, failed, or reversed after having been paid.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { PayoutId, ProviderId } from "../shared/Ids.ts"

export const PayoutState = Schema.Literals(["requested", "transferring", "paid", "failed", "reversed"])
export type PayoutState = typeof PayoutState.Type

export interface Payout {
  readonly id: PayoutId
  readonly providerId: ProviderId
  readonly accountId: string
  readonly amountCents: number
  readonly state: PayoutState
  readonly transferId: string | undefined
  readonly failure: string | undefined
  readonly reversedCents: number
  readonly attempts: number
  /** Nobody works on it before then: a lease, and the pause after an attempt that nobody knows the outcome of. */
  readonly nextAttemptAt: DateTime.Utc
  readonly createdAt: DateTime.Utc
  readonly paidAt: DateTime.Utc | undefined
}

export const isOpen = ({ state }: Pick<Payout, "state">): boolean => state === "requested" || state === "transferring"

export class PayoutStore extends Context.Service<
  PayoutStore,
  {
    /** False where the id is known already, or the provider has an open payout: then nothing is changed. */
    insert(payout: Payout): Effect.Effect<boolean>
    find(id: PayoutId): Effect.Effect<Option.Option<Payout>>
    openOf(providerId: ProviderId): Effect.Effect<Option.Option<Payout>>
    /** Nobody else changes it until the unit of work around it ends. */
    lock(id: PayoutId): Effect.Effect<Option.Option<Payout>>
    update(payout: Payout): Effect.Effect<void>
    /** Open ones whose next attempt is due, the longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<PayoutId>>
    /** Newest first. */
    history(providerId: ProviderId, limit: number): Effect.Effect<ReadonlyArray<Payout>>
  }
>()("agent-tool-billing/domain/payouts/PayoutStore") {}
