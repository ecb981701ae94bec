/**
 * A provider's fee that changes around its calls: each call keeps the fee with which it was held.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { at, expecting, textAt } from "../../support/market/Market.ts"
import { DEADLINE_SECONDS } from "../../support/metering/Core.ts"
import { earlier, later } from "../../support/metering/TestTime.ts"
import { fine, forwarded, providing, slowProvider } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  callOf,
  FEE,
  GRANTS,
  METER,
  numberAt,
  type Offer,
  PRICE,
  walletOf
} from "../../support/metering/Shop.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { memoryDisputedCore, file, OPERATOR, respond } from "../../support/trust/Disputing.ts"

const SUMMARY = "/api/v1/market/billing/provider-summary"
const HALF = 5_000
/** Half of the price, rounded up. */
const HALF_FEE = 6_173

const setFee = ({ provider }: Offer, basisPoints: number | null) =>
  expecting(200, {
    path: `/api/v1/operator/providers/${provider.id}/platform-fee`,
    key: OPERATOR,
    json: { platform_fee_bps: basisPoints }
  })

/** What the books gained meanwhile: the consumers' loss, the providers' part and the platform's. */
const gained = Effect.fnUntraced(function* <A, E, R>(meanwhile: Effect.Effect<A, E, R>) {
  const before = yield* books
  yield* meanwhile
  const after = yield* books
  return [before.wallets - after.wallets, after.providers - before.providers, after.fees - before.fees].map(Number)
})

it.layer(memoryDisputedCore, LIVE)("A changed fee", (it) => {
  it.effect("applies to the next call, and not to the one that is in flight", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url)
      const buyer = yield* aFundedConsumer()
      const during = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(expecting(200, callOf(buyer, offer)))
        yield* eventually(() => forwarded(slow.server) === 1)
        yield* setFee(offer, HALF)
        yield* slow.answer
        yield* Fiber.join(fiber)
      })
      assert.deepStrictEqual(yield* gained(during), [PRICE, PRICE - FEE, FEE])
      assert.deepStrictEqual(yield* gained(expecting(200, callOf(buyer, offer))), [PRICE, PRICE - HALF_FEE, HALF_FEE])
      const call = yield* expecting(200, callOf(buyer, offer))
      assert.strictEqual(Number.parseInt(textAt(call, "meta", "receipt_id").slice(-4), 16), HALF)
      yield* setFee(offer, null)
      assert.deepStrictEqual(yield* gained(expecting(200, callOf(buyer, offer))), [PRICE, PRICE - FEE, FEE])
    })
  )

  it.effect("of zero leaves the provider everything, down to 1 microcent", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: 1 })
      const buyer = yield* aFundedConsumer()
      yield* setFee(offer, 0)
      assert.deepStrictEqual(yield* gained(expecting(200, callOf(buyer, offer))), [1, 1, 0])
    })
  )

  it.effect("does not change a refund: each side returns what it got", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const buyer = yield* aFundedConsumer()
      for (const [held, present] of [
        [HALF, 0],
        [0, HALF],
        [1_234, null]
      ] as const) {
        yield* setFee(offer, held)
        const before = yield* books
        const call = yield* expecting(200, callOf(buyer, offer))
        yield* setFee(offer, present)
        const dispute = yield* file(buyer, textAt(call, "meta", "receipt_id"))
        assert.strictEqual(dispute.status, 201, dispute.text)
        yield* setFee(offer, HALF)
        const answer = yield* respond(offer.provider, textAt(dispute, "dispute_id"), { action: "accept" })
        assert.deepStrictEqual([answer.status, at(answer, "status")], [200, "resolved_refund"])
        assert.deepStrictEqual(yield* books, before, `${held}`)
      }
      assert.strictEqual((yield* walletOf(buyer)).available, 1_000_000)
    })
  )

  it.effect("applies to reports from now on, whatever time they state", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const buyer = yield* aFundedConsumer()
      const grant = { provider_id: offer.provider.id, cap_microcents: 100_000 }
      yield* expecting(201, { path: GRANTS, key: buyer.key, json: grant })
      const report = (timestamp: string) =>
        expecting(201, {
          path: METER,
          key: offer.provider.key,
          json: { tool_id: offer.toolId, agent_id: buyer.id, timestamp }
        })
      yield* earlier("2 hours")(setFee(offer, 0))
      yield* setFee(offer, HALF)
      const backdated = new Date(Date.now() - 3_600_000).toISOString()
      assert.deepStrictEqual(yield* gained(report(backdated)), [PRICE, PRICE - HALF_FEE, HALF_FEE])
      assert.strictEqual(Number.parseInt(textAt(yield* report(backdated), "receipt", "receipt_id").slice(-4), 16), HALF)
    })
  )

  it.effect("charges nothing for a repeated request", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const buyer = yield* aFundedConsumer()
      const call = callOf(buyer, offer, {}, "once")
      const first = yield* expecting(200, call)
      yield* setFee(offer, HALF)
      const before = yield* books
      assert.strictEqual((yield* expecting(200, call)).text, first.text)
      assert.deepStrictEqual(yield* books, before)
    })
  )

  it.effect("does not keep the sweeper from ending a call of before", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url)
      const buyer = yield* aFundedConsumer()
      yield* setFee(offer, 777)
      const fiber = yield* Effect.forkChild(send(callOf(buyer, offer)))
      yield* eventually(() => forwarded(slow.server) === 1)
      yield* setFee(offer, HALF)
      const before = yield* books
      assert.strictEqual(yield* later(`${DEADLINE_SECONDS + 1} seconds`)((yield* Sweeper).sweep), 1)
      assert.deepStrictEqual(yield* books, before)
      assert.strictEqual((yield* walletOf(buyer)).held, 0)
      yield* slow.answer
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* books, before)
    })
  )

  it.effect("shows in the provider's earnings: past calls keep their fee", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const buyer = yield* aFundedConsumer()
      for (const fee of [null, HALF, 0]) {
        yield* setFee(offer, fee)
        yield* expecting(200, callOf(buyer, offer))
      }
      const summary = yield* expecting(200, { path: SUMMARY, key: offer.provider.key, json: {} })
      const amounts = ["gross_revenue", "platform_fee", "net_earnings"].map((field) =>
        numberAt(summary, "earnings", `${field}_microcents`)
      )
      assert.deepStrictEqual(amounts, [3 * PRICE, FEE + HALF_FEE, 3 * PRICE - FEE - HALF_FEE])
      assert.deepStrictEqual(
        [at(summary, "platform_fee_rate"), at(summary, "platform_fee_terms")],
        ["0%", { platform_fee_bps: 0, is_default: false, upcoming: null }]
      )
    })
  )
})
