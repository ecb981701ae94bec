/**
 * A call through the proxy: what is checked before it is forwarded, in which order, and what is returned.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  aConsumer,
  aProvider,
  at,
  expecting,
  faultPaths,
  listAt,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { fine, forwarded, providing, resulting } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  memoryMarket,
  numberAt,
  PRICE,
  problemOf,
  PROXY,
  walletOf,
  qualifiedNameOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
}
const NOWHERE = "00000000-0000-4000-8000-000000000000"

it.layer(memoryMarket(), LIVE)("A call", (it) => {
  it.effect("is rejected by the first rule that it breaks, and is then neither forwarded nor charged", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { input_schema: CITY })
      const [rich, poor] = [yield* aFundedConsumer(), yield* aConsumer()]
      const [cheap, wrong, right] = [{ max_cost_microcents: PRICE - 1 }, { town: 7 }, { city: "Bern" }]

      const unknown = { ...cheap, input: wrong, tool_id: NOWHERE }
      const withoutKey = yield* send({ path: PROXY, body: "endless" })
      assert.deepStrictEqual(problemOf(withoutKey), [401, "UNAUTHORIZED"])
      assert.isFalse(withoutKey.bodyWasRead)
      assert.deepStrictEqual(problemOf(yield* buy(offer.provider, offer)), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* buy(poor, offer, unknown)), [404, "NOT_FOUND"])

      const changed = yield* buy(poor, offer, { ...cheap, input: wrong })
      assert.deepStrictEqual(problemOf(changed), [409, "PRICE_CHANGED"])
      assert.strictEqual(at(changed, "price_microcents"), PRICE)
      assert.strictEqual(at(changed, "max_cost_microcents"), PRICE - 1)

      const misfit = yield* buy(poor, offer, { input: wrong })
      assert.deepStrictEqual(problemOf(misfit), [422, "VALIDATION_ERROR"])
      assert.isNotEmpty(faultPaths(misfit))
      for (const path of faultPaths(misfit)) assert.match(path, /^input/u)

      const penniless = yield* buy(poor, offer, { input: right, max_cost_microcents: PRICE })
      assert.deepStrictEqual(problemOf(penniless), [402, "INSUFFICIENT_FUNDS"])
      assert.include(penniless.json, {
        cost_microcents: PRICE,
        cost_cents: 1,
        balance_microcents: 0,
        balance_cents: 0,
        load_balance_url: "https://market.example/api/market/balance/load"
      })

      assert.strictEqual(forwarded(server), 0)
      assert.deepStrictEqual(yield* receiptsOf(offer.provider), [])
      yield* expecting(200, callOf(rich, offer, { input: right, max_cost_microcents: PRICE }))
      assert.strictEqual(forwarded(server), 1)
    })
  )

  it.effect(
    "with a tool_name that several providers list, and that the account never called, is 409 with the qualified names",
    () =>
      Effect.gen(function* () {
        const [one, other] = [
          yield* resulting({ content: [], from: "one" }),
          yield* resulting({ content: [], from: "other" })
        ]
        const tool = { tool_name: "shared" }
        const first = yield* anOffer(one.url, tool, { name: "First" })
        const byName = { tool_id: undefined, tool_name: first.toolName }
        const consumer = yield* aFundedConsumer()
        const alone = yield* expecting(200, callOf(consumer, first, byName))
        assert.strictEqual(at(alone, "result", "from"), "one")

        const second = yield* anOffer(other.url, tool, { name: "Second" })
        const newcomer = yield* aFundedConsumer()
        const refused = yield* buy(newcomer, first, byName)
        assert.deepStrictEqual(problemOf(refused), [409, "DUPLICATE"])
        assert.sameDeepMembers(
          [...listAt(refused, "candidates")],
          [
            {
              qualified_name: yield* qualifiedNameOf(first),
              tool_id: first.toolId,
              provider_id: first.provider.id,
              provider: "First"
            },
            {
              qualified_name: yield* qualifiedNameOf(second),
              tool_id: second.toolId,
              provider_id: second.provider.id,
              provider: "Second"
            }
          ]
        )
        assert.include(textAt(refused, "message"), `\`${yield* qualifiedNameOf(second)}\``)
        const named = yield* expecting(200, callOf(consumer, first, { ...byName, provider_id: second.provider.id }))
        assert.strictEqual(at(named, "result", "from"), "other")
        const nobody = yield* aProvider()
        assert.deepStrictEqual(problemOf(yield* buy(consumer, first, { ...byName, provider_id: nobody.id })), [
          404,
          "NOT_FOUND"
        ])

        const misleading = { tool_id: first.toolId, tool_name: "no-such-tool", provider_id: second.provider.id }
        assert.strictEqual(at(yield* expecting(200, callOf(consumer, first, misleading)), "result", "from"), "one")
      })
  )

  it.effect("needs a tool and takes its input once", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const consumer = yield* aFundedConsumer()
      for (const body of [
        { tool_id: undefined },
        { arguments: {} },
        { input: [] },
        { input: "x" },
        { max_cost_microcents: 1.5 },
        { max_cost_microcents: -1 },
        { max_cost_microcents: "500" },
        { max_cost_microcents: 2 ** 53 },
        { dry_run: "true" },
        { input: { id: 2 ** 60 } },
        { tool_id: "not-a-uuid" }
      ]) {
        assert.deepStrictEqual(
          problemOf(yield* buy(consumer, offer, body)),
          [422, "VALIDATION_ERROR"],
          JSON.stringify(body)
        )
      }
      for (const input of [{ input: { a: 1 } }, { input: undefined, arguments: { a: 1 } }, { input: undefined }]) {
        yield* expecting(200, callOf(consumer, offer, input))
      }
    })
  )

  it.effect("that is a dry run returns the quote, is not forwarded, holds nothing and is not recorded", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, {
        input_schema: CITY,
        free_tier_calls: 1,
        max_cost_microcents: 40_000
      })
      const consumer = yield* aFundedConsumer(100)
      const dry = { dry_run: true, input: { city: "Bern" } }
      const expected = {
        tool: "echo",
        tool_name: "echo",
        qualified_name: yield* qualifiedNameOf(offer),
        tool_id: offer.toolId,
        provider: "Weather Works",
        provider_id: offer.provider.id,
        price_microcents: PRICE,
        price_cents: 1,
        price: "up to $0.04",
        max_cost_microcents: 40_000,
        usage_priced: true,
        price_version: 1,
        billing_policy: "success",
        on_cancel: "finish",
        canceled_call_costs: "price",
        free_tier_calls: 1,
        upcoming: null
      }
      const free = yield* expecting(200, callOf(consumer, offer, dry, "a dry run has no key"))
      assert.deepStrictEqual(at(free, "quote"), {
        ...expected,
        cost_microcents: 0,
        hold_microcents: 0,
        free_tier_remaining: 1,
        balance_microcents: 1_000_000,
        balance_after_microcents: 1_000_000,
        sufficient_funds: true
      })
      assert.strictEqual(forwarded(server), 0)
      assert.deepStrictEqual(yield* receiptsOf(consumer), [])

      yield* expecting(200, callOf(consumer, offer, { input: dry.input, max_cost_microcents: 40_000 }))
      const paid = yield* expecting(200, callOf(consumer, offer, { ...dry, max_cost_microcents: 20_000 }))
      assert.deepStrictEqual(at(paid, "quote"), {
        ...expected,
        cost_microcents: PRICE,
        hold_microcents: 20_000,
        free_tier_remaining: 0,
        balance_microcents: 1_000_000,
        balance_after_microcents: 1_000_000 - PRICE,
        sufficient_funds: true
      })
      assert.strictEqual(
        at(yield* expecting(200, callOf(yield* aConsumer(), offer, dry)), "quote", "cost_microcents"),
        0
      )
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, { ...dry, max_cost_microcents: 1 })), [
        409,
        "PRICE_CHANGED"
      ])
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, { dry_run: true })), [422, "VALIDATION_ERROR"])
      assert.deepStrictEqual(yield* walletOf(consumer), { balance: 1_000_000, held: 0, available: 1_000_000 })
      assert.strictEqual(forwarded(server), 1)
    })
  )

  it.effect("is quoted also where the balance is insufficient, and the quote says so", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const quote = yield* expecting(200, callOf(yield* aConsumer(), offer, { dry_run: true }))
      assert.strictEqual(at(quote, "quote", "sufficient_funds"), false)
      assert.strictEqual(at(quote, "quote", "balance_after_microcents"), -PRICE)
    })
  )

  it.effect("that succeeds returns its cost, its provider and the available balance", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { display_name: "Echo, the nymph" })
      const answer = yield* expecting(200, callOf(yield* aFundedConsumer(), offer))
      const receiptId = textAt(answer, "meta", "receipt_id")
      assert.deepStrictEqual(at(answer, "meta"), {
        tool: "Echo, the nymph",
        tool_name: "echo",
        tool_id: offer.toolId,
        provider: "Weather Works",
        provider_id: offer.provider.id,
        cost_cents: 1,
        cost_microcents: PRICE,
        cost: "$0.012345",
        latency_ms: numberAt(answer, "meta", "latency_ms"),
        remaining_balance_cents: 98,
        remaining_balance_microcents: 1_000_000 - PRICE,
        free_tier_remaining: null,
        receipt_id: receiptId,
        invocation_id: receiptId,
        attempts: 1,
        outcome: "success"
      })
      assert.strictEqual(valueAt(answer.json, "result", "content", 0, "text"), "fine")
    })
  )
})
