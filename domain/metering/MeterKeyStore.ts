/**
 * The consumer that a provider's Idempotency-Key bills. Calls and the responses for their replays are stored per billed
 * consumer, so a key is durably bound to one consumer before it bills.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** An idempotency key of a provider's reports, and the consumer whom the first report billed. */
export interface MeterKey {
  readonly providerId: ProviderId
  /** SHA-256 of scope and key, hex. */
  readonly keyHash: string
  readonly consumerId: ConsumerId
}

/** Each operation is a separate transaction: it does not join a unit of work. */
export class MeterKeyStore extends Context.Service<
  MeterKeyStore,
  {
    /** Binds the key. Binding it again to the same consumer adds a binding; false where it is bound to another consumer. */
    bind(key: MeterKey, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /** Removes one binding, because its report changed nothing. Without bindings any consumer can be billed with the key. */
    release(key: MeterKey): Effect.Effect<void, StoreUnavailable>
    /** Deletes at most `limit` keys last bound before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/MeterKeyStore") {}
