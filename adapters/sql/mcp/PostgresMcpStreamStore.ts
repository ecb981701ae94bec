/**
 * Events of streams in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { McpStreamStore, type StoredEvent } from "../../../domain/mcp/McpStores.ts"
import { column, OID } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  McpStreamStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return McpStreamStore.of({
      append: Effect.fn("PostgresMcpStreamStore.append")((streamId, events, at) => {
        const sequences = column(
          events.map(({ sequence }) => sequence),
          OID.int4
        )
        const messages = column(
          events.map(({ sealedMessage }) => sealedMessage ?? null),
          OID.text
        )
        return Effect.asVoid(sql`
          INSERT INTO mcp_stream_events (stream_id, sequence, sealed_message, stored_at)
          SELECT ${streamId}, given.sequence, given.message, ${toDate(at)}
          FROM unnest(${sequences}, ${messages}) AS given (sequence, message)
          ON CONFLICT DO NOTHING`)
      }),

      read: (streamId, from, limit) =>
        sql`
          SELECT sequence, sealed_message FROM mcp_stream_events
          WHERE stream_id = ${streamId} AND sequence >= ${from} ORDER BY sequence LIMIT ${limit}`.all(
          rowReader<StoredEvent>()
        ),

      prune: Effect.fn("PostgresMcpStreamStore.prune")((before, limit) =>
        prune(sql, "mcp_stream_events", sql`stored_at < ${toDate(before)}`, limit)
      )
    })
  })
)
