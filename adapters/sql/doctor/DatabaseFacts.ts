/**
 * What `doctor` reads of a database, with the role of the service and without changing anything.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { changeableTables } from "../shared/ServiceRole.ts"
import { poolerProblem } from "../shared/SessionCheck.ts"

export interface InactiveSlot {
  readonly name: string
  /** Of WAL that the slot keeps. */
  readonly bytes: number
}

interface Settings {
  readonly database: string
  readonly role: string
  readonly serverVersion: string
  readonly serverVersionNumber: number
  readonly collationRecorded: string | null
  readonly collationActual: string | null
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly synchronousStandbyNames: string
  readonly walLevel: string
  readonly isStandby: boolean
  /** Otherwise the state of standbys is hidden from the role. */
  readonly maySeeAll: boolean
  readonly standbys: number
  readonly synchronousStandbys: number
  readonly replayLagSeconds: number
  readonly inactiveSlots: ReadonlyArray<InactiveSlot>
  /** Names of prepared transactions older than a minute. */
  readonly preparedOld: ReadonlyArray<string>
  /** The connections that the role may open. */
  readonly connectionLimit: number
}

export interface DatabaseFacts extends Settings {
  /** Why the database cannot hold the service's data. */
  readonly unfit: string | undefined
  readonly pooler: string | undefined
  /** Append-only tables whose rows the role may change or delete. */
  readonly changeable: ReadonlyArray<string>
  readonly connectionsMax: number
  /** The machine's clock minus the database's. */
  readonly clockSkewMs: number
  readonly clockUncertainMs: number
  readonly schemaProblem: string | undefined
  /** Undefined: not visible to the role. */
  readonly schemaVersion: number | undefined
  readonly schemaExpected: number
}

/** Read elsewhere. */
export type KnownFacts = Pick<DatabaseFacts, "connectionsMax" | "schemaExpected" | "schemaProblem" | "unfit">

export const readFacts = Effect.fnUntraced(function* (known: KnownFacts) {
  const { config } = yield* PgClient.PgClient
  const [settings] = yield* readSettings
  return {
    ...known,
    ...settings!,
    ...(yield* clockSkew),
    pooler: yield* poolerProblem(config),
    changeable: yield* changeableTables,
    schemaVersion: yield* schemaVersion
  } satisfies DatabaseFacts
})

const readSettings = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Settings>`
    SELECT d.datname::text AS database, current_user::text AS role,
      current_setting('server_version') AS "serverVersion",
      current_setting('server_version_num')::int4 AS "serverVersionNumber",
      d.datcollversion AS "collationRecorded", pg_database_collation_actual_version(d.oid) AS "collationActual",
      current_setting('fsync') AS fsync, current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit",
      current_setting('synchronous_standby_names') AS "synchronousStandbyNames",
      current_setting('wal_level') AS "walLevel", pg_is_in_recovery() AS "isStandby",
      pg_has_role('pg_read_all_stats', 'USAGE') AS "maySeeAll",
      (SELECT count(*)::int4 FROM pg_stat_replication) AS standbys,
      (SELECT count(*)::int4 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS "synchronousStandbys",
      (SELECT coalesce(extract(epoch FROM max(replay_lag)), 0)::float8 FROM pg_stat_replication) AS "replayLagSeconds",
      (SELECT coalesce(json_agg(json_build_object('name', slot_name, 'bytes', bytes) ORDER BY slot_name), '[]') FROM (
        SELECT slot_name, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
          ELSE pg_current_wal_lsn() END, restart_lsn) AS bytes
        FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL) slots) AS "inactiveSlots",
      ARRAY(SELECT gid FROM pg_prepared_xacts WHERE prepared < now() - interval '1 minute' ORDER BY gid)
        AS "preparedOld",
      least(current_setting('max_connections')::int4 - CASE WHEN r.rolsuper THEN 0
          ELSE current_setting('superuser_reserved_connections')::int4
            + coalesce(current_setting('reserved_connections', true)::int4, 0) END,
        CASE WHEN r.rolsuper OR r.rolconnlimit < 0 THEN NULL ELSE r.rolconnlimit END,
        CASE WHEN r.rolsuper OR d.datconnlimit < 0 THEN NULL ELSE d.datconnlimit END) AS "connectionLimit"
    FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`
)

/** After another statement: the first response on a new connection is slow. */
const clockSkew = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const askedMs = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly now_ms: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`
  const answeredMs = yield* Clock.currentTimeMillis
  return {
    clockSkewMs: (askedMs + answeredMs) / 2 - row!.now_ms,
    clockUncertainMs: (answeredMs - askedMs) / 2
  }
})

const schemaVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly is_there: boolean; readonly is_readable: boolean | null }>`
    SELECT to_regclass('agent_tool_billing_migrations') IS NOT NULL AS is_there,
      has_table_privilege(to_regclass('agent_tool_billing_migrations')::oid, 'SELECT') AS is_readable`
  if (!found!.is_there) return 0
  if (found!.is_readable !== true) return undefined
  const [row] = yield* sql<{ readonly version: number }>`
    SELECT coalesce(max(migration_id), 0)::int4 AS version FROM agent_tool_billing_migrations`
  return row!.version
})
