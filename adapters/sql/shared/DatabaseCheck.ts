/**
 * Checks whether the service can run on a database: its encoding, that it is no standby, the privileges of its role, and that
 * each connection is a session of its own. The checks run before the schema is touched, so that the error names the reason
 * and not the first statement that fails.
 */
import { PgClient, PgConnection, PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

/** A database that the service cannot run on, and why. */
export class DatabaseUnfit extends Schema.TaggedError<DatabaseUnfit>()("DatabaseUnfit", {
  problem: Schema.String,
  /** Default: `DATABASE_URL`. */
  setting: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `The database of ${this.setting ?? "DATABASE_URL"} cannot be used: ${this.problem}`
  }
}

interface DatabaseState {
  readonly name: string
  readonly encoding: string
  readonly role: string
  readonly schema: string | null
  readonly may_create: boolean
  readonly is_standby: boolean
  /** Tables that the role may not read and change. */
  readonly closed: ReadonlyArray<string>
}

const TABLES_NAMED_MAX = 5

export const checkDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [state] = yield* sql<DatabaseState>`
    SELECT current_database()::text AS name, current_setting('server_encoding') AS encoding, current_user::text AS role,
      current_schema()::text AS schema, pg_is_in_recovery() AS is_standby,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
      ARRAY(SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()
        AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT')
        OR schemaname = current_schema()
        AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'INSERT')
        ORDER BY 1) AS closed`
  const problem = problemOf(state!) ?? (yield* readCluster)
  if (problem !== undefined) return yield* new DatabaseUnfit({ problem })
})

export const problemOf = ({
  closed,
  encoding,
  is_standby,
  may_create,
  name,
  role,
  schema
}: DatabaseState): string | undefined => {
  if (encoding !== "UTF8") {
    return `"${name}" has the encoding ${encoding}, and UTF8 is required. Create one with \`CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0\`.`
  }
  if (is_standby)
    return `"${name}" is on a standby, which is read-only. Name the primary, or all servers and target_session_attrs=read-write.`
  if (schema === null) {
    return `the role "${role}" may use none of the schemas in its search_path. Grant it USAGE and CREATE on one.`
  }
  if (!may_create) {
    return `the role "${role}" may not create tables in the schema "${schema}", which migrations need. Run \`GRANT CREATE ON SCHEMA ${schema} TO ${role}\`, or set MIGRATION_DATABASE_URL to the role that owns the tables.`
  }
  return closed.length === 0
    ? undefined
    : `the role "${role}" may not read and write the tables ${namesOf(closed)}. Make it their owner or grant it SELECT, INSERT, UPDATE and DELETE.`
}

// A Citus cluster over which docs/citus.sql has spread the tables.

interface ClusterState {
  /** Tables that Citus does not know. */
  readonly unmanaged: ReadonlyArray<string>
  /** How a transaction changes several shards. */
  readonly modify_mode: string
  /** The smallest of all nodes. */
  readonly max_prepared_transactions: number
  /** The longest of all nodes; below zero: never. */
  readonly recover_2pc_seconds: number
  /** Nodes with a standby that may lack what a transaction over several nodes committed. */
  readonly asynchronous: ReadonlyArray<string>
}

const RECOVER_2PC_SECONDS_MAX = 10

/** Of one PostgreSQL, undefined. */
const readCluster = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [citus] = yield* sql<{ readonly is_there: boolean }>`
    SELECT to_regclass('pg_dist_partition') IS NOT NULL AS is_there`
  if (!citus!.is_there) return undefined
  const [state] = yield* sql<ClusterState>`
    WITH told AS (
      SELECT nodename || ':' || nodeport AS node, result::json AS settings FROM run_command_on_all_nodes($$
        SELECT json_build_object('prepared', current_setting('max_prepared_transactions')::int4,
          'seconds', extract(epoch FROM current_setting('citus.recover_2pc_interval')::interval)::float8,
          'standbys', (SELECT count(*) FROM pg_stat_replication
            WHERE sync_state = 'async' AND NOT starts_with(application_name, 'citus_')))
      $$) JOIN pg_dist_node USING (nodeid) WHERE success
    )
    SELECT current_setting('citus.multi_shard_modify_mode') AS modify_mode,
      min((settings ->> 'prepared')::int4) AS max_prepared_transactions,
      CASE WHEN min((settings ->> 'seconds')::float8) < 0 THEN -1 ELSE max((settings ->> 'seconds')::float8) END
        AS recover_2pc_seconds,
      coalesce(array_agg(node ORDER BY node) FILTER (WHERE (settings ->> 'standbys')::int4 > 0), '{}') AS asynchronous,
      ARRAY(SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()
        AND format('%I.%I', schemaname, tablename)::regclass NOT IN (SELECT logicalrelid FROM pg_dist_partition)
        ORDER BY 1) AS unmanaged
    FROM told WHERE EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('wallets'))
    HAVING count(*) > 0`
  return state === undefined ? undefined : clusterProblemOf(state)
})

export const clusterProblemOf = (state: ClusterState): string | undefined => {
  const { asynchronous, max_prepared_transactions, modify_mode, recover_2pc_seconds, unmanaged } = state
  if (unmanaged.length > 0) {
    return `Citus does not know the tables ${namesOf(unmanaged)}, so a crash can commit half of a transaction. Stop the nodes and run docs/citus.sql again.`
  }
  if (modify_mode !== "sequential") {
    return `citus.multi_shard_modify_mode is ${modify_mode}, so Citus rejects payments after it counted calls. Stop the nodes and run docs/citus.sql again.`
  }
  if (max_prepared_transactions === 0) {
    return "a node of the cluster has max_prepared_transactions = 0, and transactions over several nodes are prepared. Set it to max_connections on every node and restart them."
  }
  if (recover_2pc_seconds < 0 || recover_2pc_seconds > RECOVER_2PC_SECONDS_MAX) {
    return `a node of the cluster ends interrupted transactions ${recover_2pc_seconds < 0 ? "never" : `every ${recover_2pc_seconds} s`}, and their wallets are locked until then. Set citus.recover_2pc_interval to ${RECOVER_2PC_SECONDS_MAX}s at most on every node.`
  }
  if (asynchronous.length > 0) {
    return `a standby of ${namesOf(asynchronous)} is asynchronous, so a failover can lose one side of a transaction over several nodes. Set synchronous_standby_names there.`
  }
  return undefined
}

const namesOf = (names: ReadonlyArray<string>): string =>
  `${names.slice(0, TABLES_NAMED_MAX).join(", ")}${names.length > TABLES_NAMED_MAX ? " and others" : ""}`

// The privileges of the service's role, which protect append-only tables. The role that owns the tables runs the
// migrations. The service connects as a second role that may read and add their rows, but not change or delete them.

export const APPEND_ONLY_TABLES = [
  "archived_totals",
  "audit_trail",
  "invoices",
  "posted_transfers",
  "provider_fees",
  "receipt_archives",
  "receipts"
] as const

export const currentRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly role: string }>`SELECT current_user::text AS role`
  return row!.role
})

/** Run as the owner of the tables, after migrations. Nodes that start together wait for each other. */
export const grantTo = Effect.fnUntraced(function* (role: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE agent_tool_billing_migrations IN ACCESS EXCLUSIVE MODE`
      const owned = yield* sql<{ readonly schema: string; readonly name: string }>`
        SELECT relnamespace::regnamespace::text AS schema, relname::text AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v') AND pg_has_role(relowner, 'USAGE')`
      yield* sql`GRANT USAGE ON SCHEMA ${sql(owned[0]!.schema)} TO ${sql(role)}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ${sql.csv(owned.map(({ name }) => sql`${sql(name)}`))} TO ${sql(role)}`
      yield* sql`REVOKE UPDATE, DELETE, TRUNCATE ON ${sql.csv(APPEND_ONLY_TABLES.map((name) => sql`${sql(name)}`))}
        FROM ${sql(role)}`
    })
  )
})

/** The append-only tables whose rows the current role may change or delete. A superuser may always. */
export const changeableTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly name: string }>`
    SELECT name FROM unnest(${[...APPEND_ONLY_TABLES]}::text[]) name
    WHERE has_any_column_privilege(to_regclass(name)::oid, 'UPDATE') OR has_table_privilege(to_regclass(name)::oid, 'DELETE')
      OR has_table_privilege(to_regclass(name)::oid, 'TRUNCATE')
    ORDER BY name`
  return rows.map(({ name }) => name)
})

/** Logs one line at every start where append-only is not enforced. */
export const warnIfChangeable = Effect.gen(function* () {
  const tables = yield* changeableTables
  if (tables.length > 0) {
    yield* Effect.logWarning(
      `The role "${yield* currentRole}" may change or delete rows of ${tables.join(", ")}, which are append-only. ` +
        'Let the service connect as a role that does not own them: see "Two database roles" in docs/operations.md.'
    )
  }
})

// A connection must be a session of its own, with the settings that the service asks for. A connection pooler in between may
// give each transaction another session, and drop settings. Prepared statements, LISTEN and limits on locks would then fail
// later, in the middle of calls.

const MARKER = "agent_tool_billing.session"
const ROUNDS = 4
/** A pooler whose pool is used up lets its clients wait. */
const CHECKED_WITHIN = "15 seconds"

const DIRECTLY = "or connect to PostgreSQL directly: the service pools its connections itself"
const SHARED_SESSIONS =
  "a connection pooler in between gives every transaction another session, but the service needs prepared statements and " +
  `LISTEN. Use pool_mode = session, ${DIRECTLY}.`
const NO_CONNECTION = `a connection pooler in between does not give it two connections at a time. Enlarge its pool (PgBouncer: default_pool_size), ${DIRECTLY}.`

/** Describes a pooler in between that is not transparent. */
export const poolerProblem = Effect.fnUntraced(function* (config: PgClient.PgClientConfig) {
  const connect = PgConnection.make({ ...config, multiplex: false, prepare: false })
  const first = yield* connect
  const ask = (sql: string, ...params: ReadonlyArray<string>) =>
    Effect.map(first.queryValues(sql, params.map(PgTypes.text)), ([row]) => row?.[0])
  // Poolers give their clients process ids of their own.
  if ((yield* ask("SELECT pg_backend_pid()")) === first.processId) return undefined
  return yield* Effect.gen(function* () {
    const second = yield* connect
    const marker = randomBytes(8).toString("hex")
    yield* ask("SELECT set_config($1, $2, false)", MARKER, marker)
    for (let round = 0; round < ROUNDS; round++) {
      // In transaction mode, this takes the session that the first connection had.
      yield* second.queryValues("BEGIN")
      yield* second.queryValues("SELECT 1")
      const kept = yield* ask("SELECT current_setting($1, true)", MARKER)
      yield* second.queryValues("ROLLBACK")
      if (kept !== marker) return SHARED_SESSIONS
    }
    for (const [name, value] of Object.entries(config.startupParameters ?? {})) {
      const found = yield* ask("SELECT current_setting($1)", name)
      // This reads the value as PostgreSQL shows it, and sets it only for this statement.
      if (found === (yield* ask("SELECT set_config($1, $2, true)", name, value))) continue
      const role = yield* ask("SELECT current_user::text")
      return `a connection pooler in between drops the setting ${name}. Run \`ALTER ROLE ${String(role)} SET ${name} = '${value}'\` and restart the pooler, ${DIRECTLY}.`
    }
    return undefined
  }).pipe(Effect.timeoutOrElse({ duration: CHECKED_WITHIN, orElse: () => Effect.succeed(NO_CONNECTION) }))
}, Effect.scoped)

export const checkSession = Effect.gen(function* () {
  const { config } = yield* PgClient.PgClient
  const problem = yield* poolerProblem(config)
  if (problem !== undefined) return yield* new DatabaseUnfit({ problem })
})
