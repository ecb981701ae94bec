/**
 * /metrics: correct figures under a fixed set of labels.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { RouteMeter } from "../../adapters/http/pipeline/RequestTelemetry.ts"
import { admit } from "../../adapters/http/platform/Metrics.ts"
import { BOUNDS_S } from "../../domain/shared/Telemetry.ts"
import { metricsAccess } from "../../src/layers/Service.ts"
import { everyEndpoint } from "../support/checks/EndpointTable.ts"
import { aConsumer, aProvider, at, CATALOG, CONSUMERS, expecting, putTools, textAt } from "../support/market/Market.ts"
import { METRICS_TOKEN } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  everyMarket,
  memoryMarket,
  METER,
  receiptsOf
} from "../support/metering/Shop.ts"

const METRICS = "/metrics"

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** By the rules of the text format 0.0.4; anything else fails here. */
const parse = (text: string): ReadonlyArray<Sample> => {
  assert.isTrue(text.endsWith("\n"))
  const types = new Map<string, string>()
  const samples: Array<Sample> = []
  for (const line of text.split("\n").slice(0, -1)) {
    const comment = /^# (?<kind>HELP|TYPE) (?<name>[a-z_:][a-z0-9_:]*) (?<rest>.+)$/u.exec(line)?.groups
    if (comment !== undefined) {
      if (comment["kind"] === "TYPE") {
        assert.isFalse(types.has(comment["name"]!), line)
        types.set(comment["name"]!, comment["rest"]!)
      }
      continue
    }
    const sample = /^(?<name>[a-z_:][a-z0-9_:]*)(?:\{(?<labels>.*)\})? (?<value>-?[0-9.e+-]+)$/u.exec(line)?.groups
    assert.isDefined(sample, line)
    const name = sample["name"]!
    assert.isTrue(types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/u, "")) === "histogram", line)
    const labels = Object.fromEntries(
      [...(sample["labels"] ?? "").matchAll(/(?<key>[a-z_]+)="(?<text>[^"\\\n]*)"(?:,|$)/gu)].map((match) => [
        match.groups!["key"]!,
        match.groups!["text"]!
      ])
    )
    samples.push({ name, labels, value: Number(sample["value"]) })
  }
  return samples
}

const scrape = Effect.map(expecting(200, { path: METRICS, key: METRICS_TOKEN }), (answer) => {
  assert.strictEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
  assert.strictEqual(answer.headers["cache-control"], "no-store")
  return parse(answer.text)
})

const valueOf = (samples: ReadonlyArray<Sample>, name: string, labels: Readonly<Record<string, string>> = {}): number =>
  samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, text]) => one.labels[key] === text))
    .reduce((sum, one) => sum + one.value, 0)

it.layer(memoryMarket(), LIVE)("metrics", (it) => {
  it.effect("count requests by route and status class, and their durations", () =>
    Effect.gen(function* () {
      const requests = (samples: ReadonlyArray<Sample>, route: string, statusClass: string) =>
        valueOf(samples, "atb_http_requests_total", { route, class: statusClass })
      const before = yield* scrape
      for (let n = 0; n < 3; n++) yield* expecting(200, { path: `${CATALOG}?q=${n}` })
      yield* expecting(200, { method: "HEAD", path: CATALOG })
      yield* expecting(400, { path: `${CATALOG}?limit=x` })
      yield* expecting(422, { path: CONSUMERS, json: {} })
      yield* expecting(404, { path: "/nothing/here" })
      yield* expecting(405, { method: "DELETE", path: CATALOG })
      yield* send({ method: "BREW", path: "/coffee" })
      const after = yield* scrape
      const more = (route: string, statusClass: string) =>
        requests(after, route, statusClass) - requests(before, route, statusClass)
      assert.strictEqual(more(CATALOG, "2xx"), 4)
      assert.strictEqual(more(CATALOG, "4xx"), 1)
      assert.strictEqual(more(CONSUMERS, "4xx"), 1)
      assert.strictEqual(more("unmatched", "4xx"), 3)
      assert.strictEqual(more(METRICS, "2xx"), 1)
      const labels = { route: CATALOG, method: "GET" }
      assert.strictEqual(valueOf(after, "atb_http_request_duration_seconds_count", labels), 5)
      assert.strictEqual(valueOf(after, "atb_http_request_duration_seconds_bucket", { ...labels, le: "+Inf" }), 5)
      assert.isAbove(valueOf(after, "atb_http_request_duration_seconds_sum", labels), 0)
    })
  )

  it.effect("count calls by origin and outcome", () =>
    Effect.gen(function* () {
      const calls = (samples: ReadonlyArray<Sample>, origin: string, outcome: string) =>
        valueOf(samples, "atb_calls_total", { origin, outcome })
      const before = yield* scrape
      const server = yield* providing(fine)
      const [good, bad] = [yield* anOffer(server.url), yield* anOffer("http://127.0.0.1:1/mcp")]
      const buyer = yield* aFundedConsumer()
      for (let n = 0; n < 2; n++) assert.strictEqual((yield* buy(buyer, good)).status, 200)
      assert.strictEqual((yield* buy(buyer, bad)).status, 502)
      // No call was made: neither is counted.
      assert.strictEqual((yield* buy(buyer, good, { dry_run: true })).status, 200)
      assert.strictEqual((yield* buy(yield* aFundedConsumer(0), good)).status, 402)
      yield* expecting(201, { path: METER, key: buyer.key, json: { tool_id: good.toolId, status: "timeout" } })
      const after = yield* scrape
      const more = (origin: string, outcome: string) => calls(after, origin, outcome) - calls(before, origin, outcome)
      assert.deepStrictEqual(
        [more("proxy", "success"), more("proxy", "error"), more("meter", "timeout"), more("meter", "success")],
        [2, 1, 1, 0]
      )
    })
  )

  it.effect("never show a key, an id or a name, for any request", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { tool_name: "secret_tool" }, { name: "Secret Provider" })
      const buyer = yield* aFundedConsumer(100, { name: "Secret Agent", email: "secret@example.org" })
      yield* buy(buyer, offer)
      const [receipt] = yield* receiptsOf(buyer)
      const paths = [
        `/api/v1/market/receipts/${receipt!.receipt_id}`,
        `/api/v1/market/keys/${offer.toolId}`,
        `/secret/${buyer.key.slice(0, 30)}`,
        `/secret"} 1\nforged{a="b`,
        `${CATALOG}?q=secret`
      ]
      for (const path of paths) {
        for (const method of ["GET", "POST", "DELETE", "SECRET"]) yield* send({ method, path, key: buyer.key })
      }
      const { text } = yield* expecting(200, { path: METRICS, key: METRICS_TOKEN })
      const hidden = [buyer.key, buyer.id, offer.toolId, offer.provider.id, offer.provider.key, receipt!.receipt_id]
      for (const one of [...hidden, "secret", "Secret", "SECRET", "forged", "atb_c_", "atb_p_", "rcpt_"]) {
        assert.notInclude(text, one)
      }
      assert.notMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-/u)
      assert.notMatch(text, /[0-9a-f]{32}/u)
    })
  )

  it.effect("have no more labels than the contract has routes, for any paths", () =>
    Effect.gen(function* () {
      const labelled = (samples: ReadonlyArray<Sample>) =>
        new Set(samples.map(({ labels, name: figure }) => `${figure} ${JSON.stringify(labels)}`))
      const before = labelled(yield* scrape)
      yield* expecting(404, { path: "/asked/before" })
      for (let n = 0; n < 300; n++) yield* send({ method: n % 2 === 0 ? "GET" : `M${n}`, path: `/x${n}/${n}` })
      const after = yield* scrape
      const added = [...labelled(after)].filter((one) => !before.has(one) && !one.includes("unmatched"))
      assert.deepStrictEqual(
        added.filter((one) => one.startsWith("atb_http")),
        []
      )
      const routes = new Set(after.flatMap(({ labels }) => (labels["route"] === undefined ? [] : [labels["route"]])))
      const known = new Set([...everyEndpoint().map(({ path }) => path), "unmatched", METRICS])
      assert.deepStrictEqual(
        [...routes].filter((route) => !known.has(route)),
        []
      )
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`metrics over ${name}`, (it) => {
    it.effect("show the process, its jobs, and the database's connections", () =>
      Effect.gen(function* () {
        // A busy machine may need longer than the time that a scrape gives the database.
        const isUp = (all: ReadonlyArray<Sample>) => valueOf(all, "atb_database_up") === 1
        const samples = yield* Effect.repeat(scrape, { until: isUp, times: 60 })
        for (const figure of [
          "process_cpu_user_seconds_total",
          "process_resident_memory_bytes",
          "process_start_time_seconds",
          "nodejs_heap_size_used_bytes",
          "nodejs_eventloop_active_seconds_total"
        ]) {
          assert.isAbove(valueOf(samples, figure), 0, figure)
        }
        assert.isAbove(valueOf(samples, "atb_job_last_success_timestamp_seconds", { task: "sweeper" }), 1_700_000_000)
        assert.strictEqual(valueOf(samples, "atb_database_up"), 1)
        const connections = valueOf(samples, "atb_database_connections")
        assert.isTrue(name === "memory" ? connections === 0 : connections > 1, String(connections))
      })
    )
  })
}

it.layer(ServiceUnderTest.memory(), LIVE)("an idle service", (it) => {
  it.effect("omits routes without requests", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* putTools(provider, { tool_name: "one" })
      yield* aConsumer()
      const routes = (yield* scrape).flatMap(({ labels }) => labels["route"] ?? [])
      assert.notInclude(routes, CATALOG)
      assert.include(routes, CONSUMERS)
      assert.isNotEmpty(textAt(yield* expecting(200, { path: "/livez" }), "status"))
      assert.isUndefined(at(yield* expecting(200, { path: METRICS, key: METRICS_TOKEN })))
    })
  )
})

describe("a route's metrics", () => {
  it("count a duration in the first bucket that holds it, bounds included", () => {
    const meter = new RouteMeter("GET", "/x")
    for (const seconds of BOUNDS_S) meter.answered(200, seconds * 1_000)
    meter.answered(200, 31_000)
    meter.answered(200, 0)
    const { count, cumulative, sumSeconds } = meter.latency()
    assert.deepStrictEqual(
      cumulative,
      BOUNDS_S.map((_, n) => n + 2)
    )
    assert.strictEqual(count, BOUNDS_S.length + 2)
    assert.approximately(
      sumSeconds,
      BOUNDS_S.reduce((sum, bound) => sum + bound, 31),
      1e-9
    )
  })

  it("have five status classes", () => {
    const meter = new RouteMeter("GET", "/x")
    for (const status of [0, 100, 204, 301, 404, 599, 999, 1e6]) meter.answered(status, 1)
    assert.deepStrictEqual(
      meter.answers().map(({ count, statusClass }) => `${statusClass} ${count}`),
      ["1xx 2", "2xx 1", "3xx 1", "4xx 1", "5xx 3"]
    )
  })
})

describe("access to /metrics", () => {
  const TOKEN = "a token of the metrics, with 32 characters"
  const read = (key?: string) => send({ path: METRICS, ...(key === undefined ? {} : { key }) })
  const asked = (...keys: ReadonlyArray<string | undefined>) =>
    Effect.forEach(keys, (key) => Effect.map(read(key), ({ headers, status }) => [status, headers["www-authenticate"]]))

  it.layer(ServiceUnderTest.memory({ METRICS_TOKEN: TOKEN }), LIVE)("with a token", (it) => {
    it.effect("requires the token", () =>
      Effect.gen(function* () {
        const { key } = yield* aConsumer()
        const refused = [401, "Bearer"]
        const answers = yield* asked(undefined, key, `${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase(), TOKEN)
        assert.deepStrictEqual(answers, [refused, refused, refused, refused, refused, [200, undefined]])
        const told = yield* expecting(401, { path: METRICS })
        assert.notInclude(told.text, "atb_")
        assert.include(textAt(told, "message"), "METRICS_TOKEN")
        parse((yield* expecting(200, { path: METRICS, key: TOKEN })).text)
      })
    )
  })

  it.layer(ServiceUnderTest.memory({ PROFILE: "memory" }), LIVE)("without one", (it) => {
    it.effect("is open outside production", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* asked(undefined, "nonsense"), [
          [200, undefined],
          [200, undefined]
        ])
      })
    )
  })

  it.effect("is closed in production", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.flip(admit("closed", ""))
      assert.include(closed.message, "until the operator configures METRICS_TOKEN")
      for (const [profile, access] of [
        ["production", "closed"],
        ["embedded", "open"],
        ["memory", "open"]
      ] as const) {
        assert.strictEqual(metricsAccess({ profile, METRICS_TOKEN: undefined }), access)
      }
      assert.strictEqual((yield* Effect.exit(admit(Redacted.make(TOKEN), TOKEN)))._tag, "Success")
    })
  )
})
