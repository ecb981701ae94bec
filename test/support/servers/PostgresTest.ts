/**
 * A migrated PostgreSQL database for this layer's users, dropped with it. Provide it to a whole file or block
 * (`it.layer(PostgresTest.layer, { timeout: "30 seconds" })`); tests inside share it and use fresh ids.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { connectedTo, createDatabase, dropDatabase, type TestDatabases, urlOf } from "./TestDatabases.ts"

const CONNECTIONS_MAX = 10

/** Options of a suite whose sockets and connections need the time of the machine, not a test clock. */
export const LIVE = { timeout: "60 seconds", excludeTestServices: true } as const

/** Both stores by name; memory alone in the quick run, which has no PostgreSQL. */
export const overBoth = <M, P>(
  memory: M,
  postgres: P
): ReadonlyArray<readonly [name: "memory" | "PostgreSQL", layer: M | P]> => [
  ["memory", memory],
  ...(hasPostgres() ? ([["PostgreSQL", postgres]] as const) : [])
]

const hasPostgres = () => (inject("testDatabases") as TestDatabases | undefined) !== undefined

export class PostgresTest extends Context.Service<
  PostgresTest,
  {
    readonly database: string
    readonly url: Redacted.Redacted
  }
>()("agent-tool-billing/test/support/PostgresTest") {
  /** The database alone, for code that opens its own connections. */
  static readonly layerDatabase: Layer.Layer<PostgresTest> = Layer.effect(
    PostgresTest,
    Effect.suspend(() => freshDatabase)
  )

  /** The database and a client of it. */
  static readonly layer: Layer.Layer<PostgresTest | PgClient.PgClient | SqlClient.SqlClient> = PgClient.layerFrom(
    Effect.suspend(() => freshClient)
  ).pipe(Layer.provideMerge(PostgresTest.layerDatabase))
}

/** Connections use the machine's time, also under a test's clock. */
const inMachineTime = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

const freshDatabase = Effect.gen(function* () {
  const databases = inject("testDatabases")
  const admin = connectedTo(urlOf(databases, new URL(databases.adminUrl).pathname.slice(1)))
  const database = `${databases.prefix}${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(database, databases.template).pipe(admin), () =>
    dropDatabase(database).pipe(admin, inMachineTime, Effect.orDie)
  )
  return PostgresTest.of({ database, url: urlOf(databases, database) })
}).pipe(inMachineTime, Effect.orDie)

const freshClient = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  return yield* PgClient.make({ url, maxConnections: CONNECTIONS_MAX })
}).pipe(inMachineTime, Effect.orDie)
