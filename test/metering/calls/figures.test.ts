/**
 * What calls add to the public statistics of a tool and of the market.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { at, expecting, listedTool, type Member, unasked, valueAt } from "../../support/market/Market.ts"
import { json, rpcError } from "../../../testing/mcp/ScriptedServer.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { later } from "../../support/metering/TestTime.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, memoryMarket, METER, PRICE, RECEIPTS } from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const STATS = "/api/v1/market/stats"

it.layer(memoryMarket(), LIVE)("Statistics", (it) => {
  it.effect("of a market without calls are zeros, and null where there is no data", () =>
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

  it.effect("count proxied calls, and reported ones separately", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response, n) =>
        n >= 3 ? void response.writeHead(500).end() : fine(seen, response, n)
      )
      const offer = yield* anOffer(server.url, { free_tier_calls: 1 })
      const other = yield* anOffer("http://127.0.0.1:9/mcp", { price_microcents: 1 })
      const [ann, bob] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      for (const buyer of [ann, ann, bob]) yield* buy(buyer, offer)
      const last = yield* expecting(200, { path: `${RECEIPTS}?limit=1`, key: bob.key })
      for (const success of [true, false]) {
        yield* expecting(201, { path: METER, key: bob.key, json: { tool_id: offer.toolId, success } })
      }
      yield* expecting(201, { path: METER, key: bob.key, json: { tool_id: other.toolId, duration_ms: 100 } })
      const { json: stats } = yield* expecting(200, { path: STATS }).pipe(later("1 minute"))
      assert.include(stats, {
        total_tool_invocations: 3,
        successful_calls: 2,
        reported_calls: 3,
        unique_agents: 2,
        unique_tools: 1,
        total_revenue_microcents: PRICE + 1,
        last_invocation: String(at(last, "receipts", 0, "timestamp"))
      })
      // One of three proxied calls: bob's failed one used none up, his reported one did.
      assert.strictEqual(valueAt(stats, "free_tier_usage_pct"), 33.33)

      const figures = (toolName: string, provider: Member) =>
        Effect.map(listedTool(provider, toolName).pipe(later("1 minute")), (tool) => valueAt(tool, "stats"))
      assert.include(yield* figures("echo", offer.provider), {
        total_calls: 3,
        reported_calls: 2,
        uptime_pct: 66.67
      })
      const unmeasured = { total_calls: 0, avg_latency_ms: null, uptime_pct: null }
      assert.include(yield* figures("echo", other.provider), { ...unmeasured, reported_calls: 1 })
      const untouched = yield* anOffer("http://127.0.0.1:9/mcp")
      assert.include(yield* figures("echo", untouched.provider), { ...unmeasured, reported_calls: 0 })
    })
  )
})

it.layer(memoryCore, LIVE)("Statistics, with a manual sequencer", (it) => {
  it.effect("are the same before and after calls are sequenced into the log", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response, n) =>
        n % 5 === 0 ? json(response, rpcError(seen, -32_602, "no")) : fine(seen, response, n)
      )
      const email = "one.person@example.org"
      const offer = yield* anOffer(server.url, { free_tier_calls: 4 }, { email })
      const [buyer, own] = [yield* aFundedConsumer(), yield* aFundedConsumer(100, { email })]
      const read = Effect.suspend(() =>
        Effect.all([
          Effect.map(expecting(200, { path: unasked(STATS) }), ({ json: stats }) => ({
            ...(stats as object),
            timestamp: undefined
          })),
          Effect.map(expecting(200, { path: unasked(`/api/v1/market/tools/${offer.toolId}`) }), (answer) =>
            at(answer, "stats")
          )
        ])
      )
      const { sequence } = yield* Sequencer
      for (let round = 0; round < 2; round++) {
        for (let n = 0; n < 10; n++) yield* buy(buyer, offer)
        yield* buy(own, offer)
        yield* expecting(201, { path: METER, key: buyer.key, json: { tool_id: offer.toolId, success: false } })
        const before = yield* read
        assert.include(before[1], { total_calls: 10 * (round + 1), reported_calls: round + 1 })
        while ((yield* sequence) > 0);
        const after = yield* read
        assert.deepStrictEqual(
          [after[0], { ...(after[1] as object), p95_latency_ms: null }],
          [before[0], { ...(before[1] as object), p95_latency_ms: null }]
        )
      }
    })
  )
})
