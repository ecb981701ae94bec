/**
 * An outage of the database under load leaves a few lines that explain it, not one for every request.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { FAILURES_PER_SECOND_MAX, LINES_PER_SECOND_MAX } from "../../adapters/http/pipeline/RequestTelemetry.ts"
import { DatabaseLink } from "../support/servers/DatabaseLink.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"

const OUTAGE_MS = 5_000
const ASKERS = 32
/** 36,826 in 5 s on two quiet cores. */
const REFUSED_MIN = 1_000
/** A few each from more than a dozen jobs, requests and the change feed. */
const EVENTS_MAX = 120

/** How many requests got a 503 in this time or longer, from many clients that never wait. */
const refusedFor = (ms: number, url: string, key: string) =>
  Effect.promise(async () => {
    const until = performance.now() + ms
    let refused = 0
    const asker = async (): Promise<void> => {
      while (performance.now() < until || refused < REFUSED_MIN) {
        const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
        await response.arrayBuffer()
        if (response.status === 503) refused++
      }
    }
    await Promise.all(Array.from({ length: ASKERS }, asker))
    return refused
  })

it.layer(DatabaseLink.layer.pipe(Layer.provideMerge(PostgresTest.layerDatabase)), LIVE)("an outage", (it) => {
  it.effect(
    "leaves a few lines of each kind",
    () =>
      Effect.gen(function* () {
        const link = yield* DatabaseLink
        const node = yield* ready({
          ...OPEN_TO_LOAD,
          DATABASE_URL: Redacted.value(link.url),
          DATABASE_CONNECTIONS_MAX: "4",
          RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
          LOG_SIGNING_KEY: "901e7000".repeat(8),
          PAYMENTS: "dry_run",
          LOG_FORMAT: "json",
          ACCESS_LOG_RATIO: "0"
        })
        const market = yield* loadMarket(node.url, yield* echoProvider)
        const load = yield* callLoad({ ...market, url: node.url, connections: 64 })
        const answered = (status: number) => load.heard.statuses.get(status) ?? 0
        yield* until(
          "calls are answered",
          Effect.sync(() => answered(200) > 64)
        )
        const cutMs = performance.now()
        yield* link.cut
        // Each of these is rejected immediately, and sent again.
        const refused = yield* refusedFor(OUTAGE_MS, `${node.url}/api/v1/market/balance`, market.buyers[0]!)
        yield* until(
          "calls get a 503",
          Effect.sync(() => answered(503) > 64)
        )
        yield* link.restore
        const before = answered(200)
        yield* until(
          "calls are answered again",
          Effect.sync(() => answered(200) > before + 64)
        )
        yield* load.stop
        const seconds = Math.ceil((performance.now() - cutMs) / 1_000)
        const events = node
          .output()
          .split("\n")
          .filter((line) => line.startsWith("{") && /"level":"(?:WARN|ERROR)"/u.test(line))
        const lines = node
          .output()
          .split("\n")
          .filter((line) => line.startsWith("{"))
        yield* Effect.log({ refused, callsRefused: answered(503), warnings: events.length, lines: lines.length })
        assert.isAtLeast(events.length, 1, "it says something")
        assert.isAtMost(events.length, EVENTS_MAX, events.slice(0, 20).join("\n"))
        const linesMax = EVENTS_MAX + (seconds + 1) * (LINES_PER_SECOND_MAX + FAILURES_PER_SECOND_MAX + 1)
        assert.isAtMost(lines.length, linesMax, "also with the lines of requests with a problem")
        assert.include(node.output(), "further lines like this are omitted")
      }),
    180_000
  )
})
