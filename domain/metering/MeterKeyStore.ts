/**
 * Whom a provider's Idempotency-Key bills. Calls, and the answers to their replays, are kept by the consumer that is
 * billed; so a key is bound to one consumer, durably, before anybody is billed with it.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"

export interface MeterKey {
  readonly providerId: ProviderId
  /** SHA-256 of scope and key, hex. */
  readonly keyHash: string
  readonly consumerId: ConsumerId
}

/** Each of these is a transaction of its own: it does not join a unit of work. */
export class MeterKeyStore extends Context.Service<
  MeterKeyStore,
  {
    /** Binds the key, once more if it is this consumer's already; false where it is bound to another one. */
    bind(key: MeterKey, at: DateTime.Utc): Effect.Effect<boolean>
    /** Takes one binding back: its report has changed nothing. Without any the key is free for everybody. */
    release(key: MeterKey): Effect.Effect<void>
    /** Forgets at most `limit` keys that were bound last before then; says how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/metering/MeterKeyStore") {}
