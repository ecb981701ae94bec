/**
 * Stores on the pool of a program that embeds them, beside a table of its own in the same database.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { hostPool } from "../../../adapters/sql/shared/HostPool.ts"
import { core } from "../../../src/layers/Core.ts"
import { hostClient as storesOfHost } from "../../../src/layers/Database.ts"
import { memoryPorts } from "../../../src/layers/MemoryPorts.ts"
import { postgresLedger, postgresStores } from "../../../src/layers/PostgresStores.ts"
import { aCall } from "../../../testing/ACall.ts"
import { aConsumer } from "../../../testing/AConsumer.ts"
import { aTool } from "../../../testing/ATool.ts"
import * as ScriptedGateway from "../../../testing/ScriptedGateway.ts"
import * as ScriptedUpstream from "../../../testing/ScriptedUpstream.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"

const POOL_MAX = 3
const PRICE = 500n
const CALLS = 20

const hostClient = Effect.fnUntraced(function* (options: Partial<PgClient.PgPoolConfig> = {}) {
  const { url } = yield* PostgresTest
  return yield* PgClient.make({ url, applicationName: "host", maxConnections: POOL_MAX, ...options }).pipe(
    Effect.provide(Reactivity.layer)
  )
})

/** The settings that the stores change, on every connection of the pool. */
const settingsOf = (host: PgClient.PgClient, connections: number) =>
  Effect.forEach(
    Array.from({ length: connections }),
    () => host`
      SELECT current_setting('search_path') AS path, current_setting('lock_timeout') AS lock FROM pg_sleep(0.1)`,
    { concurrency: "unbounded" }
  ).pipe(Effect.map((all) => all.flat()))

const UNCHANGED = { path: '"$user", public', lock: "0" }

it.layer(PostgresTest.layerDatabase, LIVE)("the pool of a host", (it) => {
  it.effect("carries what the stores do for a priced call, and goes on when they close", () =>
    Effect.gen(function* () {
      const host = yield* hostClient()
      yield* host`CREATE TABLE orders (id int PRIMARY KEY)`
      const sessions = Effect.map(
        host<{ readonly name: string; readonly count: bigint }>`
          SELECT application_name AS name, count(*) AS count FROM pg_stat_activity
          WHERE datname = current_database() AND application_name <> 'host' GROUP BY 1 ORDER BY 1`,
        (rows) => rows.map(({ count, name }) => [name, Number(count)])
      )
      const ofHost = host<{ readonly count: bigint }>`
        SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'host'`

      const billing = core.pipe(
        Layer.provideMerge(Layer.merge(ScriptedGateway.layer, ScriptedUpstream.layer)),
        Layer.provideMerge(postgresStores({ client: host, schema: "billing" })),
        Layer.provideMerge(memoryPorts)
      )
      yield* Effect.gen(function* () {
        const consumer = yield* aConsumer()
        const tool = yield* aTool({ price: PRICE, freeTierCalls: 0 })
        const before = yield* consumer.available
        yield* Effect.forEach(
          Array.from({ length: CALLS }, (_, id) => id),
          (id) => Effect.andThen(aCall(consumer, tool), host`INSERT INTO orders VALUES (${id})`),
          { concurrency: "unbounded", discard: true }
        )
        assert.strictEqual(before - (yield* consumer.available), BigInt(CALLS) * PRICE)
        assert.isAtMost(Number((yield* ofHost)[0]!.count), POOL_MAX)
        assert.deepStrictEqual(yield* sessions, [
          ["agent-tool-billing calls", 1],
          ["agent-tool-billing change feed", 1]
        ])
        assert.strictEqual(yield* SqlClient.SqlClient, host as SqlClient.SqlClient)
      }).pipe(Effect.provide(Layer.orDie(billing)))

      assert.deepStrictEqual(
        yield* sessions.pipe(
          Effect.repeat({ until: (left) => left.length === 0, schedule: Schedule.spaced("20 millis") })
        ),
        []
      )
      assert.deepStrictEqual(
        yield* settingsOf(host, POOL_MAX),
        Array.from({ length: POOL_MAX }, () => UNCHANGED)
      )
      assert.deepStrictEqual(yield* host`SELECT count(*)::int AS orders FROM orders`, [{ orders: CALLS }])
      assert.deepStrictEqual(yield* host`SELECT count(*)::int AS calls FROM billing.receipts`, [{ calls: CALLS }])
    })
  )

  it.effect("gets a connection back as it was, whatever happened on it", () =>
    Effect.gen(function* () {
      const host = yield* hostClient({ maxConnections: 1 })
      const stores = yield* Effect.provide(
        hostPool(host, { search_path: "elsewhere", lock_timeout: "1ms" }),
        Reactivity.layer
      )
      const path = stores`SELECT current_setting('search_path') AS path, current_setting('lock_timeout') AS lock`
      assert.deepStrictEqual(yield* path, [{ path: "elsewhere", lock: "1ms" }])
      assert.deepStrictEqual(yield* settingsOf(host, 1), [UNCHANGED])

      yield* Effect.flip(stores`SELECT 1 / 0`)
      assert.deepStrictEqual(yield* settingsOf(host, 1), [UNCHANGED])

      yield* Effect.flip(stores.withTransaction(Effect.andThen(path, stores`SELECT 1 / 0`)))
      assert.deepStrictEqual(yield* settingsOf(host, 1), [UNCHANGED])

      // A transaction whose failure was caught cannot commit.
      const swallowed = Effect.ignore(stores`SELECT 1 / 0`)
      assert.include(String(yield* Effect.flip(stores.withTransaction(swallowed))), "aborted transaction")

      const late = yield* Effect.forkChild(stores`SELECT pg_sleep(30)`, { startImmediately: true })
      yield* Effect.sleep("100 millis")
      yield* Fiber.interrupt(late)
      assert.deepStrictEqual(yield* settingsOf(host, 1), [UNCHANGED])
    })
  )

  it.effect("lends connections that commit durably and wait, whatever its own settings are", () =>
    Effect.gen(function* () {
      const own = { synchronous_commit: "off", statement_timeout: "7s", default_transaction_isolation: "serializable" }
      const host = yield* hostClient({ maxConnections: 1, startupParameters: own })
      const read = (sql: SqlClient.SqlClient) => sql<typeof own>`
        SELECT current_setting('synchronous_commit') AS synchronous_commit,
          current_setting('statement_timeout') AS statement_timeout,
          current_setting('default_transaction_isolation') AS default_transaction_isolation`
      const lent = yield* Effect.provide(Effect.flatMap(SqlClient.SqlClient, read), storesOfHost({ client: host }))
      const safe = { synchronous_commit: "on", statement_timeout: "0", default_transaction_isolation: "read committed" }
      assert.deepStrictEqual(lent, [safe])
      assert.deepStrictEqual(yield* read(host), [own])
    })
  )

  it.effect("is rejected if it decodes values its own way", () =>
    Effect.gen(function* () {
      const host = yield* hostClient({ types: PgTypes.makeRegistry() })
      const rejected = yield* Effect.flip(Effect.scoped(Layer.build(postgresLedger({ client: host }))))
      assert.include(
        rejected.message,
        "The database of `client` cannot be used: it decodes values by `types` of its own."
      )
    })
  )
})
