/**
 * Port to API keys, by hash.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, KeyId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { ApiKey } from "./ApiKey.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** All that authentication needs of a key and its account, read in one query. */
export interface KeyWithOwner {
  readonly key: ApiKey
  readonly ownerName: string
  /** The limit that a consumer was granted; undefined for a provider. */
  readonly rateLimitRpm: number | undefined
  /** The account's; the key's own is part of the key. */
  readonly defaultCap: Microcents | undefined
}

export class KeyStore extends Context.Service<
  KeyStore,
  {
    insert(key: ApiKey): Effect.Effect<void, StoreUnavailable>
    findByHash(hash: string): Effect.Effect<Option.Option<KeyWithOwner>, StoreUnavailable>
    /**
     * An owner's keys, newest first: all that are live at `now`, and the newest `DEAD_KEYS_SHOWN_MAX` of the others.
     * Locks the owner's row until the end of the unit of work.
     */
    ofOwner(ownerId: ConsumerId | ProviderId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    /**
     * Sets the time from which the key is rejected, unless an earlier one is set. None if the owner has no such key.
     */
    revoke(
      ownerId: ConsumerId | ProviderId,
      id: KeyId,
      at: DateTime.Utc
    ): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>
    /** Undefined removes it. None if the owner has no such key. */
    setDefaultCap(
      ownerId: ConsumerId | ProviderId,
      id: KeyId,
      cap: Microcents | undefined
    ): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>
    /** Erases labels; the keys stay. */
    unlabel(ownerId: ConsumerId | ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/KeyStore") {}
