/**
 * Port to frozen consumer accounts. A frozen account opens no calls; reading and loading still work. CallStore checks
 * it in the transaction that opens the call.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Since when an account cannot spend, and why. Funds can still be added. */
export interface Freeze {
  readonly reason: string
  readonly at: DateTime.Utc
  /** Only the operator ends it. */
  readonly byOperator: boolean
}

export class FreezeStore extends Context.Service<
  FreezeStore,
  {
    /** A frozen account keeps its time; the reason is replaced. A freeze by the operator is replaced only by another one. */
    freeze(consumerId: ConsumerId, freeze: Freeze): Effect.Effect<void, StoreUnavailable>
    /** False if the account is not frozen. */
    unfreeze(consumerId: ConsumerId): Effect.Effect<boolean, StoreUnavailable>
    find(consumerId: ConsumerId): Effect.Effect<Option.Option<Freeze>, StoreUnavailable>
    /** Of the frozen ones among these accounts. */
    findAll(ids: ReadonlyArray<ConsumerId>): Effect.Effect<ReadonlyMap<ConsumerId, Freeze>, StoreUnavailable>
    /** Ids after `after`, in order. */
    frozen(after: ConsumerId | undefined, limit: number): Effect.Effect<ReadonlyArray<ConsumerId>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/FreezeStore") {}
