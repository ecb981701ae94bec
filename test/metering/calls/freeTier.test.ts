/**
 * How many calls of a tool are free, for whom, and when the count restarts.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting } from "../../support/market/Market.ts"
import { when } from "../../support/metering/TestTime.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  everyMarket,
  memoryMarket,
  numberAt,
  offerOf,
  PRICE,
  walletOf
} from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const costOf = (answer: Answer): number => numberAt(answer, "meta", "cost_microcents")
const left = (answer: Answer) => at(answer, "meta", "free_tier_remaining")

it.layer(memoryMarket(), LIVE)("The free tier", (it) => {
  it.effect("is a number of calls, counted down in every response; the next one is paid for", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { free_tier_calls: 3 })
      const consumer = yield* aFundedConsumer()
      for (const remaining of [2, 1, 0]) {
        const answer = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: PRICE }))
        assert.strictEqual(costOf(answer), 0)
        assert.strictEqual(left(answer), remaining)
        assert.strictEqual(answer.headers["x-market-cost"], "0")
      }
      const paid = yield* expecting(200, callOf(consumer, offer))
      assert.strictEqual(costOf(paid), PRICE)
      assert.strictEqual(left(paid), 0)
    })
  )

  it.effect("is separate for each consumer and tool, and restarts with every calendar month", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { free_tier_calls: 1 })
      const other = yield* offerOf(offer.provider, { tool_name: "other", free_tier_calls: 1 })
      const [one, two] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      for (const [consumer, tool, cost] of [
        [one, offer, 0],
        [one, offer, PRICE],
        [one, other, 0],
        [two, offer, 0]
      ] as const) {
        assert.strictEqual(
          costOf(yield* expecting(200, callOf(consumer, tool)).pipe(when("2026-12-31T23:59:00.000Z"))),
          cost
        )
      }
      const newYear = yield* expecting(200, callOf(one, offer)).pipe(when("2027-01-01T00:00:00.000Z"))
      assert.strictEqual(costOf(newYear), 0)
      assert.strictEqual(
        costOf(yield* expecting(200, callOf(one, offer)).pipe(when("2027-01-31T23:59:00.000Z"))),
        PRICE
      )
    })
  )

  it.effect("is not used up by calls that fail, under any billing policy", () =>
    Effect.gen(function* () {
      for (const billing_policy of ["success", "attempt"]) {
        let failing = true
        const server = yield* providing((seen, response, n) =>
          failing ? void response.writeHead(400).end() : fine(seen, response, n)
        )
        const offer = yield* anOffer(server.url, { free_tier_calls: 1, billing_policy })
        const consumer = yield* aFundedConsumer()
        for (let n = 0; n < 3; n++) assert.strictEqual((yield* buy(consumer, offer)).headers["x-market-cost"], "0")
        failing = false
        assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), 0)
        assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), PRICE)
      }
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`The free tier over ${name}`, (it) => {
    it.effect("needs no balance, and of 32 concurrent calls exactly the free ones are free", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const price = 600_000
        const offer = yield* anOffer(server.url, { free_tier_calls: 5, price_microcents: price })
        const afford = [
          [0, 5],
          [100, 6],
          [3_000, 32]
        ] as const
        for (const [cents, made] of afford) {
          const consumer = yield* aFundedConsumer(cents)
          const answers = yield* Effect.all(
            Array.from({ length: 32 }, () => buy(consumer, offer)),
            { concurrency: "unbounded" }
          )
          const costs = answers.filter((answer) => answer.status === 200).map(costOf)
          assert.strictEqual(costs.length, made)
          assert.strictEqual(costs.filter((cost) => cost === 0).length, 5)
          assert.strictEqual(costs.filter((cost) => cost === price).length, made - 5)
          assert.strictEqual((yield* walletOf(consumer)).balance, cents * 10_000 - (made - 5) * price)
        }
      })
    )
  })
}

it.layer(memoryMarket({ DEFAULT_FREE_TIER_CALLS: "2" }), LIVE)("The default free tier", (it) => {
  it.effect("applies where the provider sets none, and not where it sets zero", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const consumer = yield* aFundedConsumer()
      for (const [tool, costs] of [
        [{}, [0, 0, PRICE]],
        [{ pricing: { free_tier_calls: 0 } }, [PRICE]]
      ] as const) {
        const offer = yield* anOffer(url, tool)
        for (const cost of costs) assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), cost)
      }
    })
  )
})
