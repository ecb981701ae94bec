/**
 * Several caps of one call at the market door: the lowest one applies.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { BILLING_META } from "../../../domain/upstream/Protocol.ts"
import { json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { valueAt } from "../../support/market/Market.ts"
import { modernCall } from "../../support/mcp/ModernClient.ts"
import { forwarded } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, memoryMarket, qualifiedNameOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

it.layer(memoryMarket(), LIVE)("The market door", (it) => {
  it.effect("holds the lowest of the caps in the arguments, in `_meta` and in the header", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) =>
          json(response, result(seen, { content: [], _meta: { "market/cost_microcents": 1_000_000 } }))
      })
      const consumer = yield* aFundedConsumer()
      const offer = yield* anOffer(server.url, { price_microcents: 100, max_cost_microcents: 500_000 })
      const tool = yield* qualifiedNameOf(offer)
      const capped = (name: "call_tool" | "quote", given: number | undefined, meta: number, header: string) => {
        const call = modernCall({
          key: consumer.key,
          method: "tools/call",
          params: {
            name,
            arguments: { tool, arguments: {}, ...(given === undefined ? {} : { max_cost_microcents: given }) }
          },
          meta: { "agent-tool-billing/max_cost_microcents": meta }
        })
        return Effect.map(
          send({ ...call, headers: { ...call.headers, "x-max-cost-microcents": header } }),
          (answer) => ({
            status: answer.status,
            result: valueAt(answer.json, "result") as Schema.JsonObject
          })
        )
      }
      for (const [given, meta, header] of [
        [3_000, 4_000, "5000"],
        [4_000, 3_000, "5000"],
        [5_000, 4_000, "3000"],
        [undefined, 4_000, "3000"]
      ] as const) {
        const called = yield* capped("call_tool", given, meta, header)
        assert.strictEqual(valueAt(called.result, "_meta", BILLING_META, "cost_microcents"), 3_000)
      }
      assert.strictEqual(
        valueAt((yield* capped("quote", undefined, 4_000, "3000")).result, "structuredContent", "hold_microcents"),
        3_000
      )
      for (const [given, meta, header] of [
        [0, 4_000, "5000"],
        [4_000, 0, "5000"],
        [5_000, 4_000, "0"]
      ] as const) {
        const refused = yield* capped("call_tool", given, meta, header)
        assert.strictEqual(valueAt(refused.result, "_meta", BILLING_META, "code"), "PRICE_CHANGED")
      }
      assert.strictEqual((yield* capped("call_tool", 3_000, 3_000, "none")).status, 400)
      assert.strictEqual(forwarded(server), 4)
    })
  )
})
