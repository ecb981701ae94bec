/**
 * Attacks on the figures of a provider: raising one's own without money, or lowering another's.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { Sequencer } from "../../domain/log/Sequencer.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { at, expecting, type Member, textAt, unasked } from "../support/market/Market.ts"
import { type Answer as Reply, json, rpcError } from "../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { memoryCore } from "../support/metering/Core.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  GRANTS,
  METER,
  type Offer,
  offerOf,
  receiptsOf
} from "../support/metering/Shop.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { file, respond } from "../support/trust/Disputing.ts"

/** Three cents: 34 calls cost $1.02, 33 cost $0.99. */
const PAID = { price_microcents: 30_000 }
const FREE = { tool_name: "free", price_microcents: 0 }
const STATS = "/api/v1/market/stats"

const failing: Reply = (_, response) => void response.writeHead(500).end()
const rejecting: Reply = (seen, response) => json(response, rpcError(seen, -32_602, "Invalid params"))

const sequenceAll = Effect.gen(function* () {
  const { sequence } = yield* Sequencer
  while ((yield* sequence) > 0);
})

const slaOf = ({ id }: Member) => expecting(200, { path: unasked(`/api/v1/market/providers/${id}/sla`) })

/** The score and all its parts, after the sequencer has counted every call. */
const standingOf = Effect.fnUntraced(function* ({ id }: Member) {
  yield* sequenceAll
  const answer = yield* expecting(200, { path: unasked(`/api/v1/market/providers/${id}/trust`) })
  const details = (name: string) => at(answer, "details", name)
  return {
    score: at(answer, "trust_score"),
    badge: at(answer, "badge"),
    components: at(answer, "components"),
    consumers: details("distinct_consumers_30d"),
    calls: details("counted_calls_30d"),
    successRate: details("success_rate"),
    p95Ms: details("p95_latency_ms"),
    disputes: details("counted_disputes_30d"),
    confidence: details("confidence")
  }
})

/** The public statistics of a tool, without those that depend on wall-clock time. */
const statsOf = Effect.fnUntraced(function* ({ toolId }: Offer) {
  const answer = yield* expecting(200, { path: unasked(`/api/v1/market/tools/${toolId}`) })
  const of = (name: string) => at(answer, "stats", name)
  return { calls: of("total_calls"), reported: of("reported_calls"), uptime: of("uptime_pct") }
})

const buyTimes = (times: number, consumer: Member, offer: Offer) =>
  Effect.forEach(Array.from({ length: times }), () => buy(consumer, offer), { concurrency: 4 })

const consumers = (count: number, cents: number) =>
  Effect.forEach(Array.from({ length: count }), () => aFundedConsumer(cents))

/** Three consumers have paid it $1.02 each: it is rated. */
const rated = Effect.fnUntraced(function* (reply: Reply = fine) {
  const server = yield* providing(reply)
  const offer = yield* anOffer(server.url, PAID)
  for (const consumer of yield* consumers(3, 200)) yield* buyTimes(34, consumer, offer)
  const before = yield* standingOf(offer.provider)
  assert.strictEqual(before.consumers, 3)
  assert.strictEqual(before.calls, 102)
  assert.notStrictEqual(before.badge, "unrated")
  return { offer, before }
})

it.layer(memoryCore, LIVE)("Attacks on figures", (it) => {
  it.effect("25 fake consumers with 20 free calls each do not raise a provider's score", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, FREE)
      const tiered = yield* offerOf(offer.provider, { ...PAID, free_tier_calls: 10 })
      const before = yield* standingOf(offer.provider)
      for (const fake of yield* consumers(25, 0)) {
        yield* buyTimes(10, fake, offer)
        yield* buyTimes(10, fake, tiered)
      }
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
      assert.strictEqual(before.badge, "unrated")
      // The catalog's score was computed from the same figures.
      yield* Effect.flatMap(ProviderTrust, ({ refresh }) => refresh)
      const listed = yield* expecting(200, { path: unasked(`/api/v1/market/tools/${offer.toolId}`) })
      assert.deepStrictEqual(
        [at(listed, "provider", "trust_score"), at(listed, "provider", "badge")],
        [before.score ?? null, "unrated"]
      )
      assert.strictEqual(at(yield* slaOf(offer.provider), "total_calls_30d"), 500)
    })
  )

  it.effect("25 fake consumers with 20 free, failing calls each do not lower a competitor's score", () =>
    Effect.gen(function* () {
      const { before, offer } = yield* rated((seen, response, n) => (n > 102 ? failing : fine)(seen, response, n))
      const free = yield* offerOf(offer.provider, { ...FREE, idempotent: false })
      for (const fake of yield* consumers(25, 0)) yield* buyTimes(20, fake, free)
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
    })
  )

  it.effect("40 disputes over free calls do not lower a score, neither open nor decided", () =>
    Effect.gen(function* () {
      const { before, offer } = yield* rated()
      const free = yield* offerOf(offer.provider, FREE)
      const ids: Array<string> = []
      for (const rival of yield* consumers(4, 0)) {
        for (const call of yield* buyTimes(10, rival, free)) {
          const filed = yield* file(rival, textAt(call, "meta", "receipt_id"))
          assert.strictEqual(filed.status, 201, filed.text)
          ids.push(textAt(filed, "dispute_id"))
        }
      }
      assert.strictEqual(ids.length, 40)
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
      for (const id of ids) yield* respond(offer.provider, id, { action: "accept" })
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
      const trust = yield* expecting(200, { path: unasked(`/api/v1/market/providers/${offer.provider.id}/trust`) })
      assert.strictEqual(at(trust, "details", "total_disputes"), 40)
    })
  )

  it.effect("20 open disputes over paid calls do not lower a score", () =>
    Effect.gen(function* () {
      const { before, offer } = yield* rated()
      const [rival] = yield* consumers(1, 100)
      for (const call of yield* buyTimes(20, rival!, offer)) {
        assert.strictEqual((yield* file(rival!, textAt(call, "meta", "receipt_id"))).status, 201)
      }
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
    })
  )

  it.effect("100 disconnected callers do not lower a score", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      const { before, offer } = yield* rated((seen, response, n) => {
        if (n <= 102) return fine(seen, response, n)
        waiting.push(() => fine(seen, response, n))
      })
      const rivals = yield* consumers(5, 100)
      yield* Effect.forEach(
        rivals,
        Effect.fnUntraced(function* (rival, round) {
          const calls = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.forkChild(buy(rival, offer)))
          yield* eventually(() => waiting.length === (round + 1) * 20)
          yield* Fiber.interruptAll(calls)
        })
      )
      assert.strictEqual(waiting.length, 100)
      for (const answer of waiting) answer()
      for (const rival of rivals) {
        yield* receiptsOf(rival).pipe(
          Effect.repeat({ until: ({ length }) => length === 20, schedule: Schedule.spaced("20 millis") })
        )
      }
      const after = yield* standingOf(offer.provider)
      assert.isAtLeast(Number(after.score), Number(before.score))
      assert.isAtLeast(Number(after.successRate), Number(before.successRate))
      assert.deepStrictEqual([after.badge, after.p95Ms], [before.badge, before.p95Ms])
      const sla = yield* slaOf(offer.provider)
      assert.deepStrictEqual([at(sla, "uptime_30d"), at(sla, "total_calls_30d")], [100, 202])
    })
  )

  it.effect("95 reported failures change no rate", () =>
    Effect.gen(function* () {
      const { before, offer } = yield* rated()
      const [stats, market] = [yield* statsOf(offer), yield* expecting(200, { path: unasked(STATS) })]
      assert.deepStrictEqual(stats, { calls: 102, reported: 0, uptime: 100 })
      const stranger = yield* aFundedConsumer(0)
      const reports = [
        { key: stranger.key, json: { tool_id: offer.toolId, success: false, duration_ms: 60_000 } },
        { key: offer.provider.key, json: { tool_id: offer.toolId, success: false } }
      ]
      for (let n = 0; n < 95; n++) yield* expecting(201, { path: METER, ...reports[n % 10 === 9 ? 1 : 0]! })
      assert.deepStrictEqual(yield* statsOf(offer), { ...stats, reported: 95 })
      assert.deepStrictEqual(yield* standingOf(offer.provider), before)
      assert.deepStrictEqual(yield* statsOf(offer), { ...stats, reported: 95 })
      const after = yield* expecting(200, { path: unasked(STATS) })
      for (const figure of ["total_tool_invocations", "successful_calls", "avg_response_time_ms"]) {
        assert.deepStrictEqual(at(after, figure), at(market, figure), figure)
      }
      assert.strictEqual(Number(at(after, "reported_calls")) - Number(at(market, "reported_calls")), 95)
      assert.strictEqual(at(yield* slaOf(offer.provider), "uptime_30d"), 100)
    })
  )

  it.effect("500 reported calls of a consumer with a grant change only revenue and reported calls", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { ...PAID, free_tier_calls: 2 })
      for (const consumer of yield* consumers(2, 100)) yield* buyTimes(3, consumer, offer)
      const figures = Effect.map(expecting(200, { path: unasked(STATS) }), (stats) =>
        ["unique_agents", "unique_tools", "free_tier_usage_pct", "last_invocation", "total_tool_invocations"].map(
          (name) => [name, at(stats, name)]
        )
      )
      const before = yield* figures
      const own = yield* aFundedConsumer(0)
      const attacker = yield* anOffer(server.url, { price_microcents: 1, free_tier_calls: 600 })
      const grant = { provider_id: attacker.provider.id, cap_microcents: 1_000_000 }
      yield* expecting(201, { path: GRANTS, key: own.key, json: grant })
      const byProvider = { key: attacker.provider.key, json: { tool_id: attacker.toolId, agent_id: own.id } }
      const byConsumer = { key: own.key, json: { tool_id: offer.toolId } }
      const reports = Array.from({ length: 500 }, (_, n) => (n < 2 ? byConsumer : byProvider))
      yield* Effect.forEach(reports, (report) => expecting(201, { path: METER, ...report }), {
        concurrency: 4,
        discard: true
      })
      assert.deepStrictEqual(yield* figures, before)
      yield* sequenceAll
      assert.deepStrictEqual(yield* figures, before)
    })
  )

  it.effect("a provider that pays itself from other email addresses pays the fee, and a dollar for each consumer", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, PAID)
      const fakes = yield* consumers(3, 200)
      const before = yield* books
      const unrated = yield* standingOf(offer.provider)
      for (const fake of fakes) yield* buyTimes(33, fake, offer)
      // $0.99 each.
      assert.deepStrictEqual(yield* standingOf(offer.provider), unrated)
      const last = yield* Effect.forEach(fakes, (fake) => buy(fake, offer))
      const lifted = yield* standingOf(offer.provider)
      assert.deepStrictEqual([lifted.consumers, lifted.calls], [3, 102])
      assert.notStrictEqual(lifted.badge, "unrated")
      // 10% of $3.06 is lost; the rest is the provider's, once its earnings mature.
      const after = yield* books
      assert.strictEqual(after.fees - before.fees, 306_000n)
      // Refunds return the money, and the consumers no longer count.
      for (const [n, fake] of fakes.entries()) {
        const filed = yield* file(fake, textAt(last[n]!, "meta", "receipt_id"))
        yield* respond(offer.provider, textAt(filed, "dispute_id"), { action: "accept" })
      }
      const refunded = yield* standingOf(offer.provider)
      assert.deepStrictEqual([refunded.consumers, refunded.calls, refunded.badge], [0, 0, "unrated"])
    })
  )

  it.effect("failures disguised as rejected input (-32602) count as failures beyond 5% of the calls", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response, n) => (n % 5 === 0 ? rejecting : fine)(seen, response, n))
      const offer = yield* anOffer(server.url, PAID)
      const fakes = yield* consumers(3, 300)
      for (const fake of fakes) yield* buyTimes(50, fake, offer)
      yield* sequenceAll
      const sla = yield* slaOf(offer.provider)
      assert.deepStrictEqual(
        [
          at(sla, "total_calls_30d"),
          at(sla, "successful_calls_30d"),
          at(sla, "error_calls_30d"),
          at(sla, "input_rejected_calls_30d"),
          at(sla, "input_rejected_rate_30d"),
          at(sla, "uptime_30d")
        ],
        // 8 of 150 are forgiven: 120 of 142 succeeded.
        [150, 120, 0, 30, 0.2, 84.5]
      )
      const { consumers: counted, successRate } = yield* standingOf(offer.provider)
      assert.strictEqual(counted, 3)
      // Of each consumer, 3 are forgiven.
      assert.isBelow(Number(successRate), 0.86)
      assert.strictEqual((yield* statsOf(offer)).uptime, 84.51)
    })
  )

  it.effect("a consumer's own mistakes are not the provider's failures", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response, n) => (n % 20 === 0 ? rejecting : fine)(seen, response, n))
      const offer = yield* anOffer(server.url, PAID)
      const [consumer] = yield* consumers(1, 300)
      yield* buyTimes(60, consumer!, offer)
      const { successRate } = yield* standingOf(offer.provider)
      const sla = yield* slaOf(offer.provider)
      assert.deepStrictEqual([successRate, at(sla, "uptime_30d"), at(sla, "input_rejected_calls_30d")], [1, 100, 3])
    })
  )
})
