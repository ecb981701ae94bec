/**
 * A restored database that lost the tail of the log, in processes: a node reads from LOG_STATE_FILE what was signed,
 * stops the log and reports it; `begin-log` starts a new one beside the running node, which continues with it.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { inject } from "vitest"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { ask, type Reply } from "../support/metering/Process.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, ready, temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo, copyDatabase, dropDatabase, urlOf } from "../support/servers/TestDatabases.ts"

const HOME = "market.example/api/v1/market/log"
const LOST = "the database has 2 of its receipts, but a tree of 5 receipts was signed"

interface OneLog {
  readonly log: number
  readonly origin: string
  readonly tree_size: number
  readonly statement?: string
}

type Node = Effect.Success<ReturnType<typeof ready>>

const logsOf = (node: Node) =>
  Effect.map(
    Effect.orDie(ask(node, { path: "/api/v1/market/log" })),
    ({ json }) => (json as { readonly logs: ReadonlyArray<OneLog> }).logs
  )

const hasLogged = (node: Node, log: number, size: number) =>
  until(
    `log ${log} has ${size} receipts`,
    Effect.map(logsOf(node), (logs) => logs.find((one) => one.log === log)?.tree_size === size)
  )

const logCheck = (node: Node) =>
  Effect.map(Effect.orDie(ask(node, { path: "/api/v1/health" })), (reply: Reply) => {
    const { checks } = reply.json as {
      readonly checks: { readonly log: { readonly status: string; readonly message?: string } }
    }
    return { http: reply.status, ...checks.log }
  })

/** The database as it is now, under another name: what a restore would return. */
const copyOf = Effect.fnUntraced(function* (database: string) {
  const databases = inject("testDatabases")
  const admin = connectedTo(urlOf(databases, new URL(databases.adminUrl).pathname.slice(1)))
  const copy = `${database}_restored`
  yield* Effect.acquireRelease(Effect.orDie(copyDatabase(database, copy).pipe(admin)), () =>
    dropDatabase(copy).pipe(admin, Effect.orDie)
  )
  return urlOf(databases, copy)
})

it.layer(PostgresTest.layerDatabase, LIVE)("a database that lost the tail of the log", (it) => {
  it.effect(
    "stops the log, and continues with a new one that begin-log started with a signed statement",
    () =>
      Effect.gen(function* () {
        const { database, url } = yield* PostgresTest
        const file = join(yield* temporaryFolder, "state", "signed-tree")
        const on = (databaseUrl: Redacted.Redacted) => ({
          ...OPEN_TO_LOAD,
          DATABASE_URL: Redacted.value(databaseUrl),
          BASE_URL: "https://market.example",
          RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
          LOG_SIGNING_KEY: "10570a11".repeat(8),
          LOG_STATE_FILE: file,
          PAYMENTS: "dry_run"
        })
        const first = yield* ready(on(url))
        const market = yield* loadMarket(first.url, yield* echoProvider, { buyers: 1 })
        const call = Effect.fnUntraced(function* (node: Node, name: string) {
          const reply = yield* Effect.orDie(
            ask(node, {
              path: "/api/market/proxy",
              key: market.buyers[0]!,
              json: { tool_id: market.toolId, input: { call: name } },
              headers: { "idempotency-key": name }
            })
          )
          assert.strictEqual(reply.status, 200, reply.text)
        })
        yield* Effect.forEach(["keyed-1", "keyed-2"], (name) => call(first, name))
        yield* hasLogged(first, 1, 2)
        first.child.kill("SIGTERM")
        yield* first.exit
        const restored = yield* copyOf(database)
        const second = yield* ready(on(url))
        yield* Effect.forEach(["keyed-3", "keyed-4", "keyed-5"], (name) => call(second, name))
        yield* hasLogged(second, 1, 5)
        const isKept = (origin: string, size: number) => readFileSync(file, "utf8").startsWith(`${origin}\n${size}\n`)
        yield* until(
          "the file has the signed tree",
          Effect.sync(() => isKept(`${HOME}/1`, 5))
        )
        second.child.kill("SIGKILL")
        yield* second.exit

        const third = yield* ready(on(restored))
        yield* until(
          "health says that the log is stopped",
          Effect.map(logCheck(third), ({ status }) => status === "degraded")
        )
        assert.deepInclude(yield* logCheck(third), { http: 200, message: `The log ${HOME}/1 is stopped: ${LOST}.` })
        assert.include(third.output() + third.problem(), "start a new log with `begin-log`")
        yield* call(third, "keyed-6")
        yield* Effect.sleep("2 seconds")
        assert.strictEqual((yield* logsOf(third))[0]!.tree_size, 2, "a stopped log takes no receipt")
        const [waiting] = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql<{ readonly many: number }>`SELECT sum(cardinality(receipt_ids))::int4 AS many FROM receipts_unlogged`
        ).pipe(connectedTo(restored), Effect.orDie)
        assert.strictEqual(waiting!.many, 1)
        assert.isTrue(isKept(`${HOME}/1`, 5), "nothing smaller was signed")

        const begun = yield* finished(["begin-log"], { settings: on(restored) })
        assert.strictEqual(begun.code, 0, begun.output + begun.problem)
        assert.include(begun.output, `Started the log ${HOME}/2. Publish its statement:`)
        for (const line of [
          `log: ${HOME}/2`,
          `previous: ${HOME}/1`,
          `signed: ${HOME}/1 5 `,
          "kept: 2 ",
          `reason: ${LOST}`
        ])
          assert.include(begun.output, `\n${line}`)
        yield* hasLogged(third, 2, 1)
        yield* call(third, "keyed-7")
        yield* hasLogged(third, 2, 2)
        const [old, next] = yield* logsOf(third)
        assert.strictEqual(old!.tree_size, 2)
        assert.isTrue(begun.output.includes(next!.statement!), "the statement is published")
        assert.match(next!.statement!, /\n\n— market\.example\S* \S+\n$/u)
        yield* until(
          "health is ok again",
          Effect.map(logCheck(third), ({ status }) => status === "ok")
        )
        const again = yield* finished(["begin-log"], { settings: on(restored) })
        assert.strictEqual(again.code, 1)
        assert.include(again.problem, `The log ${HOME}/2 is not stopped`)

        yield* until(
          "the file follows",
          Effect.sync(() => isKept(`${HOME}/2`, 2))
        )
        third.child.kill("SIGTERM")
        yield* third.exit
        const fourth = yield* ready(on(restored))
        yield* call(fourth, "keyed-8")
        yield* hasLogged(fourth, 2, 3)
        fourth.child.kill("SIGTERM")
        yield* fourth.exit
        const proven = yield* finished(["fsck"], { settings: on(restored) })
        assert.strictEqual(proven.code, 0, proven.output + proven.problem)
      }),
    480_000
  )
})
