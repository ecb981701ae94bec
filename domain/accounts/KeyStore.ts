/**
 * Where keys are kept, by their hash.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, KeyId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { ApiKey } from "./ApiKey.ts"

export interface KeyWithOwner {
  readonly key: ApiKey
  readonly ownerName: string
  /** What a consumer was granted; undefined for a provider. */
  readonly rateLimitRpm: number | undefined
  /** The account's; the key's own is part of the key. */
  readonly defaultCap: Microcents | undefined
}

export class KeyStore extends Context.Service<
  KeyStore,
  {
    insert(key: ApiKey): Effect.Effect<void>
    findByHash(hash: string): Effect.Effect<Option.Option<KeyWithOwner>>
    /**
     * An owner's keys, newest first: all that are live at `now`, and the newest `DEAD_KEYS_SHOWN_MAX` of the others. The
     * owner's row is locked until the unit of work ends.
     */
    ofOwner(ownerId: ConsumerId | ProviderId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<ApiKey>>
    /** Sets the time from which the key is refused, unless an earlier one is set. None where the owner has no such key. */
    revoke(ownerId: ConsumerId | ProviderId, id: KeyId, at: DateTime.Utc): Effect.Effect<Option.Option<ApiKey>>
    /** Undefined: none. None where the owner has no such key. */
    setDefaultCap(
      ownerId: ConsumerId | ProviderId,
      id: KeyId,
      cap: Microcents | undefined
    ): Effect.Effect<Option.Option<ApiKey>>
    /** Labels are the owner's words: they go, the keys stay. */
    unlabel(ownerId: ConsumerId | ProviderId): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/accounts/KeyStore") {}
