/**
 * Toolboxes in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { scopeId } from "../../../domain/mcp/Toolbox.ts"
import { ToolboxStore } from "../../../domain/accounts/ToolboxStore.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  ToolboxStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return ToolboxStore.of({
      tools: Effect.fn("PostgresToolboxStore.tools")((scope) =>
        Effect.map(
          sql<{ readonly tool_ids: ReadonlyArray<string> }>`
            SELECT tool_ids FROM toolboxes WHERE id = ${scopeId(scope)} AND consumer_id = ${scope.consumerId}`.all(
            ({ tool_ids }) => tool_ids.map((id) => ToolId.make(id))
          ),
          (rows) => rows[0] ?? []
        )
      ),

      put: Effect.fn("PostgresToolboxStore.put")((scope, tools, at) =>
        Effect.asVoid(
          tools.length === 0
            ? sql`DELETE FROM toolboxes WHERE id = ${scopeId(scope)} AND consumer_id = ${scope.consumerId}`
            : sql`
                INSERT INTO toolboxes AS t (id, consumer_id, tool_ids, changed_at)
                VALUES (${scopeId(scope)}, ${scope.consumerId}, ${tools}::uuid[], ${toDate(at)})
                ON CONFLICT (id) DO UPDATE SET tool_ids = excluded.tool_ids, changed_at = excluded.changed_at
                  WHERE t.consumer_id = excluded.consumer_id`
        )
      ),

      removeAll: Effect.fn("PostgresToolboxStore.removeAll")(
        (consumerId) => sql`DELETE FROM toolboxes WHERE consumer_id = ${consumerId}`,
        Effect.asVoid
      )
    })
  })
)
