/**
 * An output schema as a price bait: where it decides what is billed, relaxing it would charge for junk.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { at, expecting, putTools, TOOLS, unasked } from "../support/market/Market.ts"
import { resulting } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  callOf,
  memoryMarket,
  numberAt,
  type Offer,
  PRICE,
  walletOf
} from "../support/metering/Shop.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"

const DAY_MS = 86_400_000

const details = (offer: Offer) =>
  expecting(200, { path: unasked(`${TOOLS.replace("/api", "/api/v1")}/${offer.toolId}`) })
const change = (offer: Offer, fields: object) => putTools(offer.provider, { tool_name: "echo", ...fields })

/** A day ahead. */
const announced = (shown: Answer) =>
  Effect.map(DateTime.now, (now) => {
    const from = Date.parse(String(at(shown, "pricing", "upcoming", "effective_from")))
    assert.isAtLeast(from, now.epochMilliseconds + DAY_MS - 60_000)
  })

it.layer(memoryMarket({ PRICE_NOTICE_HOURS: "24" }), LIVE)("A schema bait", (it) => {
  it.effect("that relaxes the output schema of a valid_output tool waits for the notice period", () =>
    Effect.gen(function* () {
      const strict = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
      const server = yield* resulting({ content: [], structuredContent: { junk: true } })
      const fields = { price_microcents: PRICE, billing_policy: "valid_output", output_schema: strict }
      const offer = yield* anOffer(server.url, fields)
      const consumer = yield* aFundedConsumer()
      const free = Effect.gen(function* () {
        assert.strictEqual(
          numberAt(yield* expecting(200, callOf(consumer, offer, { price_version: 1 })), "meta", "cost_microcents"),
          0
        )
      })
      // Also beside a change of the policy, whose old one still judges.
      for (const fields of [
        { output_schema: {} },
        { output_schema: {}, billing_policy: "success" },
        { output_schema: null, billing_policy: "success" },
        { output_schema: {}, billing_policy: "valid_output" }
      ]) {
        yield* change(offer, fields)
        yield* free
        const shown = yield* details(offer)
        yield* announced(shown)
        assert.deepStrictEqual(at(shown, "output_schema"), strict)
      }
      const shown = yield* details(offer)
      assert.deepStrictEqual(
        [
          at(shown, "pricing", "price_version"),
          at(shown, "pricing", "upcoming", "output_schema_changes"),
          at(shown, "declaration", "output_schema")
        ],
        [1, true, {}]
      )
      yield* change(offer, { description: "Other words" })
      yield* free
      // Withdrawn and listed again, and back: nothing is announced any more.
      yield* send({ method: "DELETE", path: `/api/v1/market/tools/${offer.toolId}`, key: offer.provider.key })
      yield* change(offer, {})
      yield* free
      yield* announced(yield* details(offer))
      yield* change(offer, { output_schema: { ...strict, description: "A number" } })
      const back = yield* details(offer)
      assert.deepStrictEqual([at(back, "pricing", "upcoming"), at(back, "pricing", "price_version")], [null, 1])
      assert.deepStrictEqual(at(back, "output_schema"), { ...strict, description: "A number" })
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
    })
  )
})
