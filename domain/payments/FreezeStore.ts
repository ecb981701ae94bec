/**
 * Frozen consumer accounts. A frozen account opens no calls; reading and loading still work. CallStore looks at it in the
 * transaction that opens the call.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"

export interface Freeze {
  readonly reason: string
  readonly at: DateTime.Utc
}

export class FreezeStore extends Context.Service<
  FreezeStore,
  {
    /** An account that is frozen already stays so since then; its reason becomes this one. */
    freeze(consumerId: ConsumerId, freeze: Freeze): Effect.Effect<void>
    /** False where the account is not frozen. */
    unfreeze(consumerId: ConsumerId): Effect.Effect<boolean>
    find(consumerId: ConsumerId): Effect.Effect<Option.Option<Freeze>>
    /** Ids above `after`, in their order. */
    frozen(after: ConsumerId | undefined, limit: number): Effect.Effect<ReadonlyArray<ConsumerId>>
  }
>()("agent-tool-billing/domain/payments/FreezeStore") {}
