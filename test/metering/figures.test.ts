/**
 * What calls add to the public figures of a tool and of the market.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting, listedTool, valueAt } from "../support/Market.ts"
import { later } from "../support/metering/Elsewhen.ts"
import { aBuyer, anOffer, everyMarket, METER, numberAt, PRICE, RECEIPTS } from "../support/metering/Shop.ts"
import { LIVE } from "../support/ServiceUnderTest.ts"

const STATS = "/api/v1/market/stats"

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`Figures over ${name}`, (it) => {
    it.effect("of a market without calls are zeros, and nulls where there is nothing to say", () =>
      Effect.gen(function* () {
        const stats = yield* expecting(200, { path: STATS })
        assert.include(stats.json, {
          total_tool_invocations: 0,
          successful_calls: 0,
          unique_agents: 0,
          unique_tools: 0,
          total_revenue_microcents: 0,
          total_revenue: "$0.00",
          avg_response_time_ms: null,
          last_invocation: null
        })
      })
    )

    it.effect("count every call, whoever reported it", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer("http://127.0.0.1:9/mcp", { free_tier_calls: 1 })
        const other = yield* anOffer("http://127.0.0.1:9/mcp", { price_microcents: 1 })
        const [ann, bob] = [yield* aBuyer(), yield* aBuyer()]
        const calls = [
          [ann, offer, "success", 10],
          [ann, offer, "success", 21],
          [bob, offer, "error", 30],
          [bob, other, "success", 100]
        ] as const
        for (const [{ key }, { toolId }, status, duration_ms] of calls) {
          yield* expecting(201, { path: METER, key, json: { tool_id: toolId, status, duration_ms } })
        }
        const last = yield* expecting(200, { path: `${RECEIPTS}?limit=1`, key: bob.key })
        const stats = yield* expecting(200, { path: STATS }).pipe(later("1 minute"))
        assert.include(stats.json, {
          total_tool_invocations: 4,
          successful_calls: 3,
          unique_agents: 2,
          unique_tools: 2,
          total_revenue_microcents: PRICE + 1,
          avg_response_time_ms: 40,
          last_invocation: String(at(last, "receipts", 0, "timestamp"))
        })
        assert.strictEqual(numberAt(stats, "free_tier_usage_pct"), 25)

        const listed = yield* listedTool(offer.provider, "echo").pipe(later("1 minute"))
        assert.include(valueAt(listed, "stats"), { total_calls: 3, avg_latency_ms: 20, uptime_pct: 66.67 })
        const untouched = yield* anOffer("http://127.0.0.1:9/mcp")
        const fresh = yield* listedTool(untouched.provider, "echo").pipe(later("1 minute"))
        assert.include(valueAt(fresh, "stats"), { total_calls: 0, avg_latency_ms: null, uptime_pct: null })
      })
    )
  })
}
