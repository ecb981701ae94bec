/**
 * Payouts and their states: requested → transferring → paid, failed, or reversed after paid.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { PayoutId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** How far a payout is. `failed` and `reversed` end with the money in the balance again. */
export const PayoutState = Schema.Literals(["requested", "transferring", "paid", "failed", "reversed"])
export type PayoutState = typeof PayoutState.Type

/** Money on its way to a provider, from the request to the processor's transfer. */
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
  /** Not processed before then: a lease, and the pause after an attempt with unknown outcome. */
  readonly nextAttemptAt: DateTime.Utc
  readonly createdAt: DateTime.Utc
  readonly paidAt: DateTime.Utc | undefined
}

/** Payouts in one state, or of one provider. */
export interface PayoutFilter {
  readonly state: PayoutState | undefined
  readonly providerId: ProviderId | undefined
}

export const isOpen = ({ state }: Pick<Payout, "state">): boolean => state === "requested" || state === "transferring"

export class PayoutStore extends Context.Service<
  PayoutStore,
  {
    /** False if the id exists or the provider has an open payout; nothing is changed. */
    insert(payout: Payout): Effect.Effect<boolean, StoreUnavailable>
    find(id: PayoutId): Effect.Effect<Option.Option<Payout>, StoreUnavailable>
    openOf(providerId: ProviderId): Effect.Effect<Option.Option<Payout>, StoreUnavailable>
    /** Locked until the end of the unit of work. */
    lock(id: PayoutId): Effect.Effect<Option.Option<Payout>, StoreUnavailable>
    update(payout: Payout): Effect.Effect<void, StoreUnavailable>
    /** Open ones whose next attempt is due, longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<PayoutId>, StoreUnavailable>
    /** Of all providers, newest first. */
    list(filter: PayoutFilter, page: PageRequest): Effect.Effect<Page<Payout>, StoreUnavailable>
    /** Newest first. */
    history(providerId: ProviderId, limit: number): Effect.Effect<ReadonlyArray<Payout>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/PayoutStore") {}
