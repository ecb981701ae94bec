/**
 * Two nodes on one database, and the wall clock of one of them is wrong: from its start, or suddenly while it serves.
 * Nothing is deleted, swept or closed because of it, records have the database's time, and the node is not ready
 * until its clock is right again.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { ask } from "../support/metering/Process.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { json, ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CLOCK = join(import.meta.dirname, "../support/wrongClock.ts")
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A job that runs every five seconds would have run. */
const SWEEPS_MS = 7_000

const settingsOf = (database: Redacted.Redacted) => ({
  ...OPEN_TO_LOAD,
  DATABASE_URL: Redacted.value(database),
  DATABASE_CONNECTIONS_MAX: "4",
  RECEIPT_SIGNING_SECRET: "the secret that both of these nodes share",
  LOG_SIGNING_KEY: "c10cc10c".repeat(8),
  METRICS_TOKEN: "a token of the tests, 32 characters or more",
  UPSTREAM_TIMEOUT_MS: "60000",
  PAYMENTS: "dry_run",
  LOG_LEVEL: "Info"
})

class RightNode extends Context.Service<RightNode, { readonly url: string }>()(
  "agent-tool-billing/test/nodes/RightNode"
) {
  static readonly layer = Layer.effect(
    RightNode,
    Effect.flatMap(PostgresTest, ({ url }) => ready(settingsOf(url)))
  ).pipe(Layer.provideMerge(PostgresTest.layerDatabase))
}

/** A second node. Its clock is wrong from the start, or as soon as it is told to jump. */
const wrongNode = Effect.fnUntraced(function* (aheadMs: number, wrong: "start" | "later") {
  const { url: database } = yield* PostgresTest
  const node = yield* ready({
    ...settingsOf(database),
    CLOCK_AHEAD_MS: String(aheadMs),
    CLOCK_WRONG: wrong,
    NODE_OPTIONS: `--import=${CLOCK}`
  })
  return { ...node, jump: Effect.sync(() => node.child.kill("SIGUSR2")) }
})

const readiness = (url: string, status: number) =>
  until(
    `readiness is ${status}`,
    Effect.map(json(`${url}/readyz`), (answer) => answer.status === status)
  )

const clockCheck = (url: string) =>
  Effect.map(
    json(`${url}/api/v1/health`),
    ({ body }) => (body["checks"] as Readonly<Record<string, { status: string; message?: string }>>)["clock"]!
  )

/** Seconds since the epoch; each job of a node reports its last success. */
const lastSuccess = Effect.fnUntraced(function* (url: string, task: string) {
  const text = yield* Effect.promise(async () => {
    const headers = { authorization: "Bearer a token of the tests, 32 characters or more" }
    return (await fetch(`${url}/metrics`, { headers })).text()
  })
  const line = new RegExp(`^atb_job_last_success_timestamp_seconds\\{task="${task}"\\} (?<at>\\S+)$`, "mu").exec(text)
  return Number(line?.groups?.["at"])
})

const jobsGoOn = Effect.fnUntraced(function* (url: string, task: string) {
  const before = yield* lastSuccess(url, task)
  yield* until(
    `${task} comes through`,
    Effect.map(lastSuccess(url, task), (at) => at > before)
  )
})

const aMarket = Effect.gen(function* () {
  const { url } = yield* RightNode
  const provider = yield* echoProvider
  const market = yield* loadMarket(url, provider, { buyers: 1 })
  const call = (node: string, name: string, key?: string) =>
    ask(
      { url: node },
      {
        path: "/api/market/proxy",
        key: market.buyers[0]!,
        json: { tool_id: market.toolId, input: { call: name } },
        headers: key === undefined ? {} : { "idempotency-key": key }
      }
    )
  return { provider, call }
})

const onDatabase = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(PostgresTest, ({ url }) => effect.pipe(connectedTo(url)))

it.layer(RightNode.layer, { ...LIVE, timeout: "120 seconds" })("A node with a wrong clock", (it) => {
  it.effect("31 days ahead from its start: no idempotency key is pruned, no call is charged twice", () =>
    Effect.gen(function* () {
      const { call, provider } = yield* aMarket
      const first = yield* call((yield* RightNode).url, "keyed-once", "once")
      assert.strictEqual(first.status, 200, first.text)
      const node = yield* wrongNode(31 * DAY_MS, "start")
      yield* readiness(node.url, 503)
      const check = yield* clockCheck(node.url)
      assert.strictEqual(check.status, "down")
      assert.match(check.message ?? "", /This node's clock is 26784\d\d(?:\.\d)? s ahead of the database's/u)
      assert.match(node.output(), /This node's clock is .* ahead of the database's/u)
      // Its jobs, the pruning among them, would have started with it.
      yield* Effect.sleep(SWEEPS_MS)
      assert.strictEqual((yield* call(node.url, "keyed-once", "once")).text, first.text)
      yield* node.jump
      yield* readiness(node.url, 200)
      yield* jobsGoOn(node.url, "sweeper")
      const again = yield* call(node.url, "keyed-once", "once")
      assert.strictEqual(again.headers.get("idempotent-replay"), "true")
      assert.lengthOf(provider.invocations.get("keyed-once")!, 1)
    })
  )

  it.effect("in the next month already: the month is not closed", () =>
    Effect.gen(function* () {
      const { call } = yield* aMarket
      const now = new Date()
      const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
      const node = yield* wrongNode(nextMonth - now.getTime() + 9 * HOUR_MS, "start")
      assert.strictEqual((yield* call(node.url, "plain-early")).status, 200)
      yield* readiness(node.url, 503)
      yield* Effect.sleep(SWEEPS_MS)
      const closed = yield* onDatabase(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`SELECT month FROM invoice_months WHERE month = ${now.toISOString().slice(0, 7)}`
        )
      )
      assert.deepStrictEqual(closed, [])
    })
  )

  it.effect("ten minutes ahead while it serves: it does not end calls in flight on other nodes", () =>
    Effect.gen(function* () {
      const { call, provider } = yield* aMarket
      const node = yield* wrongNode(600_000, "later")
      yield* readiness(node.url, 200)
      provider.answerAfter(SWEEPS_MS + 5_000)
      const slow = yield* Effect.forkChild(call((yield* RightNode).url, "plain-slow"))
      yield* until(
        "the provider has the call",
        Effect.sync(() => provider.waiting() === 1)
      )
      yield* node.jump
      yield* readiness(node.url, 503)
      const answer = yield* Fiber.join(slow)
      assert.strictEqual(answer.status, 200, answer.text)
    })
  )

  for (const [name, aheadMs] of [
    ["an hour ahead", HOUR_MS],
    ["an hour behind", -HOUR_MS]
  ] as const) {
    it.effect(`${name} while it serves: its records have the database's time`, () =>
      Effect.gen(function* () {
        const { call } = yield* aMarket
        const node = yield* wrongNode(aheadMs, "later")
        yield* readiness(node.url, 200)
        yield* node.jump
        yield* readiness(node.url, 503)
        const answer = yield* call(node.url, "plain-timed")
        assert.strictEqual(answer.status, 200, "what arrives all the same is served, at the right time")
        const off = yield* onDatabase(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql<{ readonly seconds: number }>`
              SELECT max(abs(extract(epoch FROM now() - created_at)))::float8 AS seconds FROM receipts`
          )
        )
        assert.isBelow(off[0]!.seconds, 600)
        yield* node.jump
        yield* readiness(node.url, 200)
        yield* jobsGoOn(node.url, "sweeper")
      })
    )
  }
})
