/**
 * The service beside a collector: what it exports of a call, how many calls it samples, and that it works where the
 * collector hangs or is unavailable.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ASKED_PER_SECOND_MAX, makeSampler } from "../../adapters/telemetry/OtlpExport.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { type Collector, collector } from "../support/telemetry/Collector.ts"

const PROXY = "/api/market/proxy"
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const PARENT = "00f067aa0ba902b7"
/** The exit code of a process that was interrupted. */
const INTERRUPTED = 130
const TOLD = "A request was answered"

/** In a process of its own, with a tool to call and a consumer. */
const aMarket = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const service = yield* ready({
    PROFILE: "memory",
    LOG_FORMAT: "json",
    ACCESS_LOG_RATIO: "0",
    ...OPEN_TO_LOAD,
    ...settings
  })
  const provider = yield* providing(fine)
  const market = yield* loadMarket(service.url, provider, { buyers: 1 })
  const key = market.buyers[0]!
  const call = (headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async () => {
      const response = await fetch(service.url + PROXY, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify({ tool_id: market.toolId, input: {} })
      })
      const body = (await response.json()) as { readonly meta?: { readonly receipt_id: string } }
      return { status: response.status, headers: response.headers, receiptId: body.meta?.receipt_id }
    })
  const stop = Effect.gen(function* () {
    const startedMs = performance.now()
    service.child.kill("SIGTERM")
    const code = yield* service.exit
    return { code, tookMs: performance.now() - startedMs }
  })
  const forwarded = () => provider.of("tools/call").map(({ headers }) => headers)
  return { service, key, call, stop, forwarded }
})

const callsIn = (double: Collector) => double.spans().filter(({ name }) => name === `POST ${PROXY}`)

/** Lines of the log that are JSON. */
const linesOf = (output: string): ReadonlyArray<{ readonly message: unknown; readonly annotations: object }> =>
  output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))

describe("a traced call", () => {
  it.live(
    "is exported as one trace with its steps and ids, to the collector and in the log",
    () =>
      Effect.gen(function* () {
        const double = yield* collector
        const { call, forwarded, key, service, stop } = yield* aMarket({ OTLP_URL: double.url, OTLP_TRACES_RATIO: "1" })
        const answer = yield* call({
          traceparent: `00-${TRACE}-${PARENT}-00`,
          tracestate: "vendor=secret",
          baggage: "who=me",
          "x-request-id": "asked-by-me"
        })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual((yield* stop).code, INTERRUPTED)

        const [root] = callsIn(double)
        assert.deepStrictEqual([root!.traceId, root!.parentSpanId, root!.kind], [TRACE, PARENT, 2])
        const { owner_id: ownerId, ...rest } = root!.attributes
        assert.deepStrictEqual(rest, {
          "http.request.method": "POST",
          "http.route": PROXY,
          "http.response.status_code": 200,
          request_id: "asked-by-me",
          invocation_id: answer.receiptId
        })
        assert.match(String(ownerId), /^[0-9a-f-]{36}$/u)
        const steps = double.spans().filter(({ parentSpanId }) => parentSpanId === root!.spanId)
        assert.includeMembers(
          steps.map(({ name }) => name),
          ["Metering.hold", "Metering.forward", "Metering.settle"]
        )
        assert.isTrue(steps.every(({ traceId }) => traceId === TRACE))
        // The provider may add spans below the step that waits for it, and sees nothing else of the caller's trace.
        const forward = steps.find(({ name }) => name === "Metering.forward")!
        const [headers] = forwarded()
        assert.strictEqual(headers!["traceparent"], `00-${TRACE}-${forward.spanId}-01`)
        assert.deepStrictEqual([headers!["tracestate"], headers!["baggage"]], [undefined, undefined])
        assert.notInclude(JSON.stringify(headers), PARENT)

        const ids = { request_id: "asked-by-me", owner_id: ownerId, invocation_id: answer.receiptId }
        const [exported] = double.lines().filter(({ attributes }) => attributes["request_id"] === "asked-by-me")
        assert.deepStrictEqual([exported!.body, exported!.traceId], [TOLD, TRACE])
        assert.deepInclude(exported!.attributes, { ...ids, method: "POST", route: PROXY, status: 200 })
        const [line] = linesOf(service.output()).filter(
          ({ annotations }) => "request_id" in annotations && annotations.request_id === "asked-by-me"
        )
        assert.strictEqual(line!.message, TOLD)
        assert.deepInclude(line!.annotations, ids)
        assert.notInclude(double.text(), key)
      }),
    180_000
  )
})

describe("calls that are not sampled", () => {
  it.live(
    "leave no trace; of those that request one, a few a second do",
    () =>
      Effect.gen(function* () {
        const double = yield* collector
        const { call, forwarded, stop } = yield* aMarket({ OTLP_URL: double.url, OTLP_TRACES_RATIO: "0" })
        for (let n = 0; n < 20; n++) yield* call()
        yield* call({ traceparent: `00-${TRACE}-${PARENT}-00` })
        assert.strictEqual(forwarded().length, 21)
        assert.isTrue(forwarded().every((headers) => headers["traceparent"] === undefined))
        const startedMs = performance.now()
        for (let n = 0; n < 200; n++) yield* call({ traceparent: `00-${TRACE}-${PARENT}-01` })
        const seconds = (performance.now() - startedMs) / 1_000
        yield* stop
        const traced = callsIn(double)
        assert.isAtLeast(traced.length, ASKED_PER_SECOND_MAX)
        assert.isAtMost(traced.length, ASKED_PER_SECOND_MAX * (seconds + 2))
        assert.isTrue(traced.every(({ traceId }) => traceId === TRACE))
        assert.strictEqual(forwarded().filter((headers) => headers["traceparent"] !== undefined).length, traced.length)
        assert.deepStrictEqual([...new Set(double.spans().map((span) => span.traceId))], [TRACE])
      }),
    180_000
  )
})

describe("the service", () => {
  it.live.each(["hangs", "is gone"] as const)(
    "works and stops although the collector %s",
    (how) =>
      Effect.gen(function* () {
        const double = yield* collector
        double.manner = "hangs"
        const { call, service, stop } = yield* aMarket({
          OTLP_URL: how === "hangs" ? double.url : "http://127.0.0.1:1",
          OTLP_TRACES_RATIO: "1"
        })
        for (let n = 0; n < 100; n++) assert.strictEqual((yield* call()).status, 200)
        yield* Effect.sleep("1500 millis")
        const { code, tookMs } = yield* stop
        assert.strictEqual(code, INTERRUPTED, service.problem())
        // It waits for the collector for a few seconds.
        assert.isBelow(tookMs, 40_000)
      }),
    180_000
  )

  it.live(
    "requires a valid collector URL, and prints neither it nor the headers",
    () =>
      Effect.gen(function* () {
        const double = yield* collector
        const { call, service, stop } = yield* aMarket({
          OTLP_URL: `${double.url}/tenants/7`,
          OTLP_HEADERS: "authorization=Bearer let-me-in,X-Scope=market",
          OTLP_TRACES_RATIO: "1.0"
        })
        yield* call()
        yield* stop
        const paths = new Set(double.posts.map(({ path }) => path))
        assert.deepStrictEqual([...paths].toSorted(), ["/tenants/7/v1/logs", "/tenants/7/v1/traces"])
        for (const { headers } of double.posts) {
          assert.deepInclude(headers, { authorization: "Bearer let-me-in", "x-scope": "market" })
        }
        assert.notInclude(double.text() + service.output() + service.problem(), "let-me-in")
      }),
    180_000
  )
})

describe("the sampler", () => {
  const sampled = (ratio: number, askedOf: (n: number) => boolean, requests: number, seconds: number) => {
    let nowMs = 0
    let n = 0
    // Evenly distributed.
    const random = () => (n * 0.618_033_988_75) % 1
    const sampler = makeSampler({ ratio }, random, () => nowMs)
    let taken = 0
    for (; n < requests; n++) {
      nowMs = (n / requests) * seconds * 1_000
      if (sampler.takes(askedOf(n))) taken++
    }
    return taken
  }
  const nobody = () => false

  it("samples its share, none and all", () => {
    assert.strictEqual(sampled(0, nobody, 10_000, 100), 0)
    assert.approximately(sampled(0.01, nobody, 100_000, 1_000), 1_000, 30)
    assert.strictEqual(sampled(1, nobody, 1_000, 100), 1_000)
  })

  it("samples at most its limits, however many calls arrive or request it", () => {
    assert.isAtMost(sampled(1, nobody, 1_000_000, 10), 100 * 11)
    assert.isAtMost(
      sampled(0, () => true, 1_000_000, 10),
      5 * 11
    )
    assert.isAtLeast(
      sampled(0, () => true, 1_000_000, 10),
      5 * 9
    )
  })
})
