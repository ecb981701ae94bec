/**
 * Reported calls: who may report them, and what they cost.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, at, expecting, faultPaths, type Member, textAt } from "../../support/market/Market.ts"
import { when } from "../../support/metering/TestTime.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  memoryMarket,
  METER,
  numberAt,
  offerOf,
  PRICE,
  problemOf,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

type Fields = Readonly<Record<string, unknown>>

const report = (reporter: Member, json: Fields, headers: Readonly<Record<string, string>> = {}) =>
  send({ path: METER, key: reporter.key, json, headers })

const recorded = (reporter: Member, json: Fields) => expecting(201, { path: METER, key: reporter.key, json })
const costOf = (answer: Answer): number => numberAt(answer, "cost_microcents")
const minutesFrom = (now: string, minutes: number) => new Date(Date.parse(now) + minutes * 60_000).toISOString()

const nowhere = "http://127.0.0.1:9/mcp"

it.layer(memoryMarket(), LIVE)("A consumer that reports calls", (it) => {
  it.effect("is billed as by the proxy, and gets the whole receipt", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const answer = yield* recorded(consumer, { tool_id: offer.toolId, duration_ms: 42 })
      const [receipt] = yield* receiptsOf(consumer)
      const { receipt_id, timestamp } = receipt!
      assert.deepStrictEqual(answer.json as unknown, {
        metered: true,
        recorded: true,
        invocation_id: receipt_id,
        tool_id: offer.toolId,
        tool_name: "echo",
        agent_id: consumer.id,
        provider_id: offer.provider.id,
        cost_microcents: PRICE,
        cost_cents: 1,
        status: "success",
        timestamp,
        receipt: { ...receipt!, verify_url: "https://market.example/api/v1/verify" }
      })
      assert.strictEqual(receipt!.duration_ms, 42)
      assert.strictEqual(answer.headers["x-market-receipt"], receipt_id)
      assert.include(answer.headers["link"], `/api/v1/market/receipts/${receipt_id}>; rel="receipt"`)
      const verified = yield* expecting(200, { path: "/api/v1/verify", json: { receipt: at(answer, "receipt") } })
      assert.strictEqual(at(verified, "verification", "reason"), "ok")
      assert.deepStrictEqual(yield* walletOf(consumer), {
        balance: 1_000_000 - PRICE,
        held: 0,
        available: 1_000_000 - PRICE
      })
      yield* books
    })
  )

  it.effect("names no agent or itself; it cannot bill another agent", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const [consumer, other] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const own = { tool_id: offer.toolId }
      for (const who of [{}, { agent_id: consumer.id }, { consumer_id: consumer.id }]) {
        assert.strictEqual(textAt(yield* recorded(consumer, { ...own, ...who }), "agent_id"), consumer.id)
      }
      for (const who of [{ agent_id: other.id }, { consumer_id: other.id }]) {
        assert.deepStrictEqual(problemOf(yield* report(consumer, { ...own, ...who })), [403, "FORBIDDEN"])
      }
      const both = { agent_id: consumer.id, consumer_id: other.id }
      assert.deepStrictEqual(problemOf(yield* report(consumer, { ...own, ...both })), [422, "VALIDATION_ERROR"])
      assert.strictEqual((yield* walletOf(other)).balance, 1_000_000)
      assert.strictEqual((yield* receiptsOf(consumer)).length, 3)
    })
  )

  it.effect("pays for successes only, whatever the tool's billing policy", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere, { billing_policy: "attempt" })
      const consumer = yield* aFundedConsumer()
      const said = [
        [{}, "success", PRICE],
        [{ success: true }, "success", PRICE],
        [{ status: "success" }, "success", PRICE],
        [{ status: "success", success: true }, "success", PRICE],
        [{ success: false }, "error", 0],
        [{ status: "error" }, "error", 0],
        [{ status: "timeout", success: false }, "timeout", 0],
        [{ status: "rate_limited" }, "rate_limited", 0]
      ] as const
      for (const [words, status, cost] of said) {
        const answer = yield* recorded(consumer, { tool_id: offer.toolId, ...words })
        assert.deepStrictEqual([textAt(answer, "status"), costOf(answer)], [status, cost], JSON.stringify(words))
      }
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 4 * PRICE)
      const contrary = { tool_id: offer.toolId, success: true, status: "error" }
      assert.deepStrictEqual(problemOf(yield* report(consumer, contrary)), [422, "VALIDATION_ERROR"])
    })
  )

  it.effect("does not set the price: its own cost is ignored", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere, { max_cost_microcents: 50_000 })
      const consumer = yield* aFundedConsumer()
      for (const cost_microcents of [0, 1, 50_000, 10_000_000]) {
        assert.strictEqual(costOf(yield* recorded(consumer, { tool_id: offer.toolId, cost_microcents })), PRICE)
      }
    })
  )

  it.effect("uses the same free tier as the proxy, in the month of the call", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url, { free_tier_calls: 2 })
      const consumer = yield* aFundedConsumer()
      const call = { tool_id: offer.toolId }
      const costs: Array<number> = []
      const now = when("2026-12-02T00:00:00.000Z")
      costs.push(costOf(yield* now(recorded(consumer, call))))
      costs.push(numberAt(yield* now(buy(consumer, offer)), "meta", "cost_microcents"))
      costs.push(costOf(yield* now(recorded(consumer, call))))
      costs.push(costOf(yield* now(recorded(consumer, { ...call, timestamp: "2026-11-30T23:59:59.999Z" }))))
      costs.push(costOf(yield* now(recorded(consumer, { ...call, timestamp: "2026-12-01T00:00:00.000Z" }))))
      assert.deepStrictEqual(costs, [0, 0, PRICE, 0, PRICE])
    })
  )

  it.effect("is rejected with insufficient balance, and nothing is recorded", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aConsumer()
      const refused = yield* report(consumer, { tool_id: offer.toolId })
      assert.deepStrictEqual(problemOf(refused), [402, "INSUFFICIENT_FUNDS"])
      assert.strictEqual(at(refused, "cost_microcents"), PRICE)
      assert.deepStrictEqual(yield* receiptsOf(consumer), [])
      assert.strictEqual(costOf(yield* recorded(consumer, { tool_id: offer.toolId, success: false })), 0)
    })
  )

  it.effect("states the time of the call: within the last 7 days, and not in the future", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const now = new Date().toISOString()
      for (const minutes of [0, -1, -6 * 24 * 60, -7 * 24 * 60 + 1, 4]) {
        const timestamp = minutesFrom(now, minutes)
        const answer = yield* recorded(consumer, { tool_id: offer.toolId, timestamp })
        assert.strictEqual(textAt(answer, "timestamp"), timestamp)
        assert.strictEqual(textAt(answer, "receipt", "timestamp"), timestamp)
      }
      const elsewhere = `${minutesFrom(now, -30).slice(0, -1)}+02:00`
      const inUtc = yield* recorded(consumer, { tool_id: offer.toolId, timestamp: elsewhere })
      assert.strictEqual(textAt(inUtc, "timestamp"), new Date(elsewhere).toISOString())
      for (const minutes of [6, -7 * 24 * 60 - 1, -365 * 24 * 60]) {
        const refused = yield* report(consumer, { tool_id: offer.toolId, timestamp: minutesFrom(now, minutes) })
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"])
        assert.deepStrictEqual(faultPaths(refused), ["timestamp"])
      }
      for (const timestamp of ["yesterday", "", 5, null, "2026-13-01T00:00:00Z"]) {
        const refused = yield* report(consumer, { tool_id: offer.toolId, timestamp })
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], String(timestamp))
      }
    })
  )

  it.effect("names an existing tool, and counts in whole numbers", () =>
    Effect.gen(function* () {
      const tool = { tool_name: "metered" }
      const [offer, other] = [yield* anOffer(nowhere, tool), yield* anOffer(nowhere, tool)]
      const consumer = yield* aFundedConsumer()
      assert.deepStrictEqual(problemOf(yield* report(consumer, { tool_id: consumer.id })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* report(consumer, { tool_name: "no-such-tool" })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* report(consumer, tool)), [409, "DUPLICATE"])
      assert.strictEqual(textAt(yield* recorded(offer.provider, tool), "tool_id"), offer.toolId)
      assert.strictEqual(textAt(yield* recorded(other.provider, tool), "tool_id"), other.toolId)
      for (const wrong of [
        { tool_id: undefined },
        { duration_ms: 1.5 },
        { duration_ms: -1 },
        { duration_ms: "42" },
        { input_tokens: 1e10 },
        { output_tokens: null },
        { cost_microcents: 0.5 },
        { cost_microcents: 2 ** 53 },
        { status: "ok" },
        { success: "true" },
        { metadata: [] },
        { agent_id: "me" }
      ]) {
        const refused = yield* report(consumer, { tool_id: offer.toolId, ...wrong })
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], JSON.stringify(wrong))
      }
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000)
    })
  )
})

it.layer(memoryMarket(), LIVE)("A CloudEvent", (it) => {
  const envelope = { specversion: "1.0", id: "1", source: "/agents/a", type: "call.finished" }
  const cloud = { "content-type": "application/cloudevents+json; charset=utf-8" }

  it.effect("is accepted as the call in its data, once per source and id", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const event = { ...envelope, data: { tool_id: offer.toolId, duration_ms: 5 }, time: "2026-01-01T00:00:00Z" }
      const first = yield* report(consumer, event, cloud)
      assert.strictEqual(first.status, 201)
      const again = yield* report(consumer, event, cloud)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(again.text, first.text)
      for (const other of [{ id: "2" }, { source: "/agents/b" }]) {
        const answer = yield* report(consumer, { ...event, ...other }, cloud)
        assert.strictEqual(answer.status, 201)
        assert.isUndefined(answer.headers["idempotent-replay"])
      }
      const changed = { ...event, data: { ...event.data, duration_ms: 6 } }
      assert.deepStrictEqual(problemOf(yield* report(consumer, changed, cloud)), [409, "IDEMPOTENCY_CONFLICT"])
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 3 * PRICE)
    })
  )

  it.effect("is separate for each reporter", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      for (const reporter of [yield* aFundedConsumer(), yield* aFundedConsumer(), offer.provider]) {
        const answer = yield* report(reporter, { ...envelope, data: { tool_id: offer.toolId } }, cloud)
        assert.strictEqual(answer.status, 201)
        assert.isUndefined(answer.headers["idempotent-replay"])
      }
    })
  )

  it.effect("of another version, or without its required attributes, is rejected", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      const event = { ...envelope, data: { tool_id: offer.toolId } }
      for (const wrong of [
        { specversion: "0.3" },
        { id: "" },
        { id: undefined },
        { source: "" },
        { type: undefined },
        { data: {} },
        { data: 5 }
      ]) {
        const refused = yield* report(consumer, { ...event, ...wrong }, cloud)
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], JSON.stringify(wrong))
      }
    })
  )
})

it.layer(memoryMarket(), LIVE)("A provider that reports calls", (it) => {
  it.effect("reports a test call of its own without an agent, which costs nothing", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const answer = yield* recorded(offer.provider, { tool_id: offer.toolId, cost_microcents: 5_000 })
      assert.strictEqual(costOf(answer), 0)
      assert.strictEqual(textAt(answer, "agent_id"), offer.provider.id)
      const receipts = yield* receiptsOf(offer.provider)
      assert.strictEqual(receipts.length, 1)
      assert.include(receipts[0], { cost_microcents: 0, status: "success", provider_id: offer.provider.id })
    })
  )

  it.effect("reports calls of its own tools only", () =>
    Effect.gen(function* () {
      const [offer, other] = [yield* anOffer(nowhere), yield* offerOf((yield* anOffer(nowhere)).provider)]
      const refused = yield* report(offer.provider, { tool_id: other.toolId })
      assert.deepStrictEqual(problemOf(refused), [403, "FORBIDDEN"])
      assert.deepStrictEqual(yield* receiptsOf(other.provider), [])
    })
  )

  it.effect("needs a key; a GET returns the instructions", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(problemOf(yield* send({ path: METER, body: "endless" })), [401, "UNAUTHORIZED"])
      const described = yield* expecting(200, { path: METER })
      assert.include(described.json, { endpoint: "/api/v1/market/meter", method: "POST" })
      assert.isObject(at(described, "schema"))
    })
  )
})
