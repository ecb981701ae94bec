/**
 * Providers as payees of the processor: their account there, with its last known state.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { PayeeStatus } from "../ledger/PaymentGateway.ts"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** How a provider is paid. */
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
