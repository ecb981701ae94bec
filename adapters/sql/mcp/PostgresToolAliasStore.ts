/**
 * Aliases of tools in PostgreSQL. The hash of an alias stays after an erasure, so that the alias stays taken.
 */
import { Effect, Layer } from "effect"
import { ToolAliasStore } from "../../../domain/mcp/ToolAliases.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface AliasRow {
  readonly alias: string
  readonly tool_id: string
}

export const layer = Layer.effect(
  ToolAliasStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return ToolAliasStore.of({
      ofTools: Effect.fn("PostgresToolAliasStore.ofTools")((ids) =>
        Effect.map(
          sql<AliasRow>`
            SELECT tool_id, alias FROM tool_aliases WHERE tool_id = ANY (${ids}::uuid[]) AND alias IS NOT NULL`.all(
            ({ alias, tool_id }) => [ToolId.make(tool_id), alias] as const
          ),
          (rows) => new Map(rows)
        )
      ),

      toolOf: Effect.fn("PostgresToolAliasStore.toolOf")((alias) =>
        sql<AliasRow>`SELECT tool_id, alias FROM tool_aliases WHERE alias = ${alias}`.first(({ tool_id }) =>
          ToolId.make(tool_id)
        )
      ),

      claim: Effect.fn("PostgresToolAliasStore.claim")(
        (alias, toolId, at) =>
          sql`
            INSERT INTO tool_aliases (alias_hash, alias, tool_id, given_at)
            VALUES (sha256(convert_to(${alias}::text, 'UTF8')), ${alias}, ${toolId}, ${toDate(at)})
            ON CONFLICT DO NOTHING RETURNING 1 AS claimed`.hasRows
      ),

      erase: Effect.fn("PostgresToolAliasStore.erase")(
        (providerId) => sql`
          UPDATE tool_aliases SET alias = NULL
          WHERE tool_id IN (SELECT id FROM tools WHERE provider_id = ${providerId})`,
        Effect.asVoid
      )
    })
  })
)
