/**
 * Port to what a consumer's calls earned which provider on which settlement day.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** What a consumer's calls earned one provider on one day: the money that a chargeback would take back. */
export interface EarnedFrom {
  readonly providerId: ProviderId
  /** The settlement day, which identifies the provider's lot. */
  readonly day: string
  /** Cost minus fee. */
  readonly net: bigint
}

export class SpendingByLot extends Context.Service<
  SpendingByLot,
  {
    /** Of calls settled at that time or later, without the given ones. Oldest day first. */
    since(
      consumerId: ConsumerId,
      settledFrom: DateTime.Utc,
      without: ReadonlyArray<ReceiptId>
    ): Effect.Effect<ReadonlyArray<EarnedFrom>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/SpendingByLot") {}
