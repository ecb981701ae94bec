/**
 * A repeated Idempotency-Key: executed once, charged once, the same response.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { aConsumer, at, expecting, listAt, putTools } from "../../support/market/Market.ts"
import { later } from "../../support/metering/TestTime.ts"
import { fine, forwarded, providing, resulting, slowProvider } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  callOf,
  everyMarket,
  memoryMarket,
  GRANTS,
  load,
  LOAD,
  METER,
  offerOf,
  PRICE,
  problemOf,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { type Call, LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const TIMES = 32

/** The one response that all got, except those that were told to retry. */
const atOnce = Effect.fnUntraced(function* (call: Call) {
  const answers = yield* Effect.all(
    Array.from({ length: TIMES }, () => send(call)),
    { concurrency: "unbounded" }
  )
  const answered = answers.filter((answer) => answer.status !== 409)
  for (const { headers, json } of answers.filter((answer) => answer.status === 409)) {
    assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/u)
    assert.include(json, { code: "IDEMPOTENCY_CONFLICT" })
  }
  assert.isNotEmpty(answered)
  assert.strictEqual(answered.filter((answer) => !isReplay(answer)).length, 1, "one was the first")
  for (const answer of answered) checkSame(answer, answered[0]!)
  const again = yield* send(call)
  assert.isTrue(isReplay(again))
  checkSame(again, answered[0]!)
  return again
})

const isReplay = (answer: Answer): boolean => answer.headers["idempotent-replay"] === "true"

const ownHeaders = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-market-") || name === "link"))

const checkSame = (one: Answer, other: Answer): void => {
  assert.strictEqual(one.status, other.status)
  assert.strictEqual(one.text, other.text)
  assert.deepStrictEqual(ownHeaders(one), ownHeaders(other))
}

it.layer(memoryMarket(), LIVE)("An Idempotency-Key", (it) => {
  it.effect("belongs to its consumer: another consumer's same key is another call", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url)
      for (const consumer of [yield* aFundedConsumer(), yield* aFundedConsumer()]) {
        assert.isFalse(isReplay(yield* expecting(200, callOf(consumer, offer, {}, "shared"))))
      }
      assert.strictEqual(forwarded(server), 2)
    })
  )

  it.effect("of a call whose tool returned an error returns the same response, and charges once", () =>
    Effect.gen(function* () {
      const server = yield* resulting({ content: [], isError: true })
      const offer = yield* anOffer(server.url, { billing_policy: "attempt" })
      const consumer = yield* aFundedConsumer()
      const first = yield* expecting(200, callOf(consumer, offer, {}, "failed"))
      const again = yield* expecting(200, callOf(consumer, offer, {}, "failed"))
      assert.isTrue(isReplay(again))
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(at(again, "meta", "outcome"), "error")
      assert.deepStrictEqual(ownHeaders(again), ownHeaders(first))
      assert.strictEqual(forwarded(server), 1)
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - PRICE)
    })
  )

  it.effect("is not consumed by a rejected call, which may be sent again", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { input_schema: { type: "object", required: ["q"] } })
      const consumer = yield* aConsumer()
      const call = callOf(consumer, offer, { input: { q: 1 } }, "again")
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, {}, "again")), [422, "VALIDATION_ERROR"])
      assert.deepStrictEqual(problemOf(yield* send(call)), [402, "INSUFFICIENT_FUNDS"])
      yield* load(consumer, 100)
      assert.isFalse(isReplay(yield* expecting(200, call)))
      assert.isTrue(isReplay(yield* expecting(200, call)))
    })
  )

  it.effect("still replays 29 days later, without any balance", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { price_microcents: 1_000_000 })
      const consumer = yield* aFundedConsumer()
      const first = yield* expecting(200, callOf(consumer, offer, {}, "old"))
      const again = yield* expecting(200, callOf(consumer, offer, {}, "old")).pipe(later("29 days"))
      assert.isTrue(isReplay(again))
      checkSame(again, first)
    })
  )

  it.effect("replays although price, schema or name have changed since", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const tool = { tool_name: "replayed" }
      const offer = yield* anOffer(server.url, tool)
      const consumer = yield* aFundedConsumer()
      const byName = { tool_id: undefined, tool_name: offer.toolName }
      const calls = [
        callOf(consumer, offer, { max_cost_microcents: PRICE }, "price"),
        callOf(consumer, offer, { input: { q: 1 } }, "schema"),
        callOf(consumer, offer, byName, "name")
      ]
      const before = yield* Effect.forEach(calls, (call) => expecting(200, call))
      const input_schema = { type: "object", required: ["q"], properties: { q: { type: "string" } } }
      yield* putTools(offer.provider, { ...tool, price_microcents: PRICE * 2, input_schema })
      yield* anOffer(server.url, tool)
      for (const [n, call] of calls.entries()) checkSame(yield* send(call), before[n]!)
      assert.strictEqual(forwarded(server), 3)
    })
  )

  it.effect("has 1 to 255 characters", () =>
    Effect.gen(function* () {
      const offer = yield* offerOf((yield* anOffer((yield* providing(fine)).url)).provider)
      const consumer = yield* aFundedConsumer()
      for (const key of ["", "x".repeat(256)]) {
        assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, {}, key)), [400, "BAD_REQUEST"])
        const metered = {
          path: METER,
          key: consumer.key,
          json: { tool_id: offer.toolId },
          headers: { "idempotency-key": key }
        }
        assert.deepStrictEqual(problemOf(yield* send(metered)), [400, "BAD_REQUEST"])
      }
      yield* expecting(200, callOf(consumer, offer, {}, "x".repeat(255)))
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`The same key in ${TIMES} concurrent requests over ${name}`, (it) => {
    it.effect("calls the provider once, and charges once", () =>
      Effect.gen(function* () {
        const server = yield* resulting({ content: [], drawn: "once" })
        const offer = yield* anOffer(server.url)
        const consumer = yield* aFundedConsumer()
        const answer = yield* atOnce(callOf(consumer, offer, {}, "a lost reply"))
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(at(answer, "result", "drawn"), "once")
        assert.strictEqual(forwarded(server), 1)
        assert.deepStrictEqual(yield* walletOf(consumer), {
          balance: 1_000_000 - PRICE,
          held: 0,
          available: 1_000_000 - PRICE
        })
        assert.strictEqual((yield* receiptsOf(consumer)).length, 1)
        yield* books
      })
    )

    it.effect("reports one call", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer("http://127.0.0.1:9/mcp")
        const consumer = yield* aFundedConsumer()
        const json = { tool_id: offer.toolId, duration_ms: 7 }
        const header = yield* atOnce({
          path: METER,
          key: consumer.key,
          json,
          headers: { "idempotency-key": "metered" }
        })
        assert.strictEqual(header.status, 201)
        const event = { specversion: "1.0", id: "1", source: "/agents/1", type: "call.finished", data: json }
        const cloud = yield* atOnce({
          path: METER,
          key: consumer.key,
          json: event,
          headers: { "content-type": "application/cloudevents+json" }
        })
        assert.notStrictEqual(at(cloud, "invocation_id"), at(header, "invocation_id"))
        assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 2 * PRICE)
        assert.strictEqual((yield* receiptsOf(consumer)).length, 2)
      })
    )

    it.effect("loads the balance once, and creates one grant", () =>
      Effect.gen(function* () {
        const consumer = yield* aConsumer()
        const headers = { "idempotency-key": "the same for both: they are other requests" }
        const loaded = yield* atOnce({ path: LOAD, key: consumer.key, json: { amount_cents: 500 }, headers })
        assert.strictEqual(at(loaded, "new_balance_cents"), 500)
        assert.strictEqual((yield* walletOf(consumer)).balance, 5_000_000)
        const { provider } = yield* anOffer("http://127.0.0.1:9/mcp")
        const json = { provider_id: provider.id, cap_microcents: 1 }
        const grant: Call = { path: GRANTS, key: consumer.key, json, headers: { "idempotency-key": "a grant" } }
        assert.strictEqual((yield* atOnce(grant)).status, 201)
        assert.strictEqual(listAt(yield* expecting(200, { path: GRANTS, key: consumer.key }), "grants").length, 1)
      })
    )
  })

  it.layer(market, LIVE)(`An Idempotency-Key over ${name}`, (it) => {
    it.effect("belongs to one body: another body is a conflict, during the call and after it", () =>
      Effect.gen(function* () {
        const slow = yield* slowProvider()
        const offer = yield* anOffer(slow.server.url)
        const consumer = yield* aFundedConsumer()
        const first = yield* Effect.forkChild(buy(consumer, offer, { input: { n: 1 } }, "key"))
        yield* eventually(() => forwarded(slow.server) === 1)

        const same = yield* buy(consumer, offer, { input: { n: 1 } }, "key")
        assert.deepStrictEqual(problemOf(same), [409, "IDEMPOTENCY_CONFLICT"])
        assert.strictEqual(same.headers["retry-after"], "1")
        const other = yield* buy(consumer, offer, { input: { n: 2 } }, "key")
        assert.deepStrictEqual(problemOf(other), [409, "IDEMPOTENCY_CONFLICT"])
        assert.isUndefined(other.headers["retry-after"])

        yield* slow.answer
        const answer = yield* Fiber.join(first)
        checkSame(yield* expecting(200, callOf(consumer, offer, { input: { n: 1 } }, "key")), answer)
        assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, { input: { n: 2 } }, "key")), [
          409,
          "IDEMPOTENCY_CONFLICT"
        ])
        assert.strictEqual(forwarded(slow.server), 1)
        for (const [path, json, other] of [
          [LOAD, { amount_cents: 100 }, { amount_cents: 200 }],
          [METER, { tool_id: offer.toolId }, { duration_ms: 1 }]
        ] as const) {
          const headers = { "idempotency-key": `key of ${path}` }
          assert.isBelow((yield* send({ path, key: consumer.key, json, headers })).status, 300)
          const changed = yield* send({
            path,
            key: consumer.key,
            json: { ...json, ...other },
            headers
          })
          assert.deepStrictEqual(problemOf(changed), [409, "IDEMPOTENCY_CONFLICT"])
        }
      })
    )
  })
}
