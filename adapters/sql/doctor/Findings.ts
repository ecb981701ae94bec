/**
 * Reads the facts of a database, with the role of the service and without changing anything, and judges them for `doctor`.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { monotonicNowMs, SKEW_MS_MAX } from "../../../domain/shared/Time.ts"
import type { DatabaseHost } from "../primary/DatabaseUrl.ts"
import {
  askHost,
  describeHosts,
  differentClusters,
  type HostState,
  type HostStates,
  primaryAmong
} from "../primary/PrimaryWatch.ts"
import { changeableTables, poolerProblem } from "../shared/DatabaseCheck.ts"

interface InactiveSlot {
  readonly name: string
  /** The size of the WAL that the slot keeps. */
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
  /** The reason why the database cannot hold the service's data. */
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
type KnownFacts = Pick<DatabaseFacts, "connectionsMax" | "schemaExpected" | "schemaProblem" | "unfit">

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

/** Needs a statement before it: the first response on a new connection is slow. */
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

// Findings of `doctor` about a read replica: whether it is a standby of the same cluster, and how long it takes to
// replay what the primary has written.

interface ReplicaFacts {
  readonly name: string
  readonly state: HostState
  /** Undefined: it takes longer than the limit, or the server is not a standby. */
  readonly caughtUpMs: number | undefined
}

const ASK_EVERY = Duration.millis(50)

/** `position`: of the primary in its write-ahead log, read just before. */
export const replicaFacts = Effect.fnUntraced(function* (host: DatabaseHost, position: bigint, lagMsMax: number) {
  const startedMs = yield* monotonicNowMs
  const state = yield* askHost(host)
  const caughtUpMs = yield* PgConnection.make({ url: host.url, applicationName: "agent-tool-billing doctor" }).pipe(
    Effect.flatMap((connection) =>
      Effect.gen(function* () {
        while (true) {
          const [row] = yield* connection.queryValues(
            "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 WHERE pg_is_in_recovery()"
          )
          if (row === undefined) return undefined
          if (typeof row[0] === "bigint" && row[0] >= position) return (yield* monotonicNowMs) - startedMs
          yield* Effect.sleep(ASK_EVERY)
        }
      })
    ),
    Effect.scoped,
    Effect.timeoutOrElse({ duration: Duration.millis(lagMsMax), orElse: () => Effect.undefined }),
    Effect.orElseSucceed(() => undefined)
  )
  return { name: host.name, state, caughtUpMs } satisfies ReplicaFacts
})

export interface Finding {
  readonly check: string
  readonly severity: "ok" | "warning" | "problem"
  readonly message: string
}

/** `settings.md` names it, too. */
const VERSION_MIN = 15
/** Beside its pool a node has the connection of calls, that of the counter, the change feed and the watch of the primary. */
export const CONNECTIONS_BESIDE_POOL = 4
const REPLAY_LAG_SECONDS_MAX = 10
const SLOT_BYTES_MAX = 1024 ** 3
const MEBIBYTE = 1024 ** 2

type Verdict = Omit<Finding, "check">
const ok = (message: string): Verdict => ({ severity: "ok", message })
const warning = (message: string): Verdict => ({ severity: "warning", message })
const problem = (message: string): Verdict => ({ severity: "problem", message })

export const judgeHosts = (states: HostStates): Finding => {
  const hosts = describeHosts(states)
  const different = differentClusters(states)
  const verdict =
    different.length > 0
      ? problem(`${different.join(" and ")} are not replicas of each other. Name only servers of one cluster.`)
      : primaryAmong(states, { current: undefined, timeline: 0, cluster: undefined }) === undefined
        ? problem(`No host is a writable primary: ${hosts}. Start or promote one.`)
        : [...states.values()].some(({ _tag }) => _tag === "Unavailable")
          ? warning(`${hosts}. Start the missing host, or remove it from DATABASE_URL.`)
          : ok(`${hosts}.`)
  return { check: "hosts", ...verdict }
}

/** `cluster`: the primary's; undefined where it is hidden. */
export const judgeReplicas = (
  replicas: ReadonlyArray<ReplicaFacts>,
  cluster: string | undefined,
  lagMsMax: number
): Finding => {
  const faults = replicas.flatMap(({ caughtUpMs, name, state }): ReadonlyArray<Verdict> => {
    if (state._tag === "Unavailable") {
      return [warning(`${name} is not available (${state.problem}). Start it, or remove it from DATABASE_READ_URL.`)]
    }
    if (cluster !== undefined && state.cluster !== undefined && state.cluster !== cluster) {
      return [problem(`${name} is not a replica of the database of DATABASE_URL. Name only its standbys.`)]
    }
    if (state.isWritable) return [warning(`${name} is not a standby, so nothing is read from it. Name standbys.`)]
    return caughtUpMs === undefined
      ? [warning(`${name} is more than ${lagMsMax} ms behind, so nothing is read from it. Check its disk and network.`)]
      : []
  })
  const worst = faults.find(({ severity }) => severity === "problem") ?? faults[0]
  const described = replicas.map(({ caughtUpMs, name }) => `${name} (${Math.round(caughtUpMs ?? 0)} ms)`).join(", ")
  return {
    check: "read_replicas",
    ...(worst === undefined
      ? ok(`Replay what the primary wrote: ${described}.`)
      : { severity: worst.severity, message: faults.map(({ message }) => message).join(" ") })
  }
}

export const judge = (facts: DatabaseFacts): ReadonlyArray<Finding> =>
  Object.entries({
    version: version(facts),
    fitness: facts.unfit === undefined ? ok("Encoding and rights are as required.") : problem(facts.unfit),
    collation: collation(facts),
    append_only: appendOnly(facts),
    pooler: facts.pooler === undefined ? ok("Connections are sessions of their own.") : problem(facts.pooler),
    durability: durability(facts),
    replication: replication(facts),
    slots: slots(facts),
    prepared_transactions: preparedTransactions(facts),
    connections: connections(facts),
    clock: clock(facts),
    wal_level: walLevel(facts),
    schema: schema(facts)
  }).map(([check, verdict]) => ({ check, ...verdict }))

const version = ({ serverVersion, serverVersionNumber }: DatabaseFacts) =>
  Math.floor(serverVersionNumber / 10_000) < VERSION_MIN
    ? problem(`PostgreSQL ${serverVersion} is too old. Upgrade to version ${VERSION_MIN} or newer.`)
    : ok(`PostgreSQL ${serverVersion}.`)

const collation = ({ collationActual, collationRecorded, database }: DatabaseFacts) =>
  collationRecorded === null || collationActual === null || collationRecorded === collationActual
    ? ok("The collation has the version with which the database was created.")
    : problem(
        `The collation has version ${collationActual}, and indexes were built with ${collationRecorded}. Run \`REINDEX DATABASE "${database}"\`, then \`ALTER DATABASE "${database}" REFRESH COLLATION VERSION\`.`
      )

const appendOnly = ({ changeable, role }: DatabaseFacts) =>
  changeable.length === 0
    ? ok(`The role "${role}" cannot change or delete rows of append-only tables.`)
    : warning(
        `The role "${role}" may change or delete rows of ${changeable.join(", ")}, which are append-only. Use two database roles: see docs/operations.md.`
      )

const durability = ({ fsync, fullPageWrites, synchronousCommit, synchronousStandbyNames }: DatabaseFacts) => {
  const off = Object.entries({
    fsync,
    full_page_writes: fullPageWrites,
    synchronous_commit: synchronousCommit
  }).flatMap(([name, value]) => (value === "off" ? [name] : []))
  if (off.length > 0) {
    return problem(`Off: ${off.join(", ")}. A crash loses acknowledged calls. Set ${off.join(" and ")} to on.`)
  }
  return synchronousCommit === "local" && synchronousStandbyNames !== ""
    ? warning("synchronous_commit is local, so commits do not wait for the synchronous standby. Set it to on.")
    : ok("fsync, full_page_writes and synchronous_commit are on.")
}

const replication = (facts: DatabaseFacts) => {
  const { isStandby, maySeeAll, replayLagSeconds, standbys, synchronousStandbyNames, synchronousStandbys } = facts
  if (isStandby) return problem("This server is a standby, which is read-only. Name the primary in DATABASE_URL.")
  if (standbys === 0 && synchronousStandbyNames !== "") {
    return problem(
      "No standby is connected, but synchronous_standby_names is set: commits wait for one. Start the standby."
    )
  }
  if (standbys === 0) return ok("No standby is connected.")
  if (!maySeeAll) {
    return warning(
      `${standbys} connected to replicate; their state is not visible to this role. Run \`GRANT pg_monitor TO "${facts.role}"\`.`
    )
  }
  if (synchronousStandbys === 0) {
    return synchronousStandbyNames === ""
      ? warning(
          "No standby is synchronous: a failover loses the last acknowledged calls. Set synchronous_standby_names."
        )
      : problem("No standby matches synchronous_standby_names: commits wait for one. Correct the names.")
  }
  return replayLagSeconds > REPLAY_LAG_SECONDS_MAX
    ? warning(
        `A standby is ${Math.round(replayLagSeconds)} seconds behind, and ${REPLAY_LAG_SECONDS_MAX} is the limit. Check its disk and network.`
      )
    : ok(`Standbys: ${standbys}, synchronous: ${synchronousStandbys}.`)
}

const slots = ({ inactiveSlots }: DatabaseFacts) => {
  if (inactiveSlots.length === 0) return ok("No inactive replication slot keeps WAL.")
  const kept = inactiveSlots.map(({ bytes, name }) => `${name} (${Math.ceil(bytes / MEBIBYTE)} MiB)`)
  const message = `Inactive replication slots keep WAL: ${kept.join(", ")}. Start their consumers, or drop them with \`pg_drop_replication_slot\`.`
  return inactiveSlots.some(({ bytes }) => bytes > SLOT_BYTES_MAX) ? problem(message) : warning(message)
}

const preparedTransactions = ({ preparedOld }: DatabaseFacts) =>
  preparedOld.length === 0
    ? ok("No prepared transaction was left.")
    : warning(
        `Prepared transactions older than a minute keep their locks: ${preparedOld.join(", ")}. End each with \`ROLLBACK PREPARED\` or \`COMMIT PREPARED\`.`
      )

const connections = ({ connectionLimit, connectionsMax }: DatabaseFacts) => {
  const needed = connectionsMax + CONNECTIONS_BESIDE_POOL
  return connectionLimit < needed
    ? problem(
        `A node needs ${needed} connections, and this role may open ${connectionLimit}. Raise max_connections or the limit of the role or database, or lower DATABASE_CONNECTIONS_MAX.`
      )
    : ok(`This role may open ${connectionLimit} connections, and each node needs ${needed}.`)
}

const clock = ({ clockSkewMs, clockUncertainMs }: DatabaseFacts) => {
  const rounded = Math.round(clockSkewMs)
  return Math.abs(clockSkewMs) > SKEW_MS_MAX + clockUncertainMs
    ? problem(
        `This machine's clock is ${Math.abs(rounded)} ms ${rounded > 0 ? "ahead of" : "behind"} the database's, and ${SKEW_MS_MAX} is the limit. Synchronize both with NTP.`
      )
    : ok(`This machine's clock differs from the database's by ${Math.abs(rounded)} ms.`)
}

const walLevel = ({ walLevel: level }: DatabaseFacts) =>
  level === "minimal"
    ? warning("wal_level is minimal, which rules out standbys and point-in-time recovery. Set it to replica.")
    : ok(`wal_level is ${level}.`)

const schema = ({ schemaExpected, schemaProblem, schemaVersion }: DatabaseFacts) => {
  if (schemaProblem !== undefined) return problem(schemaProblem)
  if (schemaVersion === undefined) return warning("The schema's version is not visible to this role. Run `migrate`.")
  if (schemaVersion < schemaExpected) {
    return warning(
      `The schema has version ${schemaVersion}, and this code has ${schemaExpected}. Run \`migrate\`; every start does.`
    )
  }
  return schemaVersion > schemaExpected
    ? warning(
        `The schema has version ${schemaVersion}, which is newer than this code (${schemaExpected}). Update this node.`
      )
    : ok(`The schema is up to date (${schemaVersion}).`)
}
