/**
 * Caps of usage-priced calls: their sources, which one applies, and that no more is held, billed or promised.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  aConsumer,
  at,
  expecting,
  KEYS,
  listAt,
  type Member,
  textAt,
  unasked,
  valueAt
} from "../../support/market/Market.ts"
import { forwarded, providing, resulting, slowProvider } from "../../support/metering/Provider.ts"
import { json, result } from "../../../testing/mcp/ScriptedServer.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  memoryMarket,
  numberAt,
  type Offer,
  PRICE,
  problemOf,
  PROXY,
  walletOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const CAP = "/api/v1/market/default-cap"
const WHOAMI = "/api/v1/market/whoami"
const MAXIMUM = 500_000
const NOBODYS = "00000000-0000-4000-8000-000000000000"

const greedy = resulting({ content: [], _meta: { "market/cost_microcents": Number.MAX_SAFE_INTEGER } })
const anUsageOffer = (price = 100) =>
  Effect.flatMap(greedy, ({ url }) => anOffer(url, { price_microcents: price, max_cost_microcents: MAXIMUM }))

const costOf = (answer: Answer): number => numberAt(answer, "meta", "cost_microcents")
const withHeader = (consumer: Member, offer: Offer, cap: string, more: object = {}) =>
  send({
    path: PROXY,
    key: consumer.key,
    json: { tool_id: offer.toolId, input: {}, ...more },
    headers: { "x-max-cost-microcents": cap }
  })
const setCap = (key: string, cap: number | null, keyId?: string) =>
  send({ path: CAP, key, json: { default_cap_microcents: cap, ...(keyId === undefined ? {} : { key_id: keyId }) } })

it.layer(memoryMarket(), LIVE)("The cap of a usage-priced call", (it) => {
  it.effect("comes from the call, the lower of body and header, else from the key, else from the account", () =>
    Effect.gen(function* () {
      const offer = yield* anUsageOffer()
      const consumer = yield* aFundedConsumer()
      const refused = yield* buy(consumer, offer)
      assert.deepStrictEqual(problemOf(refused), [422, "CAP_REQUIRED"])
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
      assert.strictEqual((yield* setCap(consumer.key, 5_000)).status, 200)
      assert.strictEqual(costOf(yield* buy(consumer, offer)), 5_000)
      const keyId = String(at(yield* expecting(200, { path: WHOAMI, key: consumer.key }), "key_id"))
      assert.strictEqual((yield* setCap(consumer.key, 4_000, keyId)).status, 200)
      assert.strictEqual(costOf(yield* buy(consumer, offer)), 4_000)
      assert.strictEqual(costOf(yield* withHeader(consumer, offer, "6000")), 6_000)
      const both = (header: string, max_cost_microcents: number, more: object = {}) =>
        withHeader(consumer, offer, header, { max_cost_microcents, ...more })
      assert.strictEqual(costOf(yield* both("6000", 7_000)), 6_000)
      assert.strictEqual(costOf(yield* both("7000", 6_000)), 6_000)
      const quoted = yield* both("6000", 7_000, { dry_run: true })
      assert.strictEqual(at(quoted, "quote", "hold_microcents"), 6_000)
      assert.deepStrictEqual(problemOf(yield* both("0", 7_000)), [409, "PRICE_CHANGED"])
      assert.deepStrictEqual(problemOf(yield* both("7000", 0)), [409, "PRICE_CHANGED"])
      assert.deepStrictEqual(problemOf(yield* both("none", 7_000)), [400, "BAD_REQUEST"])
      assert.deepStrictEqual(problemOf(yield* both("7000", -1)), [422, "VALIDATION_ERROR"])
      assert.strictEqual((yield* setCap(consumer.key, null, keyId)).status, 200)
      assert.strictEqual(costOf(yield* buy(consumer, offer)), 5_000)
      assert.strictEqual((yield* setCap(consumer.key, null)).status, 200)
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer)), [422, "CAP_REQUIRED"])
    })
  )

  it.effect("is shown by whoami and with each key, given to a new key, and inherited by a rotated one", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const made = yield* expecting(201, { path: KEYS, key: consumer.key, json: { default_cap_microcents: 900 } })
      assert.strictEqual(at(made, "key", "default_cap_microcents"), 900)
      yield* setCap(consumer.key, 70)
      const caps = (key: string) =>
        Effect.map(expecting(200, { path: unasked(WHOAMI), key }), (answer) => [
          at(answer, "default_cap_microcents"),
          at(answer, "account_default_cap_microcents")
        ])
      assert.deepStrictEqual(yield* caps(consumer.key), [70, 70])
      assert.deepStrictEqual(yield* caps(textAt(made, "api_key")), [900, 70])
      const listed = listAt(yield* expecting(200, { path: unasked(KEYS), key: consumer.key }), "keys")
      assert.deepStrictEqual(
        listed.map((key) => valueAt(key, "default_cap_microcents")),
        [900, null]
      )
      const rotated = yield* expecting(201, { path: `${KEYS}/rotate`, key: textAt(made, "api_key"), json: {} })
      assert.strictEqual(at(rotated, "key", "default_cap_microcents"), 900)
      assert.deepStrictEqual(yield* caps(textAt(rotated, "api_key")), [900, 70])
    })
  )

  it.effect("cannot be set for another account's key, nor for a provider", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* aConsumer(), yield* aConsumer()]
      const keyId = String(at(yield* expecting(200, { path: WHOAMI, key: other.key }), "key_id"))
      for (const id of [keyId, NOBODYS]) {
        assert.deepStrictEqual(problemOf(yield* setCap(one.key, 1, id)), [404, "NOT_FOUND"])
      }
      const { provider } = yield* anUsageOffer()
      assert.deepStrictEqual(problemOf(yield* setCap(provider.key, 1)), [403, "FORBIDDEN"])
      const made = yield* send({ path: KEYS, key: provider.key, json: { default_cap_microcents: 1 } })
      assert.deepStrictEqual(problemOf(made), [422, "VALIDATION_ERROR"])
      for (const json of [{}, { default_cap_microcents: -1 }, { default_cap_microcents: "1" }, { cap: 1 }]) {
        assert.strictEqual((yield* send({ path: CAP, key: one.key, json })).status, 422)
      }
    })
  )

  it.effect("below the list price is rejected, from any source", () =>
    Effect.gen(function* () {
      const offer = yield* anUsageOffer(PRICE)
      const consumer = yield* aFundedConsumer()
      yield* setCap(consumer.key, PRICE - 1)
      for (const answer of [
        yield* buy(consumer, offer),
        yield* withHeader(consumer, offer, String(PRICE - 1)),
        yield* buy(consumer, offer, { max_cost_microcents: 0 })
      ]) {
        assert.deepStrictEqual(problemOf(answer), [409, "PRICE_CHANGED"])
        assert.strictEqual(at(answer, "price_version"), 1)
      }
      assert.strictEqual(costOf(yield* buy(consumer, offer, { max_cost_microcents: PRICE })), PRICE)
    })
  )

  it.effect("in a header is a plain integer", () =>
    Effect.gen(function* () {
      const offer = yield* anUsageOffer()
      const consumer = yield* aFundedConsumer()
      for (const cap of ["", "-1", "1.5", "1e3", "0x10", "free", "9007199254740992", "99999999999999999999"]) {
        assert.deepStrictEqual(problemOf(yield* withHeader(consumer, offer, cap)), [400, "BAD_REQUEST"], cap)
      }
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
    })
  )

  it.effect("as a default ignores tools with a fixed price; in the call it applies", () =>
    Effect.gen(function* () {
      const server = yield* greedy
      const offer = yield* anOffer(server.url)
      const consumer = yield* aFundedConsumer()
      yield* setCap(consumer.key, 1)
      assert.strictEqual(costOf(yield* expecting(200, callOf(consumer, offer))), PRICE)
      assert.deepStrictEqual(problemOf(yield* withHeader(consumer, offer, "1")), [409, "PRICE_CHANGED"])
    })
  )

  it.effect("is all that is held, and is sent to the provider in a header and in the signed body", () =>
    Effect.gen(function* () {
      const { answer, server } = yield* slowProvider((seen, response) => json(response, result(seen, { content: [] })))
      const offer = yield* anOffer(server.url, { price_microcents: 0, max_cost_microcents: MAXIMUM })
      const consumer = yield* aFundedConsumer()
      const call = yield* Effect.forkChild(buy(consumer, offer, { max_cost_microcents: 30_000 }))
      while (forwarded(server) === 0) yield* Effect.sleep("5 millis")
      assert.strictEqual((yield* walletOf(consumer)).held, 30_000)
      yield* answer
      assert.strictEqual((yield* Fiber.join(call)).status, 200)
      const [seen] = server.of("tools/call")
      assert.strictEqual(seen!.headers["x-market-max-cost-microcents"], "30000")
      assert.strictEqual((seen!.params["_meta"] as Record<string, unknown>)["market/max_cost_microcents"], 30_000)
      yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: MAXIMUM * 2 }))
      assert.strictEqual(server.of("tools/call")[1]!.headers["x-market-max-cost-microcents"], String(MAXIMUM))
    })
  )

  it.effect("is not sent for a call with a fixed price", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response) => json(response, result(seen, { content: [] })))
      const offer = yield* anOffer(server.url)
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, callOf(consumer, offer, { max_cost_microcents: PRICE + 1 }))
      const [seen] = server.of("tools/call")
      assert.isUndefined(seen!.headers["x-market-max-cost-microcents"])
      assert.notProperty(seen!.params["_meta"] ?? {}, "market/max_cost_microcents")
    })
  )
})
