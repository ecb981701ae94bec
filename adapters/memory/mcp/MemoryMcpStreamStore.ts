/**
 * Events of streams in memory.
 */
import { type DateTime, Effect, Layer } from "effect"
import { McpStreamStore, type StoredEvent } from "../../../domain/mcp/McpStores.ts"
import { add, prune } from "../shared/MemoryRows.ts"

interface Row extends StoredEvent {
  readonly streamId: string
  readonly storedAt: DateTime.Utc
}

export const layer = Layer.sync(McpStreamStore, () => {
  const rows = new Map<string, Row>()
  return McpStreamStore.of({
    append: (streamId, events, storedAt) =>
      Effect.forEach(events, (event) => add(rows, `${streamId} ${event.sequence}`, { ...event, streamId, storedAt }), {
        discard: true
      }),

    read: (streamId, from, limit) =>
      Effect.sync(() =>
        [...rows.values()]
          .filter((row) => row.streamId === streamId && row.sequence >= from)
          .toSorted((one, other) => one.sequence - other.sequence)
          .slice(0, limit)
          .map(({ sealedMessage, sequence }) => ({ sequence, sealedMessage }))
      ),

    prune: (before, limit) =>
      prune(rows, ({ storedAt }) => storedAt.epochMilliseconds < before.epochMilliseconds, limit)
  })
})
