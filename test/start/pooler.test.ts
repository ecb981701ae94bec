/**
 * The service behind a real PgBouncer: it works in session mode with the settings that its errors ask for, and does not
 * start in any other way.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { isPgBouncerHere, NO_PGBOUNCER, pgBouncer } from "../support/servers/PgBouncer.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, post, ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo, urlOf } from "../support/servers/TestDatabases.ts"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"

const IGNORED = { ignore_startup_parameters: "idle_in_transaction_session_timeout,lock_timeout" }

const settingsFor = (database: Redacted.Redacted) => ({
  ...OPEN_TO_LOAD,
  DATABASE_URL: Redacted.value(database),
  RECEIPT_SIGNING_SECRET: "the secret of a service behind a pooler",
  LOG_SIGNING_KEY: "b00c".repeat(16),
  PAYMENTS: "dry_run"
})

const problemBehind = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const { url } = yield* PostgresTest
  const { code, problem } = yield* finished(["serve"], { settings: settingsFor(yield* pgBouncer(url, settings)) })
  assert.strictEqual(code, 1)
  return problem
})

const pooled = isPgBouncerHere() ? describe : describe.skip

pooled(isPgBouncerHere() ? "behind PgBouncer" : `behind PgBouncer: ${NO_PGBOUNCER}`, () => {
  it.layer(PostgresTest.layerDatabase, LIVE)("a start", (it) => {
    it.effect("in transaction mode names the mode and the way out", () =>
      Effect.gen(function* () {
        const problem = yield* problemBehind({ pool_mode: "transaction", ...IGNORED })
        assert.match(problem, /gives every transaction another session.*Use pool_mode = session/u)
      })
    )
    it.effect("with server_round_robin, too", () =>
      Effect.gen(function* () {
        const problem = yield* problemBehind({
          pool_mode: "transaction",
          server_round_robin: "1",
          min_pool_size: "5",
          ...IGNORED
        })
        assert.include(problem, "Use pool_mode = session")
      })
    )
    it.effect("where settings are refused names PgBouncer's setting", () =>
      Effect.gen(function* () {
        const problem = yield* problemBehind({ pool_mode: "session" })
        assert.match(problem, /unsupported startup parameter.*ignore_startup_parameters = idle/u)
      })
    )
    it.effect("where settings are dropped names the statement that sets them", () =>
      Effect.gen(function* () {
        const problem = yield* problemBehind({ pool_mode: "session", ...IGNORED })
        assert.include(problem, "`ALTER ROLE postgres SET idle_in_transaction_session_timeout = '20s'`")
      })
    )
    it.effect("with a pool of one connection asks for a larger one", () =>
      Effect.gen(function* () {
        const problem = yield* problemBehind({ pool_mode: "session", default_pool_size: "1", ...IGNORED })
        assert.include(problem, "Enlarge its pool")
      })
    )
    it.effect("in session mode with these settings works", () =>
      Effect.gen(function* () {
        const { database, url } = yield* PostgresTest
        const role = `pooled_${randomBytes(6).toString("hex")}`
        const asAdmin = connectedTo(urlOf(inject("testDatabases"), database))
        yield* Effect.acquireRelease(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* sql`CREATE ROLE ${sql(role)} SUPERUSER LOGIN PASSWORD 'secret'`
            yield* sql`ALTER ROLE ${sql(role)} SET idle_in_transaction_session_timeout = '20s'`
            yield* sql`ALTER ROLE ${sql(role)} SET lock_timeout = '10s'`
          }).pipe(asAdmin, Effect.orDie),
          () =>
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              yield* sql`DROP OWNED BY ${sql(role)}`
              yield* sql`DROP ROLE ${sql(role)}`
            }).pipe(asAdmin, Effect.orDie)
        )
        const to = new URL(Redacted.value(url))
        to.username = role
        to.password = "secret"
        const through = yield* pgBouncer(Redacted.make(to.href), { pool_mode: "session", ...IGNORED })
        const node = yield* ready(settingsFor(through))
        const provider = yield* echoProvider
        const market = yield* loadMarket(node.url, provider, { buyers: 1 })
        const call = { tool_id: market.toolId, input: { call: "through a pooler" } }
        const { status } = yield* post(`${node.url}/api/market/proxy`, call, market.buyers[0]!)
        assert.strictEqual(status, 200)
        const lanes = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly n: bigint }>`
            SELECT count(*) AS n FROM pg_stat_activity WHERE datname = ${database} AND usename = ${role}`
        ).pipe(asAdmin)
        assert.isAtLeast(Number(lanes[0]!.n), 3)
      })
    )
  })
})
