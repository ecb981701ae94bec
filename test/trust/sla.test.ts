/**
 * The figures of the proxy over HTTP, compared with a count of the single calls.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { LogStore } from "../../domain/log/LogStore.ts"
import { Sequencer } from "../../domain/log/Sequencer.ts"
import { ProviderId, ToolId } from "../../domain/shared/Ids.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { windowStart } from "../../domain/trust/Sla.ts"
import { aCall, consumerWith, settled } from "../contracts/ledgerSamples.ts"
import { at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { everyCore, memoryCore } from "../support/metering/Core.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, METER, numberAt, offerOf, problemOf } from "../support/metering/Shop.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"
import { file, respond } from "../support/trust/Disputing.ts"

let reads = 0
/** Never a cached response. */
const slaPath = (id: string) => `/api/v1/market/providers/${id}/sla?utm_read=${++reads}`
const toolPath = (id: string) => `/api/v1/market/tools/${id}/sla?utm_read=${++reads}`
const trustPath = (id: string) => `/api/v1/market/providers/${id}/trust?utm_read=${++reads}`

const untimed = ({ json }: Answer) => ({ ...(json as object), period_end: undefined })

const sequenceAll = Effect.gen(function* () {
  const { sequence } = yield* Sequencer
  while ((yield* sequence) > 0);
})

const nearestRank = (lengths: ReadonlyArray<number>, share: number) =>
  lengths.toSorted((a, b) => a - b)[Math.ceil(share * lengths.length) - 1]

it.layer(memoryCore, LIVE)("The SLA", (it) => {
  it.effect("of a tool counts its own calls only", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response, n) =>
        n > 3 ? void response.writeHead(500).end() : fine(seen, response, n)
      )
      const good = yield* anOffer(server.url, { tool_name: "good" })
      const bad = yield* offerOf(good.provider, { tool_name: "bad" })
      const buyer = yield* aFundedConsumer()
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* buy(buyer, good)).status, 200)
      for (let n = 0; n < 2; n++) assert.strictEqual((yield* buy(buyer, bad)).status, 502)
      yield* sequenceAll
      const figures = Effect.fnUntraced(function* (path: string) {
        const answer = yield* expecting(200, { path })
        const sum = listAt(answer, "by_day").reduce<number>((calls, day) => calls + Number(valueAt(day, "calls")), 0)
        assert.strictEqual(sum, numberAt(answer, "total_calls_30d"))
        return [sum, at(answer, "uptime_30d"), listAt(answer, "by_day").length]
      })
      assert.deepStrictEqual(yield* figures(toolPath(good.toolId)), [3, 100, 30])
      assert.deepStrictEqual(yield* figures(toolPath(bad.toolId)), [2, 0, 30])
      assert.deepStrictEqual((yield* figures(slaPath(good.provider.id))).slice(0, 2), [5, 60])
      const unused = yield* offerOf(good.provider, { tool_name: "unused" })
      assert.deepStrictEqual(yield* figures(toolPath(unused.toolId)), [0, null, 30])
      const unknown = yield* send({ path: toolPath(good.provider.id) })
      assert.deepStrictEqual(problemOf(unknown), [404, "NOT_FOUND"])
    })
  )

  it.effect("omits calls outside the proxy, and a provider's calls of itself", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const email = "one.person@example.org"
      const offer = yield* anOffer(url, {}, { email })
      const own = yield* aFundedConsumer(100, { email: "One.Person@example.org" })
      const other = yield* aFundedConsumer()
      yield* buy(own, offer)
      yield* buy(other, offer)
      yield* expecting(201, { path: METER, key: other.key, json: { tool_id: offer.toolId, success: true } })
      yield* sequenceAll
      const answer = yield* expecting(200, { path: slaPath(offer.provider.id) })
      assert.strictEqual(numberAt(answer, "total_calls_30d"), 1)
    })
  )

  it.effect("counts disputes, and the score those that were decided for the consumer", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url)
      const buyer = yield* aFundedConsumer()
      const bought = yield* buy(buyer, offer)
      yield* sequenceAll
      const before = yield* expecting(200, { path: trustPath(offer.provider.id) })
      const filed = yield* file(buyer, textAt(bought, "meta", "receipt_id"))
      const open = yield* expecting(200, { path: trustPath(offer.provider.id) })
      yield* respond(offer.provider, textAt(filed, "dispute_id"), { action: "accept" })
      const after = yield* expecting(200, { path: trustPath(offer.provider.id) })
      assert.deepStrictEqual(
        [before, open, after].map((answer) => [
          at(answer, "components", "disputes"),
          at(answer, "details", "total_disputes"),
          at(answer, "details", "counted_disputes_30d")
        ]),
        [
          [25, 0, 0],
          [25, 1, 0],
          [2, 1, 1]
        ]
      )
      assert.strictEqual(numberAt(yield* expecting(200, { path: slaPath(offer.provider.id) }), "disputes"), 1)
    })
  )

  it.effect("of a provider without calls is null", () =>
    Effect.gen(function* () {
      const { provider } = yield* anOffer("http://127.0.0.1:9/mcp")
      const answer = yield* expecting(200, { path: slaPath(provider.id) })
      for (const figure of ["uptime_30d", "p95_latency_ms", "error_rate_30d", "avg_latency_ms"]) {
        assert.isNull(at(answer, figure), figure)
      }
      const trust = yield* expecting(200, { path: trustPath(provider.id) })
      assert.deepStrictEqual([at(trust, "badge"), at(trust, "details", "confidence")], ["unrated", 0])
      for (const path of [slaPath, trustPath]) {
        const none = yield* send({ path: path("00000000-0000-4000-8000-000000000000") })
        assert.deepStrictEqual(problemOf(none), [404, "NOT_FOUND"])
      }
    })
  )
})

for (const [name, core] of everyCore) {
  it.layer(core, LIVE)(`The SLA over ${name}`, (it) => {
    it.effect("equals a count of the single calls", () =>
      Effect.gen(function* () {
        const server = yield* providing((seen, response, n) => {
          if (n % 6 < 2) return void response.writeHead(500).end()
          setTimeout(() => fine(seen, response, n), n % 7)
        })
        const offer = yield* anOffer(server.url)
        const buyers = [yield* aFundedConsumer(), yield* aFundedConsumer(), yield* aFundedConsumer()]
        for (let n = 0; n < 30; n++) yield* buy(buyers[n % 3]!, offer)
        yield* sequenceAll
        const store = yield* LogStore
        const calls = (yield* store.scan(undefined, 10_000))
          .map(({ receipt }) => receipt)
          .filter((receipt) => receipt.provider_id === offer.provider.id)
        const lengths = calls.map((receipt) => receipt.duration_ms)
        const successes = calls.filter(({ status }) => status === "success").length
        assert.isAbove(calls.length - successes, 0)
        const answer = yield* expecting(200, { path: slaPath(offer.provider.id) })
        assert.deepStrictEqual(
          [
            numberAt(answer, "total_calls_30d"),
            numberAt(answer, "successful_calls_30d"),
            numberAt(answer, "error_calls_30d") + numberAt(answer, "timeout_calls_30d"),
            numberAt(answer, "uptime_30d"),
            numberAt(answer, "error_rate_30d"),
            numberAt(answer, "p50_latency_ms"),
            numberAt(answer, "p95_latency_ms"),
            numberAt(answer, "p99_latency_ms")
          ],
          [
            30,
            successes,
            30 - successes,
            Math.floor((successes * 10_000) / 30) / 100,
            Math.round(((30 - successes) / 30) * 10_000) / 10_000,
            nearestRank(lengths, 0.5)!,
            nearestRank(lengths, 0.95)!,
            nearestRank(lengths, 0.99)!
          ]
        )
        const days = listAt(answer, "by_day")
        assert.isTrue(days.length === 30 || days.length === 31)
        assert.strictEqual(valueAt(days.at(-1)!, "calls"), 30)
        const trust = yield* expecting(200, { path: trustPath(offer.provider.id) })
        // Each of them paid less than a dollar.
        assert.strictEqual(at(trust, "details", "distinct_consumers_30d"), 0)
        assert.strictEqual(at(trust, "details", "total_calls_30d"), 30)
        assert.strictEqual(at(trust, "badge"), "unrated")
        const sum = ["verification", "uptime", "latency", "disputes"].reduce(
          (points, part) => points + numberAt(trust, "components", part),
          0
        )
        assert.strictEqual(numberAt(trust, "trust_score"), sum)

        // The catalog shows the score once it was refreshed.
        yield* Effect.flatMap(ProviderTrust, (one) => one.refresh)
        const listed = yield* expecting(200, { path: `/api/market/catalog?provider_id=${offer.provider.id}` })
        const [tool] = listAt(listed, "tools") as ReadonlyArray<Record<string, Record<string, unknown>>>
        assert.deepStrictEqual([tool!["provider"]!["trust_score"], tool!["provider"]!["badge"]], [sum, "unrated"])
        assert.strictEqual(tool!["stats"]!["p95_latency_ms"], nearestRank(lengths, 0.95))
        const history = listAt(yield* expecting(200, { path: trustPath(offer.provider.id) }), "history")
        assert.deepStrictEqual(
          history.map((one) => valueAt(one, "trust_score")),
          [sum]
        )
      })
    )

    it.effect("of many calls over many days equals a recomputation, and drops what is older than the window", () =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const since = windowStart(now)
        const { provider, toolId } = yield* anOffer("http://127.0.0.1:9/mcp")
        const consumerId = yield* consumerWith(1_000_000_000)
        const made: Array<{ readonly at: DateTime.Utc; readonly status: string; readonly ms: number }> = []
        for (let n = 0; n < 1_500; n++) {
          const openedAt = DateTime.subtract(now, { minutes: (n * 37) % (40 * 24 * 60) })
          const status = n % 11 === 0 ? ("error" as const) : n % 13 === 0 ? ("timeout" as const) : ("success" as const)
          const ids = { providerId: ProviderId.make(provider.id), toolId: ToolId.make(toolId) }
          const { receipt } = yield* settled(yield* aCall(consumerId, { ...ids, openedAt }), { status })
          made.push({ at: openedAt, status, ms: receipt.duration_ms })
        }
        yield* sequenceAll
        const counted = made.filter(({ at: when }) => DateTime.isGreaterThanOrEqualTo(when, since))
        const answer = yield* expecting(200, { path: slaPath(provider.id) })
        assert.strictEqual(numberAt(answer, "total_calls_30d"), counted.length)
        assert.strictEqual(
          numberAt(answer, "timeout_calls_30d"),
          counted.filter(({ status }) => status === "timeout").length
        )
        for (const day of listAt(answer, "by_day")) {
          const date = String(valueAt(day, "date"))
          const ofDay = counted.filter(({ at: when }) => DateTime.formatIsoDateUtc(when) === date)
          assert.strictEqual(valueAt(day, "calls"), ofDay.length, date)
          assert.strictEqual(valueAt(day, "errors"), ofDay.filter(({ status }) => status === "error").length, date)
        }

        // Its days are merged from time to time; one more call on such a day counts like any other.
        yield* Effect.flatMap(ProviderTrust, (one) => one.refresh)
        const again = yield* expecting(200, { path: slaPath(provider.id) })
        assert.deepStrictEqual(untimed(again), untimed(answer))
        const ids = { providerId: ProviderId.make(provider.id), toolId: ToolId.make(toolId) }
        const weekAgo = DateTime.subtract(now, { days: 7 })
        yield* settled(yield* aCall(consumerId, { ...ids, openedAt: weekAgo }))
        yield* sequenceAll
        const later = yield* expecting(200, { path: slaPath(provider.id) })
        assert.strictEqual(numberAt(later, "total_calls_30d"), counted.length + 1)
      })
    )
  })
}
