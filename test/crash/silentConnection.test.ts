/**
 * Database connections that go silent, as behind a firewall that dropped them, while new ones work: background jobs
 * and requests continue automatically, on new connections.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { ask } from "../support/metering/Process.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { aWay } from "../support/servers/TcpProxy.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

it.layer(PostgresTest.layerDatabase, { ...LIVE, timeout: "60 seconds" })("a connection that goes silent", (it) => {
  it.effect(
    "delays the log up to its limit",
    () =>
      Effect.gen(function* () {
        const database = yield* PostgresTest
        const target = new URL(Redacted.value(database.url))
        const way = yield* aWay(target.hostname, Number(target.port))
        const through = new URL(target)
        through.hostname = way.address.host
        through.port = String(way.address.port)
        const node = yield* ready({
          ...OPEN_TO_LOAD,
          DATABASE_URL: through.href,
          DATABASE_CONNECTIONS_MAX: "4",
          RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
          LOG_SIGNING_KEY: "51137ce0".repeat(8),
          PAYMENTS: "dry_run"
        })
        const provider = yield* echoProvider
        const market = yield* loadMarket(node.url, provider, { buyers: 1 })
        const call = (name: string) =>
          ask(node, {
            path: "/api/market/proxy",
            key: market.buyers[0]!,
            json: { tool_id: market.toolId, input: { call: name } },
            headers: { "idempotency-key": name }
          })
        const logged = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly many: number; readonly waiting: number }>`
            SELECT (SELECT count(*) FROM receipt_log_places)::int4 AS many,
              (SELECT coalesce(sum(cardinality(receipt_ids)), 0) FROM receipts_unlogged)::int4 AS waiting`
        ).pipe(
          Effect.map(([row]) => row!),
          connectedTo(database.url)
        )
        // Each of the silent connections may have to be detected by a round of its own.
        const hasLogged = (many: number) =>
          Effect.orDie(logged).pipe(
            Effect.repeat({
              until: (row) => row.many === many && row.waiting === 0,
              schedule: Schedule.spaced("200 millis")
            }),
            Effect.timeoutOrElse({
              duration: "180 seconds",
              orElse: () => Effect.die(new Error(`The log never had ${many} receipts: ${node.output()}`))
            })
          )
        assert.strictEqual((yield* call("keyed-before")).status, 200)
        yield* hasLogged(1)
        // The job is idle or in the middle of a statement: either way its next statement is dropped.
        way.freeze()
        yield* until(
          "a call succeeds on a new connection",
          Effect.map(Effect.orDie(call("keyed-after")), ({ status }) => status === 200)
        )
        yield* hasLogged(2)
        yield* until(
          "no job is late",
          Effect.map(Effect.orDie(ask(node, { path: "/api/v1/health" })), ({ text }) => !text.includes("Late: log"))
        )
      }),
    240_000
  )
})
