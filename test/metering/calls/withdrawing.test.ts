/**
 * A tool that its provider withdraws: no longer listed nor callable, with its records unchanged.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  at,
  CATALOG,
  expecting,
  listAt,
  type Member,
  namesOf,
  putTools,
  textAt,
  unasked
} from "../../support/market/Market.ts"
import { fine, forwarded, providing, slowProvider } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  memoryMarket,
  METER,
  numberAt,
  offerOf,
  PRICE,
  problemOf,
  walletOf,
  PROXY,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { DISPUTES, OWN_TOOLS, PROVIDERS } from "../../support/security/Paths.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const withdraw = (provider: Member, toolId: string) =>
  send({ method: "DELETE", path: `${OWN_TOOLS}/${toolId}`, key: provider.key })

const GONE: ReturnType<typeof problemOf> = [410, "TOOL_WITHDRAWN"]

it.layer(memoryMarket(), LIVE)("Withdrawing a tool", (it) => {
  it.effect("ends calls, quotes and reports of it, and keeps its records", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { tool_name: "leaving", category: "leaving" })
      const { provider, toolId } = offer
      const consumer = yield* aFundedConsumer()
      const bought = yield* buy(consumer, offer, {}, "before")
      const receiptId = textAt(bought, "meta", "receipt_id")
      const before = { wallet: yield* walletOf(consumer), receipts: yield* receiptsOf(consumer) }
      const sla = () => expecting(200, { path: unasked(`${PROVIDERS}/${provider.id}/sla`) })
      const calls = numberAt(yield* sla(), "total_calls_30d")

      const gone = yield* withdraw(provider, toolId)
      assert.strictEqual(gone.status, 200, gone.text)
      assert.deepStrictEqual([at(gone, "withdrawn"), at(gone, "tool_name")], [true, "leaving"])
      const since = textAt(gone, "withdrawn_at")
      assert.strictEqual(textAt(yield* withdraw(provider, toolId), "withdrawn_at"), since, "again changes nothing")

      const named = { tool_name: "leaving" }
      const asks = [
        { path: PROXY, json: { tool_id: toolId, input: {} } },
        { path: PROXY, json: { tool_id: toolId, input: {}, dry_run: true } },
        { path: PROXY, json: { ...named, input: {} } },
        { path: PROXY, json: { ...named, provider_id: provider.id, input: {} } },
        { path: METER, json: { ...named, success: true } }
      ]
      for (const ask of asks) {
        const refused = yield* send({ ...ask, key: consumer.key })
        assert.deepStrictEqual(problemOf(refused), GONE, refused.text)
        assert.deepStrictEqual([at(refused, "tool_id"), at(refused, "withdrawn_at")], [toolId, since])
      }
      const own = yield* send({ path: METER, json: { ...named, success: true }, key: provider.key })
      assert.deepStrictEqual(problemOf(own), GONE, own.text)
      assert.strictEqual(forwarded(server), 1)

      // A repeated key returns the result of the earlier call.
      const replayed = yield* buy(consumer, offer, {}, "before")
      assert.deepStrictEqual([replayed.status, textAt(replayed, "meta", "receipt_id")], [200, receiptId])
      assert.deepStrictEqual({ wallet: yield* walletOf(consumer), receipts: yield* receiptsOf(consumer) }, before)
      assert.isAtLeast(numberAt(yield* sla(), "total_calls_30d"), calls)
      yield* expecting(201, { path: DISPUTES, key: consumer.key, json: { receipt_id: receiptId, reason: "quality" } })
    })
  )

  it.effect("does not prevent reports of calls that were made before", () =>
    Effect.gen(function* () {
      const { provider, toolId } = yield* anOffer("http://127.0.0.1:9/mcp", { tool_name: "reported" })
      const consumer = yield* aFundedConsumer()
      const since = Date.parse(textAt(yield* withdraw(provider, toolId), "withdrawn_at"))
      const report = (ms: number, tool: Readonly<Record<string, string>>) => {
        const timestamp = new Date(since + ms).toISOString()
        return send({ path: METER, key: consumer.key, json: { ...tool, success: true, timestamp } })
      }
      for (const tool of [{ tool_id: toolId }, { tool_name: "reported" }]) {
        const made = yield* report(-1, tool)
        assert.strictEqual(made.status, 201, made.text)
        assert.deepStrictEqual(problemOf(yield* report(0, tool)), GONE)
      }
      const costs = (yield* receiptsOf(provider)).map((receipt) => receipt.cost_microcents)
      assert.deepStrictEqual(costs, [PRICE, PRICE])
    })
  )

  it.effect("removes it from every list, shows it to its provider, and lists it again under its id", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer("http://127.0.0.1:9/mcp", { tool_name: "off", category: "off list" })
      const { provider, toolId } = offer
      yield* putTools(provider, { tool_name: "on" })
      const listed = (query: string) =>
        Effect.map(expecting(200, { path: unasked(`${CATALOG}?${query}`) }), (answer) => {
          assert.strictEqual(at(answer, "total"), listAt(answer, "tools").length)
          return namesOf(listAt(answer, "tools"))
        })
      const mine = (query = "") =>
        Effect.map(expecting(200, { path: `${OWN_TOOLS}${query}`, key: provider.key }), (answer) =>
          namesOf(listAt(answer, "tools"))
        )
      const ofProvider = `provider_id=${provider.id}`
      assert.strictEqual((yield* withdraw(provider, toolId)).status, 200)
      assert.deepStrictEqual(yield* listed(ofProvider), ["on"])
      assert.deepStrictEqual(yield* listed("category=off%20list"), [])
      const shown = yield* expecting(200, { path: unasked(`${OWN_TOOLS}/${toolId}`) })
      assert.isString(at(shown, "withdrawn_at"))
      const page = yield* expecting(200, { path: unasked(`/catalog/${toolId}`) })
      assert.include(page.text, "The provider withdrew this tool on")
      assert.notInclude(page.text, 'id="call"')
      assert.deepStrictEqual(yield* mine(), ["off", "on"])
      assert.deepStrictEqual(yield* mine("?state=withdrawn"), ["off"])
      assert.deepStrictEqual(yield* mine("?state=listed"), ["on"])
      const first = yield* expecting(200, { path: `${OWN_TOOLS}?limit=1`, key: provider.key })
      assert.strictEqual(at(first, "total"), 2)
      assert.deepStrictEqual(yield* mine(`?limit=1&cursor=${textAt(first, "next_cursor")}`), ["on"])

      const stranger = yield* anOffer("http://127.0.0.1:9/mcp", { tool_name: "off" })
      for (const [who, id] of [
        [stranger.provider, toolId],
        [provider, provider.id]
      ] as const) {
        assert.deepStrictEqual(problemOf(yield* withdraw(who, id)), [404, "NOT_FOUND"])
      }
      // The bare name now means the provider that still sells it.
      const consumer = yield* aFundedConsumer()
      const quote = yield* send({
        path: PROXY,
        key: consumer.key,
        json: { tool_name: "off", input: {}, dry_run: true }
      })
      assert.strictEqual(quote.status, 200, quote.text)
      assert.include(quote.text, stranger.toolId)

      const again = yield* putTools(provider, { tool_name: "off", price_microcents: PRICE })
      assert.strictEqual(textAt(again, "tools", 0, "id"), toolId)
      assert.deepStrictEqual(yield* listed(ofProvider), ["off", "on"])
      const quoted = yield* buy(consumer, offer, { dry_run: true })
      assert.strictEqual(quoted.status, 200, quoted.text)
    })
  )

  it.effect("lets a call in flight end, and pays for it", () =>
    Effect.gen(function* () {
      const { answer, server } = yield* slowProvider()
      const offer = yield* anOffer(server.url, { tool_name: "slow" })
      const consumer = yield* aFundedConsumer()
      const calling = yield* Effect.forkChild(buy(consumer, offer))
      while (forwarded(server) === 0) yield* Effect.sleep("5 millis")
      assert.strictEqual((yield* withdraw(offer.provider, offer.toolId)).status, 200)
      yield* answer
      const done = yield* Fiber.join(calling)
      assert.strictEqual(done.status, 200, done.text)
      assert.strictEqual((yield* receiptsOf(offer.provider))[0]!.cost_microcents, PRICE)
    })
  )

  it.effect("does not tell consumers of free calls that are no longer available", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* offerOf((yield* anOffer(server.url, { tool_name: "other" })).provider, {
        tool_name: "free",
        free_tier_calls: 5
      })
      const consumer = yield* aFundedConsumer()
      assert.strictEqual((yield* buy(consumer, offer)).status, 200)
      const tiers = () => expecting(200, { path: "/api/v1/market/free-tiers", key: consumer.key })
      assert.include((yield* tiers()).text, offer.toolId)
      yield* withdraw(offer.provider, offer.toolId)
      assert.notInclude((yield* tiers()).text, offer.toolId)
    })
  )
})
