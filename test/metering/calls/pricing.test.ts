/**
 * What a call costs, to the microcent: list price, reported cost, and the fee.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting, putTools } from "../../support/market/Market.ts"
import { fine, forwarded, providing, resulting } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  callOf,
  everyMarket,
  memoryMarket,
  numberAt,
  PRICE,
  problemOf,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const reportingIn = (_meta: Readonly<Record<string, unknown>>) => resulting({ content: [], _meta })
const reporting = (cost: unknown) => reportingIn({ "market/cost_microcents": cost })
const costOf = (answer: Answer): number => numberAt(answer, "meta", "cost_microcents")
const left = (answer: Answer) => at(answer, "meta", "free_tier_remaining")

it.layer(memoryMarket(), LIVE)("The price of a call", (it) => {
  it.effect("is divided without a remainder: the consumer pays what provider and platform get", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const fees = [
        [1, 1],
        [4, 1],
        [5, 1],
        [14, 1],
        [15, 2],
        [99, 10],
        [100, 10],
        [104, 10],
        [105, 11],
        [999_999, 100_000]
      ] as const
      for (const [price, fee] of fees) {
        const offer = yield* anOffer(server.url, { price_microcents: price })
        const consumer = yield* aFundedConsumer()
        const before = yield* books
        assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), price)
        const after = yield* books
        assert.strictEqual(before.wallets - after.wallets, BigInt(price))
        assert.strictEqual(after.fees - before.fees, BigInt(fee), `of ${price}`)
        assert.strictEqual(after.providers - before.providers, BigInt(price - fee))
        assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - price)
      }
    })
  )

  it.effect("is zero for output that valid_output does not charge, and uses no free call", () =>
    Effect.gen(function* () {
      const server = yield* resulting({ content: [], structuredContent: { n: "no number" } })
      const offer = yield* anOffer(server.url, {
        free_tier_calls: 1,
        billing_policy: "valid_output",
        output_schema: { type: "object", properties: { n: { type: "number" } } }
      })
      const consumer = yield* aFundedConsumer()
      for (let n = 0; n < 3; n++) {
        const answer = yield* expecting(200, callOf(consumer, offer))
        assert.deepStrictEqual([costOf(answer), left(answer)], [0, 1])
      }
    })
  )

  it.effect("is the provider's default where the tool has none, and zero where neither has one", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const consumer = yield* aFundedConsumer()
      const usual = yield* anOffer(url, { price_microcents: undefined }, { default_price_microcents: 777 })
      assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, usual))), 777)
      const nothing = yield* anOffer(url, { price_microcents: undefined })
      const free = yield* expecting(200, callOf(consumer, nothing))
      assert.strictEqual(costOf(free), 0)
      assert.strictEqual(at(free, "meta", "cost"), "Free")
      assert.strictEqual((yield* receiptsOf(nothing.provider)).length, 1)
    })
  )

  it.effect("that was raised applies to the next call, and receipts keep the one that they were billed at", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, callOf(consumer, offer))
      yield* putTools(offer.provider, { tool_name: "echo", price_microcents: PRICE * 2 })
      assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), PRICE * 2)
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, { max_cost_microcents: PRICE })), [
        409,
        "PRICE_CHANGED"
      ])
      const receipts = yield* receiptsOf(consumer)
      assert.deepStrictEqual(
        receipts.map((receipt) => receipt.cost_microcents),
        [PRICE * 2, PRICE]
      )
    })
  )

  it.effect("is what the provider reports, up to the hold", () =>
    Effect.gen(function* () {
      const wanted: ReadonlyArray<readonly [reported: unknown, cost: number]> = [
        [0, 0],
        [1, 1],
        [PRICE - 1, PRICE - 1],
        [40_000, 40_000],
        [40_001, 40_000],
        [Number.MAX_SAFE_INTEGER, 40_000],
        [-1, PRICE],
        [1.5, PRICE],
        ["500", PRICE],
        [null, PRICE],
        [2 ** 53, PRICE],
        [{ amount: 5 }, PRICE]
      ]
      for (const [reported, cost] of wanted) {
        const offer = yield* anOffer((yield* reporting(reported)).url, { max_cost_microcents: 40_000 })
        const consumer = yield* aFundedConsumer()
        const answer = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: 50_000 }))
        assert.strictEqual(costOf(answer), cost, JSON.stringify(reported))
        assert.deepStrictEqual(yield* walletOf(consumer), {
          balance: 1_000_000 - cost,
          held: 0,
          available: 1_000_000 - cost
        })
      }
    })
  )

  it.effect("is reported under either name, of which the service's own has precedence", () =>
    Effect.gen(function* () {
      const names = ["agent-tool-billing/cost_microcents", "market/cost_microcents"] as const
      for (const [own, older, cost] of [
        [700, undefined, 700],
        [700, 900, 700],
        ["700", 900, 900]
      ] as const) {
        const { url } = yield* reportingIn({ [names[0]]: own, [names[1]]: older })
        const offer = yield* anOffer(url, { max_cost_microcents: 40_000 })
        const consumer = yield* aFundedConsumer()
        const answer = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: 40_000 }))
        assert.strictEqual(costOf(answer), cost)
      }
    })
  )

  it.effect("has a free tier also where the list price is 0 and the maximum is not", () =>
    Effect.gen(function* () {
      const terms = { price_microcents: 0, max_cost_microcents: 40_000, free_tier_calls: 1 }
      const offer = yield* anOffer((yield* reporting(30_000)).url, terms)
      const consumer = yield* aFundedConsumer()
      for (const [hold, free, cost] of [
        [0, 1, 0],
        [40_000, 0, 30_000]
      ] as const) {
        const quote = yield* expecting(200, callOf(consumer, offer, { dry_run: true }))
        const told = [numberAt(quote, "quote", "hold_microcents"), numberAt(quote, "quote", "free_tier_remaining")]
        assert.deepStrictEqual(told, [hold, free])
        const capped = callOf(consumer, offer, { max_cost_microcents: 40_000 })
        assert.strictEqual(costOf(yield* expecting(200, capped)), cost)
      }
    })
  )

  it.effect("is never above the list price for a tool without a maximum, nor above the caller's cap", () =>
    Effect.gen(function* () {
      const { url } = yield* reporting(90_000)
      const consumer = yield* aFundedConsumer()
      const plain = yield* anOffer(url)
      assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, plain))), PRICE)
      const metered = yield* anOffer(url, { max_cost_microcents: 100_000 })
      const ample = yield* expecting(200, callOf(consumer, metered, { max_cost_microcents: 500_000 }))
      assert.strictEqual(costOf(ample), 90_000)
      const capped = yield* expecting(200, callOf(consumer, metered, { max_cost_microcents: 20_000 }))
      assert.strictEqual(costOf(capped), 20_000)
      const low = yield* anOffer(url, { max_cost_microcents: 1 })
      assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, low))), PRICE)
    })
  )

  it.effect("is held in full: a balance below the maximum is insufficient", () =>
    Effect.gen(function* () {
      const server = yield* reporting(1)
      const offer = yield* anOffer(server.url, { max_cost_microcents: 1_000_001 })
      const consumer = yield* aFundedConsumer()
      const refused = yield* buy(consumer, offer, { max_cost_microcents: 2_000_000 })
      assert.deepStrictEqual(problemOf(refused), [402, "INSUFFICIENT_FUNDS"])
      assert.strictEqual(at(refused, "cost_microcents"), 1_000_001)
      assert.strictEqual(forwarded(server), 0)
      const allowed = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: 1_000_000 }))
      assert.strictEqual(costOf(allowed), 1)
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`The price of a call over ${name}`, (it) => {
    it.effect("may be a hundredth of a cent: a hundred such calls cost exactly one cent", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: 100 })
        const consumer = yield* aFundedConsumer()
        const answers = yield* Effect.all(
          Array.from({ length: 100 }, () => buy(consumer, offer)),
          { concurrency: 16 }
        )
        for (const answer of answers) {
          assert.strictEqual(answer.headers["x-market-cost"], "100")
          assert.strictEqual(at(answer, "meta", "cost_cents"), 0)
          assert.strictEqual(at(answer, "meta", "cost"), "$0.0001")
        }
        assert.deepStrictEqual(yield* walletOf(consumer), { balance: 990_000, held: 0, available: 990_000 })
      })
    )

    it.effect("never takes a balance below zero: with money for k of n concurrent calls, exactly k are made", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const offer = yield* anOffer(server.url, { price_microcents: 150_000 })
        const consumer = yield* aFundedConsumer()
        const answers = yield* Effect.all(
          Array.from({ length: 64 }, () => buy(consumer, offer)),
          { concurrency: "unbounded" }
        )
        const made = answers.filter((answer) => answer.status === 200).length
        assert.isAtLeast(made, 6)
        assert.strictEqual(made, 6)
        assert.strictEqual(answers.filter((answer) => answer.status === 402).length, 58)
        assert.strictEqual(forwarded(server), 6)
        assert.deepStrictEqual(yield* walletOf(consumer), { balance: 100_000, held: 0, available: 100_000 })
      })
    )
  })
}
