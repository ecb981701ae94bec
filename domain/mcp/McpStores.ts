/**
 * Ports to what the doors for MCP clients store, so that any node serves any client.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { UpstreamSession } from "../upstream/Protocol.ts"
import type { ServerAddress } from "../upstream/ProviderServers.ts"

/** A session that a client opened at a door. Any node serves it. */
export interface McpSession {
  /** Unguessable. A request with it also needs a key of the account. */
  readonly id: string
  readonly consumerId: ConsumerId
  /** The provider's server at the time of opening; undefined for a session with the market itself. */
  readonly server: ServerAddress | undefined
  /** The version that was negotiated with the client. */
  readonly version: string
  /** The session's own at the provider's server; undefined where that has none. */
  readonly upstream: UpstreamSession | undefined
  /** The params of the client's `initialize`, verbatim. */
  readonly clientParams: string
  /** The provider's server keeps state for the session, such as subscriptions, that a new upstream session lacks. */
  readonly hasState: boolean
  readonly createdAt: DateTime.Utc
  /** The time is at most a minute behind. */
  readonly lastSeenAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/** Port to the sessions of MCP clients. They are in the store, so that any node serves any session. */
export class McpSessionStore extends Context.Service<
  McpSessionStore,
  {
    /**
     * Adds the session. Of the account's sessions at most `sessionsMax` stay; those that were not used for longest are
     * removed and returned. Concurrent openings may leave more until the next one.
     */
    open(session: McpSession, sessionsMax: number): Effect.Effect<ReadonlyArray<McpSession>, StoreUnavailable>
    find(id: string): Effect.Effect<Option.Option<McpSession>, StoreUnavailable>
    touch(id: string, lastSeenAt: DateTime.Utc, expiresAt: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    /**
     * False if the session has ended or has state, or its upstream session is no longer `lost`: another node replaced it
     * before.
     */
    replaceUpstream(id: string, lost: UpstreamSession, next: UpstreamSession): Effect.Effect<boolean, StoreUnavailable>
    markState(id: string): Effect.Effect<void, StoreUnavailable>
    /** The session that ended; none if there was none. */
    end(id: string): Effect.Effect<Option.Option<McpSession>, StoreUnavailable>
    /** Removes all sessions of an erased account. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
    /** Deletes at most `limit` sessions that expired before this time; returns how many. */
    prune(expiredBefore: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpSessionStore") {}

/** An event of a stream that a client may still ask for. Its text is encrypted. */
export interface StoredEvent {
  readonly sequence: number
  /** Undefined: the stream ended before this event. */
  readonly sealedMessage: string | undefined
}

/**
 * Port to the events of streams whose clients reconnected to another node. A node stores the events of a stream only then.
 */
export class McpStreamStore extends Context.Service<
  McpStreamStore,
  {
    /** An event that is stored already stays as it is. */
    append(
      streamId: string,
      events: ReadonlyArray<StoredEvent>,
      at: DateTime.Utc
    ): Effect.Effect<void, StoreUnavailable>
    /** Returns at most `limit` events from this sequence number on, in order. */
    read(streamId: string, from: number, limit: number): Effect.Effect<ReadonlyArray<StoredEvent>, StoreUnavailable>
    /** Deletes at most `limit` events stored before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpStreamStore") {}
