/**
 * The attack that led to this ledger: one consumer and its own providers call, pay the earnings out, and recover the
 * price by disputes that the providers accept. One paid load must not become more money than it was.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { aConsumer, at, expecting, textAt } from "../support/market/Market.ts"
import { memoryCoreWith } from "../support/metering/Core.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { anOffer, books, buy, walletOf } from "../support/metering/Shop.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const LOADED_CENTS = 100_000
const CALLS = 10
const RINGS = 4
const DISPUTES = "/api/v1/market/disputes"

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A ring that prints money", (it) => {
  it.effect("takes out no more than it loaded, however often it refunds itself", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const buyer = yield* aConsumer()
      const consumerId = ConsumerId.make(buyer.id)
      // As if the processor had received it: nothing here is in dry run mode.
      yield* (yield* Ledger).load({ consumerId, amount: fromCents(LOADED_CENTS), reference: `load:${buyer.id}` })
      let paidOutCents = 0
      for (let ring = 0; ring < RINGS; ring++) {
        const offer = yield* anOffer(url, { price_microcents: (LOADED_CENTS * 10_000) / CALLS })
        const { provider } = offer
        const urls = { returnUrl: "https://a.example", refreshUrl: "https://a.example" }
        yield* (yield* Payouts).connect(ProviderId.make(provider.id), urls)
        const bought: Array<string> = []
        for (let call = 0; call < CALLS; call++) {
          const answer = yield* buy(buyer, offer)
          if (answer.status === 200) bought.push(textAt(answer, "meta", "receipt_id"))
        }
        const payout = yield* expecting(bought.length === 0 ? 422 : 200, {
          path: "/api/market/payouts",
          key: provider.key,
          json: {}
        })
        paidOutCents += Number(at(payout, "amount_cents") ?? 0)
        for (const receipt_id of bought) {
          const json = { receipt_id, reason: "quality" }
          const id = textAt(yield* expecting(201, { path: DISPUTES, key: buyer.key, json }), "dispute_id")
          const accept = { path: `${DISPUTES}/${id}/respond`, key: provider.key, json: { action: "accept" } }
          yield* expecting(200, accept)
        }
        const { balance } = yield* walletOf(buyer)
        assert.isAtMost(paidOutCents + balance / 10_000, LOADED_CENTS, `after ${ring + 1} rings`)
        yield* books
      }
      assert.isAbove(paidOutCents, 0)
    })
  )
})
