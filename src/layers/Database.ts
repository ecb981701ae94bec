/**
 * The PostgreSQL of a profile: its connections, and the migration of its schema.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { parseDatabaseUrl } from "../../adapters/sql/primary/DatabaseUrl.ts"
import { makePrimaryRoute } from "../../adapters/sql/primary/PrimaryRoute.ts"
import { followPrimary } from "../../adapters/sql/primary/PrimaryWatch.ts"
import { checkDatabase, DatabaseUnfit } from "../../adapters/sql/shared/DatabaseCheck.ts"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import { checkSession } from "../../adapters/sql/shared/SessionCheck.ts"
import { currentRole, grantTo, warnIfChangeable } from "../../adapters/sql/shared/ServiceRole.ts"
import { ReadOnlyServer } from "../../adapters/sql/shared/StoreSql.ts"
import * as migrations from "../../migrations/index.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export interface Database {
  readonly url: Redacted.Redacted
  /** Of the role that owns the tables and migrates. Default: the role of `url`. */
  readonly ownerUrl?: Redacted.Redacted | undefined
  readonly connectionsMax: number
}

/** A node that hangs or is disconnected in a transaction must not keep its locks, for example on wallets. */
const startupParameters = { idle_in_transaction_session_timeout: "20s" }

/** Rows that another session keeps locked must not stop a round of background work, whose other items would wait too. */
export const LockTimeoutMs = Context.Reference<number>("agent-tool-billing/src/layers/LockTimeoutMs", {
  defaultValue: () => 10_000
})

/** With several hosts: to the primary among them, also after it changes. */
export const client = ({ connectionsMax, url }: Database) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const lockTimeoutMs = yield* LockTimeoutMs
      const parsed = parseDatabaseUrl(Redacted.value(url))
      if (Result.isFailure(parsed)) return yield* new DatabaseUnfit({ problem: `${parsed.failure}.` })
      const [first, ...others] = parsed.success
      const route = others.length === 0 ? makePrimaryRoute(first) : yield* followPrimary([first, ...others])
      const postgres = yield* PgClient.make({
        url: first.url,
        // TLS checks the certificate for the host of the connection.
        get host() {
          return route.current.host
        },
        stream: route.stream,
        maxConnections: connectionsMax,
        applicationName: "agent-tool-billing",
        startupParameters: { ...startupParameters, lock_timeout: `${lockTimeoutMs}ms` }
      })
      return Context.make(PgClient.PgClient, postgres).pipe(
        Context.add(SqlClient.SqlClient, postgres),
        Context.add(ReadOnlyServer, { reconnect: route.reconnect })
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** Over one connection that waits as long as it takes: nodes that start together wait for the migrations of the first. */
const withoutLockTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(PgClient.PgClient, ({ config }) => {
    const patient = { ...config.startupParameters, lock_timeout: "0" }
    return Effect.provide(effect, PgClient.layer({ ...config, maxConnections: 1, startupParameters: patient }))
  })

/** Migrates as the role that owns the tables, if there is a separate one. Returns what was applied. */
export const migrateAs = (ownerUrl: Redacted.Redacted | undefined) => Effect.andThen(checkSession, migrated(ownerUrl))

const migrated = (ownerUrl: Redacted.Redacted | undefined) =>
  ownerUrl === undefined
    ? withoutLockTimeout(Effect.andThen(checkDatabase, migrations.run))
    : withoutLockTimeout(
        Effect.gen(function* () {
          yield* migrations.rejectForeignSchema
          const role = yield* currentRole
          return yield* Effect.gen(function* () {
            yield* checkDatabase
            const applied = yield* migrations.run
            yield* grantTo(role)
            return applied
          }).pipe(
            Effect.provide(client({ url: ownerUrl, connectionsMax: 1 })),
            Effect.provideService(LockTimeoutMs, 0),
            Effect.mapError((error) => Object.assign(error, { setting: "MIGRATION_DATABASE_URL" }))
          )
        })
      )

/** Before the service opens. */
export const prepareSchema = (ownerUrl: Redacted.Redacted | undefined) =>
  Effect.andThen(migrateAs(ownerUrl), warnIfChangeable)

const COMMAND_CONNECTIONS = 2

/** `Database.ownerUrl` of the connection. */
export const OwnerUrl = Context.Reference<Redacted.Redacted | undefined>("agent-tool-billing/src/layers/OwnerUrl", {
  defaultValue: () => undefined
})

/** For commands that need nothing else. */
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
