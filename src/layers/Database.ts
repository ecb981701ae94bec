/**
 * The PostgreSQL of a profile: its connections, and the migration of its schema.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { recordDefaultFee } from "../../adapters/sql/accounts/FeeAudit.ts"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { type DatabaseHost, type DatabaseRole, parseDatabaseUrl } from "../../adapters/sql/primary/DatabaseUrl.ts"
import { followPrimary, type HostRoute, makeHostRoute } from "../../adapters/sql/primary/PrimaryWatch.ts"
import { followReplica, rejectStrangers, walPosition } from "../../adapters/sql/replica/ReplicaWatch.ts"
import {
  checkDatabase,
  checkSession,
  currentRole,
  DatabaseUnfit,
  grantTo,
  warnIfChangeable
} from "../../adapters/sql/shared/DatabaseCheck.ts"
import { hostPool } from "../../adapters/sql/shared/HostPool.ts"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import { ReadOnlyServer } from "../../adapters/sql/shared/StoreSql.ts"
import type { ReadReplica } from "../../domain/platform/ReadReplica.ts"
import * as migrations from "../../migrations/index.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export interface Database {
  readonly url: Redacted.Redacted
  /** Its role owns the tables and migrates. Default: `url`. */
  readonly ownerUrl?: Redacted.Redacted | undefined
  /** Names the database's read replicas. */
  readonly readUrl?: Redacted.Redacted | undefined
  readonly connectionsMax: number
  /** A schema of its own for all tables, in a database that other programs use too. It is created. Default: the role's. */
  readonly schema?: string | undefined
  /** The time that a statement waits for a lock; 0: as long as it takes. Default: 10 seconds. */
  readonly lockTimeoutMs?: number | undefined
}

/** The pool of a program that has one already. */
export interface HostDatabase extends Pick<Database, "lockTimeoutMs" | "ownerUrl" | "schema"> {
  /** Decodes values as `PgTypes` does by default. Stays open when the stores close. */
  readonly client: PgClient.PgClient
}

/** Rows that another session keeps locked must not stop a round of background work, whose other items would wait too. */
const LOCK_TIMEOUT_MS = 10_000

/** Connects to the primary among the hosts, also after it changes. */
export const client = (database: Database) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const [first, ...others] = yield* hostsOf(database.url, "primary")
      const route = others.length === 0 ? makeHostRoute(first) : yield* followPrimary([first, ...others])
      return yield* pool(first, route, database)
    })
  ).pipe(Layer.provide(Reactivity.layer))

type Pool = Pick<Database, "connectionsMax" | "lockTimeoutMs" | "schema">

/** Connects to a read replica of the primary that is in the context. */
export const replicaClient = (url: Redacted.Redacted, database: Pool, replica: ReadReplica) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const hosts = yield* Effect.mapError(hostsOf(url, "replica"), ofReadUrl)
      const position = yield* walPosition
      yield* Effect.mapError(rejectStrangers(hosts), ofReadUrl)
      return yield* pool(hosts[0], yield* followReplica(hosts, position, replica), database)
    })
  ).pipe(Layer.provide(Reactivity.layer))

const ofReadUrl = ({ problem }: DatabaseUnfit) => new DatabaseUnfit({ problem, setting: "DATABASE_READ_URL" })

const hostsOf = (url: Redacted.Redacted, role: DatabaseRole) =>
  Effect.mapError(
    Effect.fromResult(parseDatabaseUrl(Redacted.value(url), role)),
    (problem) => new DatabaseUnfit({ problem: `${problem}.` })
  )

/** Plain, so that a pooler and `ALTER ROLE` show it as it was sent. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/u

/** The settings of every session in which the stores work. */
const sessionSettings = Effect.fnUntraced(function* (
  { lockTimeoutMs = LOCK_TIMEOUT_MS, schema }: Pick<Database, "lockTimeoutMs" | "schema">,
  isHosts = false
) {
  if (schema !== undefined && !SCHEMA_NAME.test(schema)) {
    const problem = `\`schema\` must be 1 to 63 lowercase letters, digits and \`_\`, and not begin with a digit. \`${schema}\` was given.`
    return yield* new DatabaseUnfit({ problem })
  }
  return {
    // A node that hangs or is disconnected in a transaction must not keep its locks, for example on wallets.
    idle_in_transaction_session_timeout: "20s",
    // `public` is left out, where the tables of other programs may have the same names.
    ...(schema === undefined ? {} : { search_path: schema }),
    // A host program may have others: commits that do not wait for the disk, or an end to statements that take long.
    ...(isHosts
      ? { synchronous_commit: "on", statement_timeout: "0", default_transaction_isolation: "read committed" }
      : {}),
    lock_timeout: `${lockTimeoutMs}ms`
  }
})

const pool = Effect.fnUntraced(function* ({ url }: DatabaseHost, route: HostRoute, database: Pool) {
  const postgres = yield* PgClient.make({
    url,
    // TLS checks the certificate for the host of the connection.
    get host() {
      return route.current.host
    },
    stream: route.stream,
    maxConnections: database.connectionsMax,
    applicationName: "agent-tool-billing",
    startupParameters: yield* sessionSettings(database)
  })
  return Context.make(PgClient.PgClient, postgres).pipe(
    Context.add(SqlClient.SqlClient, postgres),
    Context.add(ReadOnlyServer, { reconnect: route.reconnect })
  )
})

/** Works on the pool of a host program. */
export const hostClient = ({ client: host, ...session }: HostDatabase) =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      if (host.config.types !== undefined) {
        const problem = "it decodes values by `types` of its own. Give one without `types`."
        return yield* new DatabaseUnfit({ problem, setting: "`client`" })
      }
      return yield* hostPool(host, yield* sessionSettings(session, true))
    })
  )

/** Uses one connection that waits as long as it takes: nodes that start together wait for the migrations of the first. */
const withoutLockTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>, host: HostDatabase | undefined) =>
  host === undefined
    ? Effect.flatMap(PgClient.PgClient, ({ config }) => {
        const patient = { ...config.startupParameters, lock_timeout: "0" }
        return Effect.provide(effect, PgClient.layer({ ...config, maxConnections: 1, startupParameters: patient }))
      })
    : Effect.provide(effect, hostClient({ ...host, lockTimeoutMs: 0 }))

/** Migrates as the role that owns the tables, if there is a separate one. Returns what was applied. */
export const migrateSchema = (database: Partial<Database> | HostDatabase) =>
  Effect.andThen(checkSession, migrated(database, "client" in database ? database : undefined))

/** Any number that no other lock of the service has. */
const SCHEMA_LOCK = 7_301_118

/** A role without the right to create it needs one that exists. */
const createSchema = Effect.fnUntraced(function* (schema: string | undefined) {
  if (schema === undefined) return
  const sql = yield* SqlClient.SqlClient
  const create = Effect.gen(function* () {
    // One of the nodes that start together creates it: IF NOT EXISTS alone may fail.
    yield* sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`
    const [found] = yield* sql<{ readonly exists: boolean }>`
      SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = ${schema}) AS "exists"`
    if (!found!.exists) yield* sql`CREATE SCHEMA ${sql(schema)}`
  })
  yield* sql.withTransaction(create)
})

const migrated = ({ ownerUrl, schema }: Partial<Database>, host: HostDatabase | undefined) =>
  ownerUrl === undefined
    ? withoutLockTimeout(Effect.andThen(Effect.andThen(createSchema(schema), checkDatabase), migrations.run), host)
    : withoutLockTimeout(
        Effect.gen(function* () {
          yield* migrations.rejectForeignSchema
          const role = yield* currentRole
          return yield* Effect.gen(function* () {
            yield* createSchema(schema)
            yield* checkDatabase
            const applied = yield* migrations.run
            yield* grantTo(role)
            return applied
          }).pipe(
            Effect.provide(client({ url: ownerUrl, connectionsMax: 1, schema, lockTimeoutMs: 0 })),
            Effect.mapError((error) => Object.assign(error, { setting: "MIGRATION_DATABASE_URL" }))
          )
        }),
        host
      )

/** Runs before the service opens. */
export const prepareSchema = (database: Database | HostDatabase) =>
  Effect.all([migrateSchema(database), warnIfChangeable, recordDefaultFee], { discard: true })

const COMMAND_CONNECTIONS = 2

/** `Database.ownerUrl` of the connection. */
export class OwnerUrl extends Context.Service<OwnerUrl, Redacted.Redacted | undefined>()(
  "agent-tool-billing/src/layers/OwnerUrl"
) {}

/** Serves commands that need nothing else. */
export const database = (config: AppConfig) => PostgresTime.layer.pipe(Layer.provideMerge(connection(config)))

const connection = (config: AppConfig) =>
  config.profile === "embedded"
    ? Layer.unwrap(
        Effect.map(EmbeddedPostgres, ({ ownerUrl, url }) =>
          connectionTo({ url, ownerUrl, connectionsMax: COMMAND_CONNECTIONS })
        )
      ).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") })))
    : connectionTo({
        url: config.DATABASE_URL!,
        ownerUrl: config.MIGRATION_DATABASE_URL,
        connectionsMax: COMMAND_CONNECTIONS
      })

const connectionTo = (to: Database) => Layer.merge(client(to), Layer.succeed(OwnerUrl, to.ownerUrl))
