/**
 * The schema and the connections of PostgreSQL. The composition of the service supplies the migrations.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { BACKLOG_COUNTED_MAX, SchemaKeeper, type StoreBacklog, StoreWatch } from "../../../domain/platform/Health.ts"
import { dieUnlessUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { changeableTables } from "../shared/DatabaseCheck.ts"
import { rowReader } from "../shared/Rows.ts"
import { raise } from "../shared/SqlFailures.ts"
import { storeFailures, storeSql } from "../shared/StoreSql.ts"

interface Migrations<E> {
  readonly latestVersion: number
  /** Applies pending migrations and returns them; waits for other nodes that do the same. */
  readonly run: Effect.Effect<ReadonlyArray<readonly [id: number, name: string]>, E, PgClient.PgClient>
}

const toBacklog = rowReader<StoreBacklog>(
  {},
  { open_calls: Number, overdue_calls: Number, unlogged_receipts: Number, lost_calls: Number }
)

const keeper = <E>({ latestVersion, run }: Migrations<E>) =>
  Layer.effect(
    SchemaKeeper,
    Effect.gen(function* () {
      const client = yield* PgClient.PgClient
      const sql = yield* storeSql

      const version = Effect.gen(function* () {
        const [table] = yield* sql<{ readonly is_there: boolean }>`
          SELECT to_regclass('agent_tool_billing_migrations') IS NOT NULL AS is_there`
        if (!table!.is_there) return 0
        const [row] = yield* sql<{ readonly version: number }>`
          SELECT coalesce(max(migration_id), 0) AS version FROM agent_tool_billing_migrations`
        return row!.version
      })

      const bringUpToDate = Effect.gen(function* () {
        const applied = yield* run
        const tables = yield* sql<{ readonly name: string }>`
          SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`
        return {
          applied: applied.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`),
          version: yield* version,
          tables: tables.map(({ name }) => name)
        }
      }).pipe(
        Effect.provideService(PgClient.PgClient, client),
        Effect.catch((error) => (SqlError.isSqlError(error) ? raise(error) : Effect.fail(error))),
        dieUnlessUnavailable,
        Effect.withSpan("PostgresUpkeep.bringUpToDate")
      )

      return SchemaKeeper.of({
        state: Effect.map(version, (found) => ({ version: found, expected: latestVersion })),
        bringUpToDate
      })
    })
  )

const watch = Layer.effect(
  StoreWatch,
  Effect.gen(function* () {
    const client = yield* SqlClient.SqlClient
    const sql = yield* storeSql
    return StoreWatch.of({
      ping: storeFailures(changeableTables).pipe(
        Effect.provideService(SqlClient.SqlClient, client),
        Effect.map((tables) =>
          tables.length === 0
            ? undefined
            : `The service's role may change or delete rows of append-only tables: ${tables.join(", ")}.`
        )
      ),
      connections: sql<{ readonly state: string; readonly count: bigint }>`
        SELECT coalesce(state, 'unknown') AS state, count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND starts_with(application_name, 'agent-tool-billing')
        GROUP BY 1 ORDER BY 1`.all(({ count, state }) => ({ state, count: Number(count) })),
      backlog: sql`
        SELECT count(*) AS open_calls, count(*) FILTER (WHERE deadline_at <= now()) AS overdue_calls,
          coalesce(sum(held), 0)::bigint AS held_microcents,
          (SELECT least(coalesce(sum(cardinality(receipt_ids)), 0), ${BACKLOG_COUNTED_MAX})::int8 FROM (
            SELECT receipt_ids FROM receipts_unlogged LIMIT ${BACKLOG_COUNTED_MAX}) waiting) AS unlogged_receipts,
          (SELECT count(*) FROM lost_calls WHERE reviewed_at IS NULL) AS lost_calls
        FROM calls_open`.one(toBacklog)
    })
  })
)

export const layer = <E>(migrations: Migrations<E>) => Layer.merge(keeper(migrations), watch)
