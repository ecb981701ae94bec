/**
 * What a call costs, to the microcent: list price, free tier, reported cost, and the fee.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting, putTools } from "../support/Market.ts"
import { when } from "../support/metering/Elsewhen.ts"
import { fine, forwarded, providing, resulting } from "../support/metering/Provider.ts"
import {
  aBuyer,
  anOffer,
  books,
  buy,
  callOf,
  everyMarket,
  numberAt,
  offerOf,
  PRICE,
  problemOf,
  purseOf,
  receiptsOf
} from "../support/metering/Shop.ts"
import { type Answer, LIVE } from "../support/ServiceUnderTest.ts"

const reporting = (cost: unknown) => resulting({ content: [], _meta: { "market/cost_microcents": cost } })
const costOf = (answer: Answer): number => numberAt(answer, "meta", "cost_microcents")
const left = (answer: Answer) => at(answer, "meta", "free_tier_remaining")

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`The price of a call over ${name}`, (it) => {
    it.effect("is divided without a remainder: what the consumer pays is what provider and platform get", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const fees = [
          [1, 0],
          [4, 0],
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
          const consumer = yield* aBuyer()
          const before = yield* books
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), price)
          const after = yield* books
          assert.strictEqual(before.wallets - after.wallets, BigInt(price))
          assert.strictEqual(after.fees - before.fees, BigInt(fee), `of ${price}`)
          assert.strictEqual(after.providers - before.providers, BigInt(price - fee))
          assert.strictEqual((yield* purseOf(consumer)).balance, 1_000_000 - price)
        }
      })
    )

    it.effect("is nothing for output that valid_output does not charge, and no free call is used up by it", () =>
      Effect.gen(function* () {
        const server = yield* resulting({ content: [], structuredContent: { n: "no number" } })
        const offer = yield* anOffer(server.url, {
          free_tier_calls: 1,
          billing_policy: "valid_output",
          output_schema: { type: "object", properties: { n: { type: "number" } } }
        })
        const consumer = yield* aBuyer()
        for (let n = 0; n < 3; n++) {
          const answer = yield* expecting(200, callOf(consumer, offer))
          assert.deepStrictEqual([costOf(answer), left(answer)], [0, 1])
        }
      })
    )

    it.effect("may be a hundredth of a cent: a hundred such calls cost one cent, exactly", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: 100 })
        const consumer = yield* aBuyer()
        const answers = yield* Effect.all(
          Array.from({ length: 100 }, () => buy(consumer, offer)),
          { concurrency: 16 }
        )
        for (const answer of answers) {
          assert.strictEqual(answer.headers["x-market-cost"], "100")
          assert.strictEqual(at(answer, "meta", "cost_cents"), 0)
          assert.strictEqual(at(answer, "meta", "cost"), "$0.0001")
        }
        assert.deepStrictEqual(yield* purseOf(consumer), { balance: 990_000, held: 0, available: 990_000 })
      })
    )

    it.effect("is the provider's default where the tool has none, and nothing where neither has one", () =>
      Effect.gen(function* () {
        const { url } = yield* providing(fine)
        const consumer = yield* aBuyer()
        const usual = yield* anOffer(url, { price_microcents: undefined }, { default_price_microcents: 777 })
        assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, usual))), 777)
        const nothing = yield* anOffer(url, { price_microcents: undefined })
        const free = yield* expecting(200, callOf(consumer, nothing))
        assert.strictEqual(costOf(free), 0)
        assert.strictEqual(at(free, "meta", "cost"), "Free")
        assert.strictEqual((yield* receiptsOf(nothing.provider)).length, 1)
      })
    )

    it.effect("that was raised is the next call's, and receipts keep the one that they were billed at", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url)
        const consumer = yield* aBuyer()
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

    it.effect("is what the provider reports, up to what was held", () =>
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
          const consumer = yield* aBuyer()
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), cost, JSON.stringify(reported))
          assert.deepStrictEqual(yield* purseOf(consumer), {
            balance: 1_000_000 - cost,
            held: 0,
            available: 1_000_000 - cost
          })
        }
      })
    )

    it.effect(
      "is never above the list price for a tool that declared no maximum, nor above what the caller allows",
      () =>
        Effect.gen(function* () {
          const { url } = yield* reporting(90_000)
          const consumer = yield* aBuyer()
          const plain = yield* anOffer(url)
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, plain))), PRICE)
          const metered = yield* anOffer(url, { max_cost_microcents: 100_000 })
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, metered))), 90_000)
          const capped = yield* expecting(200, callOf(consumer, metered, { max_cost_microcents: 20_000 }))
          assert.strictEqual(costOf(capped), 20_000)
          const low = yield* anOffer(url, { max_cost_microcents: 1 })
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, low))), PRICE)
        })
    )

    it.effect("is held in full: who has the list price but not the maximum cannot call", () =>
      Effect.gen(function* () {
        const server = yield* reporting(1)
        const offer = yield* anOffer(server.url, { max_cost_microcents: 1_000_001 })
        const consumer = yield* aBuyer()
        const refused = yield* buy(consumer, offer)
        assert.deepStrictEqual(problemOf(refused), [402, "INSUFFICIENT_FUNDS"])
        assert.strictEqual(at(refused, "cost_microcents"), 1_000_001)
        assert.strictEqual(forwarded(server), 0)
        const allowed = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: 1_000_000 }))
        assert.strictEqual(costOf(allowed), 1)
      })
    )

    it.effect("never takes a balance below zero: with money for k of n calls at once, exactly k are made", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const offer = yield* anOffer(server.url, { price_microcents: 150_000 })
        const consumer = yield* aBuyer()
        const answers = yield* Effect.all(
          Array.from({ length: 64 }, () => buy(consumer, offer)),
          { concurrency: "unbounded" }
        )
        const made = answers.filter((answer) => answer.status === 200).length
        assert.isAtLeast(made, 6)
        assert.strictEqual(made, 6)
        assert.strictEqual(answers.filter((answer) => answer.status === 402).length, 58)
        assert.strictEqual(forwarded(server), 6)
        assert.deepStrictEqual(yield* purseOf(consumer), { balance: 100_000, held: 0, available: 100_000 })
      })
    )
  })

  it.layer(market, LIVE)(`The free tier over ${name}`, (it) => {
    it.effect("is so many calls, counted down in every answer; the next one is paid for", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { free_tier_calls: 3 })
        const consumer = yield* aBuyer()
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

    it.effect("is each consumer's and each tool's own, and begins anew with every calendar month", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const offer = yield* anOffer(server.url, { free_tier_calls: 1 })
        const other = yield* offerOf(offer.provider, { tool_name: "other", free_tier_calls: 1 })
        const [one, two] = [yield* aBuyer(), yield* aBuyer()]
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
          const consumer = yield* aBuyer()
          for (let n = 0; n < 3; n++) assert.strictEqual((yield* buy(consumer, offer)).headers["x-market-cost"], "0")
          failing = false
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), 0)
          assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), PRICE)
        }
      })
    )

    it.effect("needs no money, and of 32 calls at once exactly as many are free as it has", () =>
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
          const consumer = yield* aBuyer(cents)
          const answers = yield* Effect.all(
            Array.from({ length: 32 }, () => buy(consumer, offer)),
            { concurrency: "unbounded" }
          )
          const costs = answers.filter((answer) => answer.status === 200).map(costOf)
          assert.strictEqual(costs.length, made)
          assert.strictEqual(costs.filter((cost) => cost === 0).length, 5)
          assert.strictEqual(costs.filter((cost) => cost === price).length, made - 5)
          assert.strictEqual((yield* purseOf(consumer)).balance, cents * 10_000 - (made - 5) * price)
        }
      })
    )
  })
}

for (const [name, market] of everyMarket({ DEFAULT_FREE_TIER_CALLS: "2" })) {
  it.layer(market, LIVE)(`The default free tier over ${name}`, (it) => {
    it.effect("holds where the provider said nothing, and not where it said none", () =>
      Effect.gen(function* () {
        const { url } = yield* providing(fine)
        const consumer = yield* aBuyer()
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
}
