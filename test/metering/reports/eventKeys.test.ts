/**
 * A CloudEvent is identified by its source and id, whatever characters they contain.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Member } from "../../support/market/Market.ts"
import { aFundedConsumer, anOffer, memoryMarket, METER, PRICE, walletOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const report = (reporter: Member, json: object) =>
  send({ path: METER, key: reporter.key, json, headers: { "content-type": "application/cloudevents+json" } })

it.layer(memoryMarket(), LIVE)("The key of a CloudEvent", (it) => {
  it.effect("is unambiguous for every position of a line break in source and id", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const consumer = yield* aFundedConsumer()
      const names = [
        ["a\nb", "c"],
        ["a", "b\nc"],
        ["a\nb\nc", "d"],
        ["a", "b\nc\nd"],
        [JSON.stringify(["a", "b"]), "c"],
        ['["a\\nb"', '"c"]']
      ] as const
      for (const [source, id] of names) {
        const event = { specversion: "1.0", type: "call.finished", source, id, data: { tool_id: offer.toolId } }
        const first = yield* report(consumer, event)
        assert.deepStrictEqual([first.status, first.headers["idempotent-replay"]], [201, undefined], event.source)
        const again = yield* report(consumer, event)
        assert.deepStrictEqual([again.text, again.headers["idempotent-replay"]], [first.text, "true"])
      }
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - names.length * PRICE)
    })
  )
})
