/**
 * An account's usage: the same on both paths; totals of a whole period; every day, also without calls.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  aConsumer,
  aProvider,
  at,
  expecting,
  listAt,
  type Member,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { earlier, when, later } from "../../support/metering/TestTime.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  memoryMarket,
  FEE,
  METER,
  numberAt,
  type Offer,
  offerOf,
  PRICE,
  problemOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const USAGE = "/api/v1/market/usage"
const OLD_USAGE = "/api/market/usage"
const NOW = "2026-12-10T12:30:00.000Z"
const nowhere = "http://127.0.0.1:9/mcp"

const usageOf = (owner: Member, query = "") => expecting(200, { path: `${USAGE}${query}`, key: owner.key })
const summaryOf = (owner: Member, query = "") => expecting(200, { path: `${USAGE}/summary${query}`, key: owner.key })

const meter = (consumer: Member, { toolId }: Offer, more: Readonly<Record<string, unknown>> = {}) =>
  expecting(201, { path: METER, key: consumer.key, json: { tool_id: toolId, ...more } })

const idsOf = (answer: Answer) => listAt(answer, "records").map((record) => valueAt(record, "receipt_id"))

it.layer(memoryMarket(), LIVE)("Usage", (it) => {
  it.effect("is the same on both of its paths, for consumer and provider", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, callOf(consumer, offer))
      yield* meter(consumer, offer, { success: false })
      for (const { key } of [consumer, offer.provider]) {
        for (const query of [
          "",
          "?period=24h",
          "?period=90d&limit=1",
          "?status=error&limit=200&offset=0",
          "/summary",
          "/summary?period=7d"
        ]) {
          const [one, other] = [
            yield* expecting(200, { path: `${USAGE}${query}`, key }),
            yield* expecting(200, { path: `${OLD_USAGE}${query}`, key })
          ]
          assert.strictEqual(one.text, other.text, query)
        }
      }
      for (const path of [USAGE, OLD_USAGE, `${USAGE}/summary`, `${OLD_USAGE}/summary`]) {
        assert.deepStrictEqual(problemOf(yield* send({ path })), [401, "UNAUTHORIZED"])
        assert.deepStrictEqual(problemOf(yield* send({ path: `${path}?period=1y`, key: consumer.key })), [
          400,
          "BAD_REQUEST"
        ])
      }
      for (const query of ["limit=0", "limit=-1", "offset=x", "status=ok", "tool_id=1", "cursor=%20"]) {
        const refused = yield* send({ path: `${USAGE}?${query}`, key: consumer.key })
        assert.deepStrictEqual(problemOf(refused), [400, "BAD_REQUEST"], query)
        assert.include(textAt(refused, "message"), query.split("=")[0]!)
      }
    })
  )

  it.effect("without calls is zeros, with every day of the period", () =>
    Effect.gen(function* () {
      for (const owner of [yield* aConsumer(), yield* aProvider()]) {
        assert.deepStrictEqual(at(yield* usageOf(owner), "summary"), {
          total_calls: 0,
          successful_calls: 0,
          error_rate: 0,
          total_cost_cents: 0,
          total_cost_microcents: 0,
          total_cost: "$0.00",
          avg_latency_ms: null
        })
        for (const [period, days] of [
          ["24h", 2],
          ["7d", 8],
          ["30d", 31],
          ["90d", 91]
        ] as const) {
          const summary = yield* summaryOf(owner, `?period=${period}`).pipe(when(NOW))
          const byDay = listAt(summary, "calls_by_day")
          assert.strictEqual(byDay.length, days)
          assert.deepStrictEqual(byDay.at(-1), {
            date: "2026-12-10",
            calls: 0,
            spend_cents: 0,
            spend_microcents: 0,
            errors: 0
          })
          const dates = byDay.map((day) => String(valueAt(day, "date")))
          assert.deepStrictEqual(dates, [...new Set(dates)].toSorted())
        }
      }
    })
  )

  it.effect("totals calls, successes, cost and bytes", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const consumer = yield* aFundedConsumer(100, { name: "Ada" })
      yield* meter(consumer, offer, { duration_ms: 10, input_tokens: 3, output_tokens: 4 })
      yield* meter(consumer, offer, { duration_ms: 21, tokens_used: 5 })
      yield* meter(consumer, offer, { duration_ms: 30, status: "timeout" })
      const metered = yield* usageOf(consumer)
      assert.deepStrictEqual(at(metered, "owner"), {
        id: consumer.id,
        type: "consumer",
        name: "Ada",
        balance_cents: 97
      })
      assert.deepStrictEqual(at(metered, "summary"), {
        total_calls: 3,
        successful_calls: 2,
        error_rate: 0.3333,
        total_cost_cents: 2,
        total_cost_microcents: 2 * PRICE,
        total_cost: "$0.02",
        avg_latency_ms: 20
      })
      assert.deepStrictEqual(at(yield* summaryOf(consumer), "summary", "data_volume"), {
        request_bytes: 0,
        response_bytes: 0,
        tokens_input: 3,
        tokens_output: 9
      })
      yield* expecting(200, callOf(consumer, offer, { input: { text: "x".repeat(1_000) } }))
      const volume = yield* summaryOf(consumer)
      assert.isAbove(numberAt(volume, "summary", "data_volume", "request_bytes"), 1_000)
      assert.isAbove(numberAt(volume, "summary", "data_volume", "response_bytes"), 0)
      assert.strictEqual(numberAt(volume, "summary", "total_spend_microcents"), 3 * PRICE)
      assert.strictEqual(numberAt(volume, "total_calls"), 4)

      const seen = yield* usageOf(offer.provider)
      assert.strictEqual(numberAt(seen, "summary", "total_cost_microcents"), 3 * PRICE)
      assert.strictEqual(numberAt(seen, "owner", "balance_cents"), Math.floor((3 * (PRICE - FEE)) / 10_000))
      assert.deepStrictEqual(at(seen, "records"), at(yield* usageOf(consumer), "records"))
    })
  )

  it.effect("lists each call as in its receipt, newest first", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const calls = [
        yield* meter(consumer, offer, { duration_ms: 7 }),
        yield* meter(consumer, offer, { status: "rate_limited" })
      ]
      const usage = yield* usageOf(consumer)
      assert.deepStrictEqual(at(usage, "recent_calls"), at(usage, "records"))
      const expected = calls.toReversed().map((call) => ({
        id: textAt(call, "invocation_id"),
        receipt_id: textAt(call, "invocation_id"),
        tool: "echo",
        tool_name: "echo",
        tool_id: offer.toolId,
        status: textAt(call, "status"),
        success: textAt(call, "status") === "success",
        cost_cents: numberAt(call, "cost_cents"),
        cost_microcents: numberAt(call, "cost_microcents"),
        latency_ms: numberAt(call, "receipt", "duration_ms"),
        duration_ms: numberAt(call, "receipt", "duration_ms"),
        created_at: textAt(call, "timestamp")
      }))
      assert.deepStrictEqual(at(usage, "records"), expected)
    })
  )

  it.effect("starts at a full hour, to the millisecond, so that totals and list cover one period", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const now = when(NOW)
      const inside = ["09T12:00:00.000", "09T12:29:59.999", "09T12:59:59.999", "09T13:00:00.000", "10T12:30:00.000"]
      const outside = ["09T11:59:59.999", "09T11:00:00.000", "04T00:00:00.000"]
      for (const instant of [...inside, ...outside]) {
        yield* meter(consumer, offer, { timestamp: `2026-12-${instant}Z` }).pipe(now)
      }
      for (const owner of [consumer, offer.provider]) {
        for (const [period, calls] of [
          ["24h", inside.length],
          ["7d", 8]
        ] as const) {
          const usage = yield* usageOf(owner, `?period=${period}`).pipe(now)
          assert.strictEqual(numberAt(usage, "total"), calls)
          assert.strictEqual(idsOf(usage).length, calls)
          assert.strictEqual(numberAt(usage, "summary", "total_calls"), calls)
          assert.strictEqual(numberAt(usage, "summary", "total_cost_microcents"), calls * PRICE)
        }
        const days = listAt(yield* summaryOf(owner, "?period=7d").pipe(now), "calls_by_day")
        assert.deepStrictEqual(
          days.map((day) => [valueAt(day, "date"), valueAt(day, "calls"), valueAt(day, "spend_microcents")]),
          ["03", "04", "05", "06", "07", "08", "09", "10"].map((day) => {
            const calls = { "04": 1, "09": 6, "10": 1 }[day] ?? 0
            return [`2026-12-${day}`, calls, calls * PRICE]
          })
        )
      }
    })
  )

  it.effect("filters its list by tool or status; its summary covers the whole period", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const other = yield* offerOf(offer.provider, { tool_name: "other" })
      const consumer = yield* aFundedConsumer()
      for (const [tool, status] of [
        [offer, "success"],
        [offer, "error"],
        [other, "success"],
        [offer, "timeout"]
      ] as const) {
        yield* meter(consumer, tool, { status })
      }
      for (const owner of [consumer, offer.provider]) {
        for (const [query, count] of [
          ["", 4],
          [`?tool_id=${offer.toolId}`, 3],
          ["?status=success", 2],
          ["?status=timeout", 1],
          ["?status=rate_limited", 0],
          [`?tool_id=${offer.toolId}&status=success`, 1],
          [`?tool_id=${other.toolId}&status=error`, 0]
        ] as const) {
          const usage = yield* usageOf(owner, query)
          assert.strictEqual(numberAt(usage, "total"), count, query)
          assert.strictEqual(idsOf(usage).length, count, query)
          assert.strictEqual(numberAt(usage, "summary", "total_calls"), 4)
        }
      }
    })
  )

  it.effect("is paged, stable while new calls are made", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      for (let n = 0; n < 5; n++) yield* meter(consumer, offer).pipe(earlier(`${5 - n} hours`))
      const all = idsOf(yield* usageOf(consumer))
      const seen: Array<unknown> = []
      let query = "?limit=2"
      for (let page = 0; page < 3; page++) {
        const answer = yield* usageOf(consumer, query)
        seen.push(...idsOf(answer))
        assert.strictEqual(numberAt(answer, "total"), 5 + page)
        const cursor = at(answer, "next_cursor")
        assert.strictEqual(cursor === null, page === 2)
        query = `?limit=2&cursor=${String(cursor)}`
        yield* buy(consumer, offer).pipe(later(`${page} seconds`))
      }
      assert.deepStrictEqual(seen, all)
      assert.deepStrictEqual(idsOf(yield* usageOf(consumer, "?limit=2&offset=4")), all.slice(1, 3))
    })
  )

  it.effect("is private to each account", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* anOffer(nowhere), yield* anOffer(nowhere)]
      const [ann, bob] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      for (const [consumer, offer] of [
        [ann, one],
        [ann, two],
        [bob, two]
      ] as const)
        yield* meter(consumer, offer)
      for (const [owner, calls] of [
        [ann, 2],
        [bob, 1],
        [one.provider, 1],
        [two.provider, 2]
      ] as const) {
        assert.strictEqual(numberAt(yield* usageOf(owner), "total"), calls)
        assert.strictEqual(numberAt(yield* summaryOf(owner), "total_calls"), calls)
      }
    })
  )
})
