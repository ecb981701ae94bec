/**
 * Two workers behind one port: a killed one is replaced, a restart loses no call, limits hold over both, and a scrape of
 * either counts both.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { connect } from "node:net"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter, type Evidence } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD, walletOf } from "../support/load/LoadMarket.ts"
import { gatedServer } from "../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, rpc } from "../support/mcp/LegacyClients.ts"
import { aSession } from "../support/mcp/LegacyWire.ts"
import { ask } from "../support/metering/Process.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, json, ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CONNECTIONS = 32

const settingsOf = Effect.map(PostgresTest, ({ url }) => ({
  ...OPEN_TO_LOAD,
  DATABASE_URL: Redacted.value(url),
  DATABASE_CONNECTIONS_MAX: "4",
  RECEIPT_SIGNING_SECRET: "the secret that these workers share, 32 characters",
  LOG_SIGNING_KEY: "30c1e5".repeat(11).slice(0, 64),
  METRICS_TOKEN: "the token that reads these metrics, 32 characters",
  PAYMENTS: "dry_run",
  WORKERS: "2",
  LOG_LEVEL: "Info"
}))

const twoWorkers = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>> = {}) {
  const given = yield* settingsOf
  const service = yield* ready({ ...given, ...settings })
  const pids = Effect.callback<ReadonlyArray<number>>((resume) => {
    execFile("pgrep", ["-P", String(service.pid)], (_, found) =>
      resume(Effect.succeed(found.trim().split("\n").map(Number)))
    )
  })
  /** Each request over a connection of its own. */
  const scrape = Effect.promise(async () => {
    const headers = { authorization: `Bearer ${given.METRICS_TOKEN}`, connection: "close" }
    return (await fetch(`${service.url}/metrics`, { headers })).text()
  })
  return { ...service, pids, scrape }
})

const onTheDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(PostgresTest, ({ url }) => connectedTo(url)(use))

const aLoad = Effect.fnUntraced(function* (url: string) {
  const provider = yield* echoProvider
  provider.answerAfter(20)
  const market = yield* loadMarket(url, provider)
  const load = yield* callLoad({ ...market, url, connections: CONNECTIONS })
  const flows = Effect.suspend(() => {
    const enough = load.heard.acknowledged.length + 2 * CONNECTIONS
    return until(
      "calls are answered",
      Effect.sync(() => load.heard.acknowledged.length >= enough)
    )
  })
  return { provider, market, load, flows }
})

const evident = Effect.fnUntraced(function* (evidence: Evidence) {
  const found = yield* onTheDatabase(booksAfter(evidence))
  assert.deepStrictEqual(found.findings, [])
  return found
})

const valueIn = (text: string, sample: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${sample} `))
      ?.slice(sample.length)
  )

const ANSWERED = 'atb_http_requests_total{method="GET",route="/livez",class="2xx"}'

it.layer(PostgresTest.layerDatabase, { ...LIVE, timeout: "90 seconds" })("two workers under load", (it) => {
  it.effect(
    "of which one is killed lose nothing that was acknowledged, and are two again",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers()
        assert.include(service.output(), "2 workers")
        const { flows, load, market, provider } = yield* aLoad(service.url)
        yield* flows
        for (let round = 0; round < 2; round++) {
          const before = yield* service.pids
          assert.lengthOf(before, 2)
          process.kill(before[round]!, "SIGKILL")
          yield* flows
          yield* until(
            "another worker serves",
            Effect.sync(() => service.output().match(/serves in its place/gu)?.length === round + 1)
          )
          const after = yield* service.pids
          assert.lengthOf(after, 2)
          assert.notInclude(after, before[round]!)
        }
        assert.strictEqual(service.output().match(/ended \(SIGKILL\) and is replaced/gu)?.length, 2)
        yield* flows
        const heard = yield* load.stop
        assert.deepStrictEqual(heard.unclean, [])
        assert.isAbove(heard.lost, 0, "the killed worker had connections")
        yield* evident({ acknowledged: heard.acknowledged, provider })
        yield* onTheDatabase(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`UPDATE calls_open SET deadline_at = now() - interval '1 second'`
          )
        )
        yield* until(
          "the open calls of killed workers have ended",
          Effect.map(
            Effect.forEach(market.buyers, (key) => walletOf(service.url, key)),
            (wallets) => wallets.every(({ held }) => held === 0)
          )
        )
        const { open } = yield* evident({ acknowledged: heard.acknowledged, provider })
        assert.strictEqual(open, 0)
      }),
    240_000
  )
})

it.layer(PostgresTest.layerDatabase, { ...LIVE, timeout: "90 seconds" })("workers under load", (it) => {
  it.effect(
    "are restarted by SIGUSR2 without a lost call, and stopped by SIGTERM",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers()
        const { flows, load, provider } = yield* aLoad(service.url)
        yield* flows
        const before = yield* service.pids
        service.child.kill("SIGUSR2")
        yield* until(
          "the restart is over",
          Effect.sync(() => service.output().includes("The workers were restarted"))
        )
        yield* flows
        const after = yield* service.pids
        assert.lengthOf(after, 2)
        assert.isEmpty(after.filter((pid) => before.includes(pid)))
        const restarted = load.heard.acknowledged.length
        assert.deepStrictEqual([...load.heard.statuses.keys()], [200])
        assert.strictEqual(load.heard.lost, 0)

        service.child.kill("SIGTERM")
        assert.include([0, 130, 143], yield* service.exit)
        const heard = yield* load.stop
        assert.deepStrictEqual([...heard.statuses.keys()], [200], "a call is answered or not taken")
        assert.isAtLeast(heard.acknowledged.length, restarted)
        const { charged, open } = yield* evident({ acknowledged: heard.acknowledged, provider })
        assert.deepStrictEqual([open, charged], [0, heard.acknowledged.length], "every call that was made was answered")
      }),
    240_000
  )
})

/** A connection that sends the request and keeps what it hears. */
const sending = (port: number, text: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" })
      const heard = { text: "", isClosed: false }
      socket.on("data", (chunk: Buffer) => (heard.text += chunk.toString("latin1")))
      socket.on("close", () => (heard.isClosed = true))
      socket.on("error", () => {})
      socket.write(text)
      return { socket, heard }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const proxied = (key: string, toolId: string): string => {
  const body = JSON.stringify({ tool_id: toolId, input: { call: "plain" } })
  return [
    "POST /api/market/proxy HTTP/1.1",
    "host: a",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "",
    body
  ].join("\r\n")
}

const hanging = Effect.fnUntraced(function* (url: string) {
  const provider = yield* echoProvider
  const market = yield* loadMarket(url, provider, { buyers: 1, tool: { timeout_ms: 60_000 } })
  provider.answerAfter(Number.POSITIVE_INFINITY)
  return { provider, ...market }
})

const MANY = 40
const MAX = 8

it.layer(PostgresTest.layerDatabase, { ...LIVE, timeout: "90 seconds" })("two workers", (it) => {
  it.effect(
    "admit as many calls of an account as one process, and count all again when they have ended",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers({ CALLS_IN_FLIGHT_MAX: String(MAX), SHUTDOWN_GRACE_MS: "0" })
        const { buyers, provider, toolId } = yield* hanging(service.url)
        for (let round = 0; round < 2; round++) {
          const text = proxied(buyers[0]!, toolId)
          const calls = yield* Effect.all(Array.from({ length: MANY }, () => sending(service.port, text)))
          const rejected = () => calls.filter(({ heard }) => heard.text.startsWith("HTTP/1.1 429")).length
          yield* until(
            "all but the limit are rejected",
            Effect.sync(() => rejected() + provider.waiting() === MANY)
          )
          assert.deepStrictEqual([provider.waiting(), rejected()], [MAX, MANY - MAX])
          assert.include(
            calls.find(({ heard }) => heard.text.includes("429"))!.heard.text,
            `this account has ${MAX / 2}`
          )
          provider.answerAll()
          yield* until(
            "the calls have ended",
            Effect.sync(() => calls.filter(({ heard }) => heard.text.startsWith("HTTP/1.1 200")).length === MAX)
          )
        }
      }),
    120_000
  )

  it.effect(
    "admit as many connections of an address as one process",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers({ CONNECTIONS_PER_ADDRESS_MAX: String(MAX), SHUTDOWN_GRACE_MS: "0" })
        const { buyers, provider, toolId } = yield* hanging(service.url)
        const text = proxied(buyers[0]!, toolId)
        const busy = yield* Effect.all(Array.from({ length: MANY }, () => sending(service.port, text)))
        // One whose request has not arrived yet is closed for a new one.
        const closed = () => busy.filter(({ heard }) => heard.isClosed).length
        yield* until(
          "all but the limit are closed",
          Effect.sync(() => closed() + provider.waiting() === MANY)
        )
        assert.deepStrictEqual([provider.waiting(), closed()], [MAX, MANY - MAX])
        const late = yield* sending(service.port, text)
        yield* until(
          "another one is told that there is no room",
          Effect.sync(() => late.heard.isClosed)
        )
        assert.include(late.heard.text, "Too many open connections from your address")
      }),
    120_000
  )

  it.effect(
    "count the requests of an address and of a key together, and show both in each scrape",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers({ RATE_LIMIT_REGISTER_RPM: "1", RATE_LIMIT_RPM: "5" })
        const registered = yield* Effect.all(
          Array.from({ length: 12 }, (_, n) =>
            ask(
              { url: service.url },
              {
                path: "/api/market/register-consumer",
                json: { name: `Agent ${n}`, email: "agent@example.org" },
                headers: { connection: "close" }
              }
            )
          ),
          { concurrency: "unbounded" }
        )
        const admitted = registered.filter(({ status }) => status !== 429)
        assert.lengthOf(admitted, 1)
        for (let n = 0; n < 10; n++) yield* json(`${service.url}/livez`, { headers: { connection: "close" } })
        for (let n = 0; n < 6; n++) assert.strictEqual(valueIn(yield* service.scrape, ANSWERED), 10)
        const [one] = yield* service.pids
        process.kill(one!, "SIGKILL")
        yield* until(
          "the killed worker is replaced",
          Effect.map(service.pids, (pids) => pids.length === 2 && !pids.includes(one!))
        )
        assert.strictEqual(valueIn(yield* service.scrape, ANSWERED), 10, "no counter decreases")
      }),
    120_000
  )

  it.effect(
    "serve a session of an MCP client at either",
    () =>
      Effect.gen(function* () {
        const service = yield* twoWorkers()
        const gated = yield* gatedServer
        const door = yield* aLegacyDoor(service.url, gated.server.url, [aPricedTool("wait")])
        const headers = { ...(yield* aSession(door)), connection: "close" }
        for (let id = 1; id <= 8; id++) {
          const reply = yield* Effect.promise(() => rpc(door, { jsonrpc: "2.0", id, method: "prompts/list" }, headers))
          assert.strictEqual(reply.status, 200)
        }
        assert.lengthOf(
          gated.server.of("initialize").filter(({ text }) => text.includes('"wire"')),
          1
        )
      }),
    120_000
  )

  it.effect(
    "do not start where one cannot, and the service ends with its reason",
    () =>
      Effect.gen(function* () {
        const settings = yield* settingsOf
        const DATABASE_URL = "postgres://nobody:wrong@127.0.0.1:1/none"
        const away = yield* finished(["serve"], { settings: { ...settings, PORT: "0", DATABASE_URL } })
        assert.strictEqual(away.code, 1)
        assert.match(
          away.problem,
          /^The database of DATABASE_URL cannot be used: .*\nA worker ended before it was ready/u
        )
        for (const WORKERS of ["2", "auto"]) {
          const refused = yield* finished(["serve"], { settings: { PROFILE: "memory", WORKERS } })
          assert.strictEqual(refused.code, 1)
          assert.include(refused.problem, "WORKERS: only 1 with PROFILE=memory")
        }
        const wrong = yield* finished(["serve"], { settings: { WORKERS: "none" } })
        assert.include(wrong.problem, "WORKERS=none: Expected `auto` or an integer between 1 and 256")
      }),
    120_000
  )
})
