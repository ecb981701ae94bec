/**
 * The two parts of the schema, each created alone: a foreign key, function or index that needs the other part fails.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { laneTables } from "../../../migrations/0002_wallet_splits.ts"
import { mainTables } from "../../../migrations/0007_provider_usage.ts"
import { mainTables as levelTables } from "../../../migrations/0008_levels.ts"
import { lanePart } from "../../../migrations/LanePart.ts"
import { mainPart } from "../../../migrations/MainPart.ts"

/** Leaves the database with this part only. */
export const buildOnly = Effect.fnUntraced(function* (
  part: Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP SCHEMA public CASCADE`
  yield* sql`CREATE SCHEMA public`
  yield* part
})

export const tableNames = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{
      readonly name: string
    }>`SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )
)

/** The tables of both parts. The database is left without a schema: use one of its own. */
export const schemaParts = Effect.gen(function* () {
  yield* buildOnly(Effect.all([mainPart, mainTables, levelTables], { discard: true }))
  const main = yield* tableNames
  yield* buildOnly(Effect.andThen(lanePart, laneTables))
  return { lane: yield* tableNames, main }
})
