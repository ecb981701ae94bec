/**
 * A stop under load: calls in flight are answered, new ones are rejected, nothing is lost; and no hanging call delays
 * the stop beyond its limit.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import { isAlive, until } from "../support/servers/EmbeddedFolders.ts"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CONNECTIONS = 64
const GRACE_MS = 5_000
/** For what follows the grace period: late settlements, closing the log, the pool and the process. */
const SLACK_MS = 45_000

const aService = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  return yield* ready({
    ...OPEN_TO_LOAD,
    DATABASE_URL: Redacted.value(url),
    RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
    LOG_SIGNING_KEY: "570b".repeat(16),
    PAYMENTS: "dry_run",
    SHUTDOWN_GRACE_MS: String(GRACE_MS),
    LOG_LEVEL: "Warn"
  })
})

/** Whether a server accepts connections there. */
const isOpen = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => resume(Effect.succeed(true)))
    socket.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

const books = Effect.fnUntraced(function* (evidence: Parameters<typeof booksAfter>[0]) {
  const { url } = yield* PostgresTest
  return yield* booksAfter(evidence).pipe(connectedTo(url))
})

it.layer(PostgresTest.layerDatabase, LIVE)("a service that is stopped under load", (it) => {
  it.effect(
    "answers calls in flight, accepts no new ones, and leaves nothing open",
    () =>
      Effect.gen(function* () {
        const service = yield* aService
        const provider = yield* echoProvider
        provider.answerAfter(50)
        const market = yield* loadMarket(service.url, provider)
        const load = yield* callLoad({ ...market, url: service.url, connections: CONNECTIONS })
        yield* until(
          "load flows",
          Effect.sync(() => load.heard.acknowledged.length > 2 * CONNECTIONS)
        )
        const startedAt = performance.now()
        service.child.kill("SIGTERM")
        yield* until(
          "no connection is accepted",
          Effect.map(isOpen(service.port), (open) => !open)
        )
        const refusedAfterMs = Math.round(performance.now() - startedAt)
        const answeredBefore = load.heard.acknowledged.length
        const code = yield* service.exit
        const tookMs = Math.round(performance.now() - startedAt)
        const heard = yield* load.stop
        assert.include([0, 130, 143, "SIGTERM"], code)
        const answeredAfter = heard.acknowledged.length - answeredBefore
        yield* Effect.log({ refusedAfterMs, tookMs, code, answeredAfter }, Object.fromEntries(heard.statuses))
        assert.isAtMost(answeredAfter, CONNECTIONS, "a connection that is kept alive brings no other call")
        assert.isBelow(tookMs, GRACE_MS + SLACK_MS)
        assert.deepStrictEqual(heard.unclean, [])
        assert.deepStrictEqual([...heard.statuses.keys()], [200], "a call is answered or not taken")

        const { charged, findings, open } = yield* books({ acknowledged: heard.acknowledged, provider })
        assert.deepStrictEqual([findings, open], [[], 0])
        assert.strictEqual(charged, heard.acknowledged.length, "every call that was made was answered")
        assert.strictEqual(provider.waiting(), 0)
      }),
    180_000
  )

  it.effect(
    "waits for a hanging provider up to its limit, and releases the hold",
    () =>
      Effect.gen(function* () {
        const service = yield* aService
        const provider = yield* echoProvider
        const market = yield* loadMarket(service.url, provider, { buyers: 1, tool: { timeout_ms: 60_000 } })
        provider.answerAfter(Number.POSITIVE_INFINITY)
        const load = yield* callLoad({ ...market, url: service.url, connections: 2 })
        yield* until(
          "both calls hang",
          Effect.sync(() => provider.waiting() === 2)
        )
        const startedAt = performance.now()
        service.child.kill("SIGTERM")
        yield* service.exit
        const tookMs = Math.round(performance.now() - startedAt)
        yield* Effect.log({ tookMs })
        assert.isFalse(isAlive(service.pid))
        assert.isAtLeast(tookMs, GRACE_MS - 100)
        assert.isBelow(tookMs, GRACE_MS + SLACK_MS)
        yield* load.stop
        const { findings } = yield* books({ acknowledged: [], provider })
        assert.deepStrictEqual(findings, [])
        const { url } = yield* PostgresTest
        const held = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly held: bigint }>`SELECT sum(held)::int8 AS held FROM wallets`
        ).pipe(connectedTo(url))
        assert.deepStrictEqual(held, [{ held: 0n }])
      }),
    180_000
  )
})
