/**
 * The smallest price: the fee takes all of it, the provider earns nothing, and a dispute refunds what was paid.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting, textAt } from "../support/market/Market.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, books, callOf, walletOf } from "../support/metering/Shop.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { memoryDisputedCore, file, respond } from "../support/trust/Disputing.ts"

it.layer(memoryDisputedCore, LIVE)("A call that costs 1 microcent", (it) => {
  it.effect("is all fee, and is refunded whole", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: 1 })
      const buyer = yield* aFundedConsumer()
      const before = yield* books
      const call = yield* expecting(200, callOf(buyer, offer))
      const after = yield* books
      assert.deepStrictEqual(
        [before.wallets - after.wallets, after.providers - before.providers, after.fees - before.fees],
        [1n, 0n, 1n]
      )
      const dispute = yield* file(buyer, textAt(call, "meta", "receipt_id"))
      assert.strictEqual(dispute.status, 201)
      const answer = yield* respond(offer.provider, textAt(dispute, "dispute_id"), { action: "accept" })
      assert.deepStrictEqual([answer.status, at(answer, "status")], [200, "resolved_refund"])
      const disputed = yield* books
      assert.deepStrictEqual([disputed.providers, disputed.fees], [before.providers, before.fees])
      assert.strictEqual((yield* walletOf(buyer)).available, 1_000_000)
    })
  )
})
