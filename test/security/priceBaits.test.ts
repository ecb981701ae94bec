/**
 * Price baits: what a provider could do with the terms of a tool that a consumer has accepted. Each of these charged
 * the consumer, or broke a promise, before terms had a notice period and usage-priced calls a cap.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import {
  at,
  aProvider,
  CATALOG,
  expecting,
  listAt,
  type Member,
  putTools,
  TOOLS,
  unasked
} from "../support/market/Market.ts"
import { fine, forwarded, providing, resulting } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  memoryMarket,
  numberAt,
  type Offer,
  problemOf,
  walletOf
} from "../support/metering/Shop.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"

const NINE_HUNDRED = 900_000_000
const PRICE = 1_000
const DAY_MS = 86_400_000

const costOf = (answer: Answer): number => numberAt(answer, "meta", "cost_microcents")
const takes = (cost: number) => resulting({ content: [], _meta: { "market/cost_microcents": cost } })
const details = (offer: Offer) =>
  expecting(200, { path: unasked(`${TOOLS.replace("/api", "/api/v1")}/${offer.toolId}`) })
const change = (offer: Offer, fields: object) => putTools(offer.provider, { tool_name: "echo", ...fields })
const costNow = (consumer: Member, offer: Offer) => Effect.map(expecting(200, callOf(consumer, offer)), costOf)

/** At least a day ahead; for a free tier, at the start of a month. */
const announced = (answer: Answer, ...path: ReadonlyArray<string>) =>
  Effect.map(DateTime.now, (now) => {
    const from = Date.parse(String(at(answer, ...path, "upcoming", "effective_from")))
    assert.isAtLeast(from, now.epochMilliseconds + DAY_MS - 60_000)
    return new Date(from)
  })

it.layer(memoryMarket({ PRICE_NOTICE_HOURS: "24" }), LIVE)("A price bait", (it) => {
  it.effect(
    "of a tool whose price is 0 and whose maximum is $900 is not listed as free, and is charged up to the caller's cap",
    () =>
      Effect.gen(function* () {
        const server = yield* takes(NINE_HUNDRED)
        const offer = yield* anOffer(server.url, { price_microcents: 0, max_cost_microcents: NINE_HUNDRED })
        yield* putTools(offer.provider, { tool_name: "cheap", price_microcents: 1 })
        const consumer = yield* aFundedConsumer(100_000)

        const own = `${CATALOG}?provider_id=${offer.provider.id}`
        const sorted = yield* expecting(200, { path: unasked(`${own}&sort=price`) })
        assert.deepStrictEqual(
          listAt(sorted, "tools").map((_, n) => [
            at(sorted, "tools", n, "tool_name"),
            at(sorted, "tools", n, "pricing", "price")
          ]),
          [
            ["cheap", "$0.000001"],
            ["echo", "up to $900.00"]
          ]
        )
        const dear = yield* expecting(200, { path: unasked(`${own}&sort=price_desc`) })
        assert.strictEqual(at(dear, "tools", 0, "tool_name"), "echo")
        const affordable = yield* expecting(200, { path: unasked(`${own}&max_price_microcents=${NINE_HUNDRED - 1}`) })
        assert.deepStrictEqual([at(affordable, "total"), at(affordable, "tools", 0, "tool_name")], [1, "cheap"])
        assert.include((yield* send({ path: `/catalog/${offer.toolId}` })).text, "up to $900.00")

        const refused = yield* buy(consumer, offer)
        assert.deepStrictEqual(problemOf(refused), [422, "CAP_REQUIRED"])
        assert.strictEqual(at(refused, "max_cost_microcents"), NINE_HUNDRED)
        for (const way of ["max_cost_microcents", "X-Max-Cost-Microcents", "default_cap_microcents"]) {
          assert.include(String(at(refused, "message")), way)
        }
        assert.strictEqual(forwarded(server), 0)
        assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000_000)

        const quote = yield* expecting(200, callOf(consumer, offer, { dry_run: true }))
        assert.deepStrictEqual(
          [
            at(quote, "quote", "price"),
            at(quote, "quote", "max_cost_microcents"),
            at(quote, "quote", "hold_microcents")
          ],
          ["up to $900.00", NINE_HUNDRED, NINE_HUNDRED]
        )
        const capped = yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: 700 }))
        assert.strictEqual(costOf(capped), 700)
        assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000_000 - 700)
      })
  )

  it.effect("that raises the price of a quote is announced, shown everywhere, and not charged", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer(100_000)
      const quote = yield* expecting(200, callOf(consumer, offer, { dry_run: true }))
      yield* change(offer, { price_microcents: NINE_HUNDRED })
      assert.strictEqual(yield* costNow(consumer, offer), PRICE)

      const version = numberAt(quote, "quote", "price_version")
      const named = yield* expecting(200, callOf(consumer, offer, { price_version: version }))
      assert.strictEqual(costOf(named), PRICE)
      const ahead = yield* buy(consumer, offer, { price_version: version + 1 })
      assert.deepStrictEqual(problemOf(ahead), [409, "PRICE_CHANGED"])
      assert.deepStrictEqual([at(ahead, "price_version"), at(ahead, "price_microcents")], [version, PRICE])

      yield* announced(yield* details(offer), "pricing")
      yield* announced(yield* expecting(200, callOf(consumer, offer, { dry_run: true })), "quote")
      const listed = yield* expecting(200, { path: unasked(`${CATALOG}?provider_id=${offer.provider.id}`) })
      assert.strictEqual(at(listed, "tools", 0, "pricing", "price_microcents"), PRICE)
      assert.strictEqual(at(listed, "tools", 0, "pricing", "upcoming", "price_microcents"), NINE_HUNDRED)
      const page = yield* send({ path: `/catalog/${offer.toolId}` })
      assert.include(page.text, "$900.00 per call")
      let line: unknown
      for (let offset = 0; line === undefined; offset += 100) {
        const prices = yield* expecting(200, { path: unasked(`/api/v1/market/pricing?limit=100&offset=${offset}`) })
        line = listAt(prices, "pricing").find((one) => JSON.stringify(one).includes(offer.toolId))
        if (listAt(prices, "pricing").length === 0) break
      }
      assert.include(JSON.stringify(line), `"upcoming":{"price_version":2,"price_microcents":${NINE_HUNDRED}`)
    })
  )

  it.effect("that withdraws the tool and lists it again at a higher price does not avoid the notice period", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer(100_000)
      const withdraw = send({
        method: "DELETE",
        path: `/api/v1/market/tools/${offer.toolId}`,
        key: offer.provider.key
      })
      // Announced, then waited for while withdrawn: that time does not count.
      yield* change(offer, { price_microcents: NINE_HUNDRED })
      assert.strictEqual((yield* withdraw).status, 200)
      assert.isNull(at(yield* details(offer), "pricing", "upcoming"))
      yield* change(offer, { price_microcents: NINE_HUNDRED })
      assert.strictEqual(yield* costNow(consumer, offer), PRICE)
      const shown = yield* details(offer)
      yield* announced(shown, "pricing")
      assert.strictEqual(at(shown, "id"), offer.toolId)
      assert.strictEqual(listAt(shown, "price_history").length, 1)
    })
  )

  it.effect("that falls back to a high default price does not avoid the notice period", () =>
    Effect.gen(function* () {
      const provider = { default_price_microcents: NINE_HUNDRED }
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE }, provider)
      const consumer = yield* aFundedConsumer(100_000)
      yield* change(offer, { price_microcents: null })
      assert.strictEqual(yield* costNow(consumer, offer), PRICE)
      yield* announced(yield* details(offer), "pricing")
    })
  )

  it.effect("that raises the maximum, or makes a fixed price a usage price, waits for the notice period", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* takes(NINE_HUNDRED)).url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer(100_000)
      yield* change(offer, { max_cost_microcents: NINE_HUNDRED })
      assert.strictEqual(yield* costNow(consumer, offer), PRICE)
      const shown = yield* details(offer)
      yield* announced(shown, "pricing")
      assert.strictEqual(at(shown, "pricing", "upcoming", "price"), "up to $900.00")
    })
  )

  it.effect("that cuts the free tier during a month leaves this month's free calls", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE, free_tier_calls: 3 })
      const consumer = yield* aFundedConsumer()
      assert.strictEqual(yield* costNow(consumer, offer), 0)
      yield* change(offer, { free_tier_calls: 0 })
      for (const cost of [0, 0, PRICE]) assert.strictEqual(yield* costNow(consumer, offer), cost)
      const from = yield* announced(yield* details(offer), "pricing")
      assert.deepStrictEqual([from.getUTCDate(), from.getUTCHours(), from.getUTCMilliseconds()], [1, 0, 0])
    })
  )

  it.effect("that changes the policy to charge for failures waits for the notice period", () =>
    Effect.gen(function* () {
      const server = yield* resulting({ isError: true, content: [] })
      const offer = yield* anOffer(server.url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer()
      yield* change(offer, { billing_policy: "attempt" })
      yield* buy(consumer, offer)
      assert.strictEqual(forwarded(server), 1)
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
      const shown = yield* details(offer)
      yield* announced(shown, "pricing")
      assert.deepStrictEqual(
        [at(shown, "billing_policy"), at(shown, "declaration", "billing_policy")],
        ["success", "attempt"]
      )
    })
  )

  it.effect("in two steps is announced anew with the second", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
      yield* change(offer, { price_microcents: PRICE + 1 })
      const first = yield* announced(yield* details(offer), "pricing")
      yield* Effect.sleep("5 millis")
      yield* change(offer, { price_microcents: NINE_HUNDRED })
      const shown = yield* details(offer)
      const second = yield* announced(shown, "pricing")
      assert.isAbove(second.getTime(), first.getTime())
      assert.strictEqual(at(shown, "pricing", "upcoming", "price_version"), 3)
      // Withdrawn again: nothing is announced, and the history does not show it.
      yield* change(offer, { price_microcents: PRICE })
      const after = yield* details(offer)
      assert.deepStrictEqual([at(after, "pricing", "upcoming"), listAt(after, "price_history").length], [null, 1])
    })
  )

  it.effect("is not one where the price falls: that applies immediately, beside what is announced", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer()
      yield* change(offer, { price_microcents: PRICE - 1 })
      assert.strictEqual(yield* costNow(consumer, offer), PRICE - 1)
      assert.isNull(at(yield* details(offer), "pricing", "upcoming"))
    })
  )
})

it.layer(memoryMarket(), LIVE)("A tool that is registered again", (it) => {
  it.effect("keeps every field that is not sent, and null resets one to its default", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ default_price_microcents: 77 })
      const all = {
        tool_name: "echo",
        display_name: "Echo",
        description: "Says it again",
        category: "text",
        price_microcents: PRICE,
        free_tier_calls: 3,
        input_schema: { type: "object" },
        output_schema: { type: "object", properties: {} },
        billing_policy: "valid_output",
        max_cost_microcents: 5_000,
        timeout_ms: 2_000,
        idempotent: true,
        on_cancel: "pass",
        canceled_call_costs: "nothing"
      }
      const put = yield* putTools(provider, all)
      const id = String(at(put, "tools", 0, "id"))
      const declared = Effect.map(expecting(200, { path: unasked(`/api/v1/market/tools/${id}`) }), (answer) =>
        at(answer, "declaration")
      )
      yield* putTools(provider, { tool_name: "echo" })
      assert.deepStrictEqual(yield* declared, all)
      yield* putTools(provider, { tool_name: "echo", description: "Says it twice" })
      assert.deepStrictEqual(yield* declared, { ...all, description: "Says it twice" })
      yield* putTools(provider, { tool_name: "echo", pricing: { free_tier_calls: 5 } })
      assert.deepStrictEqual(yield* declared, { ...all, description: "Says it twice", free_tier_calls: 5 })
      const defaults = Object.fromEntries(Object.keys(all).map((field) => [field, null]))
      yield* putTools(provider, { ...defaults, tool_name: "echo" })
      assert.deepStrictEqual(yield* declared, {
        tool_name: "echo",
        display_name: "echo",
        description: "",
        category: "other",
        billing_policy: "success",
        idempotent: false,
        on_cancel: "finish",
        canceled_call_costs: "price"
      })
      const reset = yield* expecting(200, { path: unasked(`/api/v1/market/tools/${id}`) })
      assert.deepStrictEqual(
        [at(reset, "pricing", "price_microcents"), at(reset, "pricing", "max_cost_microcents")],
        [77, 77]
      )
    })
  )

  it.effect(
    "is charged immediately where the operator set no notice period, but not to a caller that named the previous version",
    () =>
      Effect.gen(function* () {
        const offer = yield* anOffer((yield* providing(fine)).url, { price_microcents: PRICE })
        const consumer = yield* aFundedConsumer()
        yield* change(offer, { price_microcents: PRICE * 2 })
        const refused = yield* buy(consumer, offer, { price_version: 1 })
        assert.deepStrictEqual(problemOf(refused), [409, "PRICE_CHANGED"])
        assert.deepStrictEqual([at(refused, "price_version"), at(refused, "price_microcents")], [2, PRICE * 2])
        assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
        assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer, { price_version: 2 }))), PRICE * 2)
        const dry = yield* buy(consumer, offer, { price_version: 1, dry_run: true })
        assert.deepStrictEqual(problemOf(dry), [409, "PRICE_CHANGED"])
      })
  )
})
