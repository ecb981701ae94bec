/**
 * The platform fee as a setting, and as the operator sets it for a provider.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { at, expecting, faultPaths, listAt, textAt, unasked, valueAt } from "../../support/market/Market.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  callOf,
  memoryMarket,
  type Offer,
  problemOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const PRICE = 1_000
const HOUR_MS = 3_600_000

const pathOf = (providerId: string) => `/api/v1/operator/providers/${providerId}/platform-fee`
const asking = (providerId: string, basisPoints: unknown) =>
  send({ path: pathOf(providerId), key: OPERATOR_KEY, json: { platform_fee_bps: basisPoints } })
const setFee = ({ provider }: Offer, platform_fee_bps: number | null, reason?: string) =>
  expecting(200, { path: pathOf(provider.id), key: OPERATOR_KEY, json: { platform_fee_bps, reason } })

/** Who, why, the fee, and the announced one. */
const changesIn = (changes: Schema.Json | undefined) =>
  Array.from({ length: (changes as ReadonlyArray<unknown>).length }, (_, n) =>
    [["changed_by"], ["reason"], ["platform_fee_bps"], ["upcoming", "platform_fee_bps"]].map((path) =>
      valueAt(changes, n, ...path)
    )
  )
const feeOf = ({ provider }: Offer) => expecting(200, { path: pathOf(provider.id), key: OPERATOR_KEY })

const listedFee = (offer: Offer) =>
  Effect.map(expecting(200, { path: unasked("/api/v1/market/pricing?limit=100") }), (answer) =>
    valueAt(
      listAt(answer, "tools").find((line) => valueAt(line, "tool_id") === offer.toolId),
      "platform_fee_bps"
    )
  )

const feeTaken = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* books
    yield* call
    return Number((yield* books).fees - before.fees)
  })

it.layer(memoryMarket({ OPERATOR_KEY, PRICE_NOTICE_HOURS: "24", PLATFORM_FEE_BASIS_POINTS: "1500" }), LIVE)(
  "The platform fee",
  (it) => {
    it.effect("is the setting where the provider has none of its own, and is public", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
        const prices = yield* expecting(200, { path: unasked("/api/v1/market/pricing") })
        assert.deepStrictEqual([at(prices, "platform_fee"), at(prices, "platform_fee_bps")], ["15%", 1_500])
        assert.strictEqual(yield* listedFee(offer), 1_500)
        const agents = yield* expecting(200, { path: "/.well-known/agents.json" })
        assert.strictEqual(at(agents, "money", "platform_fee_bps"), 1_500)
        assert.include((yield* send({ path: "/spec" })).text, "The default fee is 15% (1,500 basis points)")
        const { fee_changes: changes, ...fee } = (yield* feeOf(offer)).json as Readonly<Record<string, Schema.Json>>
        assert.deepStrictEqual(fee, {
          provider_id: offer.provider.id,
          platform_fee_bps: 1_500,
          is_default: true,
          upcoming: null
        })
        assert.deepStrictEqual(changesIn(changes), [["registration", null, null, undefined]])
        const buyer = yield* aFundedConsumer()
        assert.strictEqual(yield* feeTaken(expecting(200, callOf(buyer, offer))), 150)
      })
    )

    it.effect("of a provider is lowered at once, and raised after the notice", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
        const other = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
        const buyer = yield* aFundedConsumer()
        // The tool is cached from here on.
        assert.strictEqual(yield* feeTaken(expecting(200, callOf(buyer, offer))), 150)

        const lowered = yield* setFee(offer, 500, "Agreed for a year.")
        assert.deepStrictEqual(
          [at(lowered, "platform_fee_bps"), at(lowered, "is_default"), at(lowered, "upcoming")],
          [500, false, null]
        )
        assert.strictEqual(yield* feeTaken(expecting(200, callOf(buyer, offer))), 50)
        assert.deepStrictEqual([yield* listedFee(offer), yield* listedFee(other)], [500, 1_500])
        assert.strictEqual(yield* feeTaken(expecting(200, callOf(buyer, other))), 150)

        const asked = Date.now()
        const raised = yield* setFee(offer, 3_000)
        assert.deepStrictEqual(
          [at(raised, "platform_fee_bps"), at(raised, "upcoming", "platform_fee_bps")],
          [500, 3_000]
        )
        assert.isAtLeast(Date.parse(textAt(raised, "upcoming", "effective_from")), asked + 24 * HOUR_MS - 60_000)
        assert.strictEqual(yield* feeTaken(expecting(200, callOf(buyer, offer))), 50)
        assert.deepStrictEqual((yield* feeOf(offer)).json, raised.json)
        const summary = yield* expecting(200, {
          path: "/api/v1/market/billing/provider-summary",
          key: offer.provider.key,
          json: {}
        })
        assert.strictEqual(at(summary, "platform_fee_rate"), "5%")
        assert.deepStrictEqual(at(summary, "platform_fee_terms", "upcoming"), at(raised, "upcoming"))

        const removed = yield* setFee(offer, null)
        assert.deepStrictEqual(
          [at(removed, "platform_fee_bps"), at(removed, "upcoming", "platform_fee_bps")],
          [500, 1_500]
        )
        assert.strictEqual(at(removed, "upcoming", "is_default"), true)
        assert.deepStrictEqual(changesIn(at(removed, "fee_changes")), [
          ["API key", null, 500, null],
          ["API key", null, 500, 3_000],
          ["API key", "Agreed for a year.", 500, undefined],
          ["registration", null, null, undefined]
        ])
        const detail = yield* expecting(200, {
          path: `/api/v1/operator/providers/${offer.provider.id}`,
          key: OPERATOR_KEY
        })
        assert.deepStrictEqual(at(detail, "fee_changes"), at(removed, "fee_changes"))
      })
    )

    it.effect("is a whole number of basis points, at most half, of a known provider", () =>
      Effect.gen(function* () {
        const { provider } = yield* anOffer("http://127.0.0.1:9/mcp")
        for (const wrong of [-1, 5_001, 10.5, "10", true]) {
          const refused = yield* asking(provider.id, wrong)
          assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], String(wrong))
          assert.deepStrictEqual(faultPaths(refused), ["platform_fee_bps"])
        }
        const unknown = provider.id.replace(/.$/u, (last) => (last === "0" ? "1" : "0"))
        assert.deepStrictEqual(problemOf(yield* asking(unknown, 100)), [404, "NOT_FOUND"])
        assert.deepStrictEqual(problemOf(yield* send({ path: pathOf(unknown), key: OPERATOR_KEY })), [404, "NOT_FOUND"])
        assert.strictEqual(at(yield* asking(provider.id, 5_000), "upcoming", "platform_fee_bps"), 5_000)
      })
    )
  }
)
