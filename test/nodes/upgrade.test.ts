/**
 * An upgrade and a rollback under load, as docs/upgrade.md describes them: two builds on one database, and no call fails.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { latestVersion } from "../../migrations/index.ts"
import { callLoad, type Load } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { nextBuild } from "../support/project/NextBuild.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { tcpBalancer } from "../support/servers/TcpBalancer.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CONNECTIONS = 16

/** Adds to tables that every call reads or writes. */
const ADDITIONS = [
  "ALTER TABLE wallets ADD COLUMN note text NOT NULL DEFAULT ''",
  "ALTER TABLE receipts ADD COLUMN note text",
  "ALTER TABLE tools ADD COLUMN note text NOT NULL DEFAULT ''",
  "ALTER TABLE consumers ADD COLUMN note text NOT NULL DEFAULT ''",
  "ALTER TABLE receipt_logs ADD COLUMN note text",
  "CREATE TABLE notes (id int8 PRIMARY KEY, note text NOT NULL)"
]

const moreCalls = ({ heard }: Load) =>
  Effect.suspend(() => {
    const enough = heard.acknowledged.length + 10 * CONNECTIONS
    return until(
      "calls are answered",
      Effect.sync(() => heard.acknowledged.length >= enough)
    )
  })

it.layer(PostgresTest.layerDatabase, LIVE)("nodes of two releases on one database", (it) => {
  it.effect(
    "serve calls during an upgrade and a rollback, and none fails",
    () =>
      Effect.gen(function* () {
        const { url: database } = yield* PostgresTest
        const balancer = yield* tcpBalancer
        const url = `http://127.0.0.1:${balancer.port}`
        const settings = {
          ...OPEN_TO_LOAD,
          DATABASE_URL: Redacted.value(database),
          RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
          LOG_SIGNING_KEY: "570e".repeat(16),
          PAYMENTS: "dry_run",
          BASE_URL: url,
          SHUTDOWN_NOTICE_MS: "10000",
          LOG_LEVEL: "Warn"
        }
        const next = yield* nextBuild("notes", ADDITIONS)
        const command = [process.execPath, next] as const
        const old = yield* ready(settings)
        balancer.lead([old.port])
        const provider = yield* echoProvider
        const market = yield* loadMarket(url, provider)
        const load = yield* callLoad({ ...market, url, connections: CONNECTIONS })
        yield* moreCalls(load)

        const migrated = yield* finished(["migrate"], { settings, command })
        assert.include(migrated.output, "Applied notes.", migrated.problem)
        yield* moreCalls(load)
        assert.deepStrictEqual(load.heard.unclean, [], "an old node goes on with a newer schema")

        const newer = yield* served(settings, command)
        balancer.lead([newer.port])
        old.child.kill("SIGTERM")
        yield* moreCalls(load)
        yield* old.exit
        yield* moreCalls(load)

        const back = yield* ready(settings)
        balancer.lead([back.port])
        newer.child.kill("SIGTERM")
        yield* newer.exit
        yield* moreCalls(load)
        const heard = yield* load.stop
        assert.deepStrictEqual([heard.unclean, heard.lost, [...heard.statuses.keys()]], [[], 0, [200]])

        const evidence = { acknowledged: heard.acknowledged, provider }
        const found = yield* booksAfter(evidence).pipe(connectedTo(database))
        assert.deepStrictEqual([found.findings, found.open], [[], 0])

        // A release that changes what older ones rely on.
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`INSERT INTO agent_tool_billing_migrations (migration_id, name) VALUES (${latestVersion + 2}, 'breaking_wallets')`
        ).pipe(connectedTo(database))
        for (const name of ["serve", "migrate"]) {
          const refused = yield* finished([name], { settings })
          assert.strictEqual(refused.code, 1)
          assert.match(
            refused.problem,
            new RegExp(
              `has schema version ${latestVersion + 2}, which this release cannot use: it knows versions up to ${latestVersion}\\.`,
              "u"
            )
          )
        }
      }),
    300_000
  )
})

/** A service that runs another build. */
const served = (settings: Readonly<Record<string, string>>, [node, main]: readonly [string, string]) =>
  ready(settings, { command: [node, main, "serve"] })
