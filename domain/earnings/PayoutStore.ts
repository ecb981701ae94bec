/**
 * Payouts and their states: requested → transferring → paid, failed, or reversed after paid.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { PayeeStatus } from "../ledger/PaymentGateway.ts"
import type { Leg, LotPart, Transfer } from "../ledger/Transfer.ts"
import type { PayoutId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** `failed` and `reversed` end with the money in the balance again. */
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
  /** It is not processed before then: a lease, and the pause after an attempt with unknown outcome. */
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
    /** Locks it until the end of the unit of work. */
    lock(id: PayoutId): Effect.Effect<Option.Option<Payout>, StoreUnavailable>
    update(payout: Payout): Effect.Effect<void, StoreUnavailable>
    /** Open ones whose next attempt is due, longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<PayoutId>, StoreUnavailable>
    /** Newest first. */
    list(filter: PayoutFilter, page: PageRequest): Effect.Effect<Page<Payout>, StoreUnavailable>
    /** Newest first. */
    history(providerId: ProviderId, limit: number): Effect.Effect<ReadonlyArray<Payout>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/PayoutStore") {}

// The ledger movements of a payout, step by step. It takes available money lot by lot; returned money goes to the same
// lots.

export const payoutReference = (id: PayoutId): string => `payout:${id}`

/** Takes the amount out of the provider's lots until the processor has responded. */
export const reservingLegs = (providerId: ProviderId, parts: ReadonlyArray<LotPart>): ReadonlyArray<Leg> =>
  parts.map(({ amount, day }) => ({
    kind: "payout",
    debit: "provider",
    credit: "payout_clearing",
    providerId,
    lot: day,
    amount: Microcents.make(amount)
  }))

export const paidLeg = (providerId: ProviderId, amount: Microcents): Leg => ({
  kind: "payout",
  debit: "payout_clearing",
  credit: "processor",
  providerId,
  amount
})

/**
 * The part from `start` to `end` of what was reserved, returned to its lots. Of a payout of 10 that took 7 and 3 from
 * two lots, the part from 5 to 10 returns 2 to the first one and 3 to the second.
 */
export const returningLegs = (
  reserved: ReadonlyArray<Transfer>,
  from: "payout_clearing" | "processor",
  { start, end }: { readonly start: bigint; readonly end: bigint }
): ReadonlyArray<Leg> => {
  let at = 0n
  return reserved.flatMap(({ amount, lot, providerId }): ReadonlyArray<Leg> => {
    const [first, last] = [at > start ? at : start, at + amount < end ? at + amount : end]
    at += amount
    if (last <= first) return []
    return [{ kind: "payout", debit: from, credit: "provider", providerId, lot, amount: Microcents.make(last - first) }]
  })
}

/** The provider's account at the processor. */
export interface Payee {
  readonly providerId: ProviderId
  /** Undefined until the provider starts onboarding. */
  readonly status: PayeeStatus | undefined
  /** Paid out automatically on the first of each month. */
  readonly automatic: boolean
  /** Set by the operator: no rolling reserve for this provider. */
  readonly reserveLifted: boolean
  readonly updatedAt: DateTime.Utc
}

/** Providers as payees of the processor: their account there, with its last known state. */
export class PayeeStore extends Context.Service<
  PayeeStore,
  {
    find(providerId: ProviderId): Effect.Effect<Option.Option<Payee>, StoreUnavailable>
    findByAccount(accountId: string): Effect.Effect<Option.Option<Payee>, StoreUnavailable>
    putStatus(providerId: ProviderId, status: PayeeStatus, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    putAutomatic(providerId: ProviderId, automatic: boolean, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    putReserveLifted(providerId: ProviderId, lifted: boolean, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    /** Providers with automatic payouts, by id, after `after`. */
    automatic(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/PayeeStore") {}
