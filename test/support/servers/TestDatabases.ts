/**
 * The databases of a test run, and the statements that create and drop one.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isCluster, onEveryNode, settingsOf } from "./CitusCluster.ts"

export interface TestDatabases {
  /** To a database that is not the tests', as a role that may create databases. */
  readonly adminUrl: string
  /** Of every database of this run: those that are left are dropped in the end. */
  readonly prefix: string
  /** Migrated; every test that needs a database gets a copy. */
  readonly template: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly testDatabases: TestDatabases
  }
}

export const urlOf = ({ adminUrl }: Pick<TestDatabases, "adminUrl">, database: string): Redacted.Redacted => {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return Redacted.make(url.href)
}

export const connectedTo = (url: Redacted.Redacted) => Effect.provide(PgClient.layer({ url, maxConnections: 1 }))

export const createDatabase = (name: string, template: string) =>
  onEveryNode((sql) =>
    Effect.andThen(
      sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`,
      Effect.forEach(isCluster && template !== "template0" ? settingsOf(name) : [], (statement) =>
        sql.unsafe(statement)
      )
    )
  )

/** Ends what is connected to it, as background workers are, and admits nothing more: only then it can be copied. */
export const closeDatabase = (name: string) =>
  onEveryNode((sql) =>
    Effect.andThen(
      sql`ALTER DATABASE ${sql(name)} ALLOW_CONNECTIONS false`,
      sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ${name}`
    )
  )

/** Of a database that is used again afterwards: the workers of a cluster that maintain it are ended meanwhile. */
export const copyDatabase = Effect.fnUntraced(function* (from: string, to: string) {
  yield* closeDatabase(from)
  yield* createDatabase(to, from)
  yield* onEveryNode((sql) => sql`ALTER DATABASE ${sql(from)} ALLOW_CONNECTIONS true`)
})

/** The workers of a cluster that maintain a database connect to it until it is closed. */
export const dropDatabase = (name: string) =>
  closeDatabase(name).pipe(
    Effect.ignore,
    Effect.andThen(onEveryNode((sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`))
  )

export const dropDatabases = Effect.fnUntraced(function* (prefix: string) {
  const sql = yield* SqlClient.SqlClient
  const left = yield* sql<{ readonly name: string }>`
    SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${prefix})`
  yield* Effect.forEach(left, ({ name }) => dropDatabase(name))
})
