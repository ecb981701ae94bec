/**
 * Pinned tool names in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { NamePinStore, type PinFound } from "../../../domain/metering/ToolDirectory.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface PinRow {
  readonly tool_id: string | null
  readonly is_full: boolean
}

export const layer = Layer.effect(
  NamePinStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return NamePinStore.of({
      find: Effect.fn("PostgresNamePinStore.find")((consumerId, toolName, pinsMax) =>
        sql<PinRow>`
          SELECT p.tool_id, p.tool_id IS NULL AND (
              SELECT count(*) FROM (SELECT FROM tool_name_pins WHERE consumer_id = ${consumerId} LIMIT ${pinsMax}::int8) pins
            ) >= ${pinsMax}::int8 AS is_full
          FROM (SELECT 1) given LEFT JOIN tool_name_pins p ON p.consumer_id = ${consumerId} AND p.tool_name = ${toolName}`.one(
          (row): PinFound =>
            row.tool_id === null
              ? { _tag: row.is_full ? "Full" : "Free" }
              : { _tag: "Pinned", toolId: ToolId.make(row.tool_id) }
        )
      ),

      // The update changes nothing: it makes the statement return the existing row.
      pin: Effect.fn("PostgresNamePinStore.pin")(({ consumerId, toolId, toolName }, at) =>
        sql<{ readonly tool_id: string }>`
          INSERT INTO tool_name_pins AS p (consumer_id, tool_name, tool_id, pinned_at)
          VALUES (${consumerId}, ${toolName}, ${toolId}, ${toDate(at)})
          ON CONFLICT (consumer_id, tool_name) DO UPDATE SET tool_id = p.tool_id
          RETURNING tool_id`.one((row) => ToolId.make(row.tool_id))
      ),

      removeAll: Effect.fn("PostgresNamePinStore.removeAll")(
        (consumerId) => sql`DELETE FROM tool_name_pins WHERE consumer_id = ${consumerId}`,
        Effect.asVoid
      )
    })
  })
)
