/**
 * Providers as payees of the processor: their account there, as it was last seen.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { PayeeStanding } from "../payments/PaymentGateway.ts"
import type { ProviderId } from "../shared/Ids.ts"

export interface Payee {
  readonly providerId: ProviderId
  /** Undefined until the provider is first sent to the processor. */
  readonly standing: PayeeStanding | undefined
  /** Paid out on the first of each month without being asked. */
  readonly automatic: boolean
  /** By the operator: no rolling reserve is kept of this provider's earnings. */
  readonly reserveLifted: boolean
  readonly updatedAt: DateTime.Utc
}

export class PayeeStore extends Context.Service<
  PayeeStore,
  {
    find(providerId: ProviderId): Effect.Effect<Option.Option<Payee>>
    findByAccount(accountId: string): Effect.Effect<Option.Option<Payee>>
    putStanding(providerId: ProviderId, standing: PayeeStanding, at: DateTime.Utc): Effect.Effect<void>
    putAutomatic(providerId: ProviderId, automatic: boolean, at: DateTime.Utc): Effect.Effect<void>
    putReserveLifted(providerId: ProviderId, lifted: boolean, at: DateTime.Utc): Effect.Effect<void>
    /** Those with automatic payouts, by id, from after `after` on. */
    automatic(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>>
  }
>()("agent-tool-billing/domain/payouts/PayeeStore") {}
