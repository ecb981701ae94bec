/**
 * A report may name the provider beside the tool, as a proxied call may.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { expecting, textAt } from "../../support/market/Market.ts"
import { aFundedConsumer, anOffer, books, memoryMarket, METER, PRICE, walletOf } from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

it.layer(memoryMarket(), LIVE)("A report with a provider_id", (it) => {
  it.effect("bills a consumer for that provider's tool of the name", () =>
    Effect.gen(function* () {
      const offers = [yield* anOffer("http://127.0.0.1:9/mcp"), yield* anOffer("http://127.0.0.1:9/mcp")]
      const { id, key } = yield* aFundedConsumer()
      for (const { provider, toolId } of offers) {
        const json = { tool_name: "echo", provider_id: provider.id }
        const answer = yield* expecting(201, { path: METER, key, json })
        assert.deepStrictEqual([textAt(answer, "tool_id"), textAt(answer, "provider_id")], [toolId, provider.id])
      }
      assert.strictEqual((yield* walletOf({ id, key })).balance, 1_000_000 - 2 * PRICE)
      yield* books
    })
  )

  it.effect("is accepted from the provider itself, and from no other provider", () =>
    Effect.gen(function* () {
      const [own, other] = [yield* anOffer("http://127.0.0.1:9/mcp"), yield* anOffer("http://127.0.0.1:9/mcp")]
      const json = { tool_name: "echo", provider_id: own.provider.id }
      const answer = yield* expecting(201, { path: METER, key: own.provider.key, json })
      assert.strictEqual(textAt(answer, "tool_id"), own.toolId)
      yield* expecting(403, { path: METER, key: other.provider.key, json })
    })
  )
})
