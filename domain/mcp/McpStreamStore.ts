/**
 * Port to the events of streams whose clients reconnected to another node. A node stores the events of a stream only then.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** An event of a stream that a client may still ask for. Its text is encrypted. */
export interface StoredEvent {
  readonly sequence: number
  /** Undefined: the stream ended before this event. */
  readonly sealedMessage: string | undefined
}

export class McpStreamStore extends Context.Service<
  McpStreamStore,
  {
    /** An event that is stored already stays as it is. */
    append(
      streamId: string,
      events: ReadonlyArray<StoredEvent>,
      at: DateTime.Utc
    ): Effect.Effect<void, StoreUnavailable>
    /** At most `limit` events from this sequence number on, in order. */
    read(streamId: string, from: number, limit: number): Effect.Effect<ReadonlyArray<StoredEvent>, StoreUnavailable>
    /** Deletes at most `limit` events stored before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpStreamStore") {}
