/**
 * Attacks by early disconnection: free work, spoiled figures, exhausted providers. And what a tool may publish about
 * cancellations.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { at, expecting, type Member, textAt } from "../../support/market/Market.ts"
import { everyCore, memoryCore } from "../../support/metering/Core.ts"
import { later } from "../../support/metering/TestTime.ts"
import { fine, forwarded, providing, resulting, slowProvider } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  callOf,
  PRICE,
  problemOf,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { json, result, rpcError, text } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { type Call, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const WHOLE = { balance: 1_000_000, held: 0, available: 1_000_000 }
const CHARGED = { balance: 1_000_000 - PRICE, held: 0, available: 1_000_000 - PRICE }
/** The default of CALLS_IN_FLIGHT_MAX. */
const IN_FLIGHT_MAX = 64
const ATTEMPTS = 250
const MEBIBYTE = 1024 * 1024

const settledOf = (consumer: Member, calls: number) =>
  Effect.repeat(receiptsOf(consumer), { until: (receipts) => receipts.length >= calls, schedule: Schedule.spaced(20) })

/** Sends the call, and disconnects as soon as the provider has it. */
const disconnectFrom = Effect.fnUntraced(function* (call: Call, isForwarded: () => boolean) {
  const fiber = yield* Effect.forkChild(send(call))
  yield* eventually(isForwarded)
  yield* Fiber.interrupt(fiber)
})

let reads = 0

const slaOf = Effect.fnUntraced(function* (provider: Member) {
  const { sequence } = yield* Sequencer
  while ((yield* sequence) > 0);
  const answer = yield* expecting(200, { path: `/api/v1/market/providers/${provider.id}/sla?utm_read=${++reads}` })
  return [at(answer, "total_calls_30d"), at(answer, "successful_calls_30d"), at(answer, "uptime_30d")]
})

it.layer(memoryCore, LIVE)("A caller that disconnects early", (it) => {
  it.effect("pays nothing before its call is forwarded", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url)
      const consumer = yield* aFundedConsumer()
      const fiber = yield* Effect.forkChild(buy(consumer, offer))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
      for (const receipt of yield* receiptsOf(consumer)) {
        assert.include(receipt, { status: "error", cost_microcents: 0 })
      }
    })
  )

  it.effect("uses its free call if the provider delivered", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url, { free_tier_calls: 2 })
      const consumer = yield* aFundedConsumer()
      yield* disconnectFrom(callOf(consumer, offer), () => forwarded(slow.server) === 1)
      yield* slow.answer
      yield* settledOf(consumer, 1)
      const next = yield* expecting(200, callOf(consumer, offer))
      assert.strictEqual(at(next, "meta", "free_tier_remaining"), 0)
      const paid = yield* expecting(200, callOf(consumer, offer))
      assert.strictEqual(at(paid, "meta", "cost_microcents"), PRICE)
    })
  )

  it.effect("does not use its free call if the provider failed, and pays nothing", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider((seen, response) => json(response, rpcError(seen, -32_000, "it broke")))
      const offer = yield* anOffer(slow.server.url, { free_tier_calls: 1 })
      const consumer = yield* aFundedConsumer()
      const call = callOf(consumer, offer, {}, "a key")
      yield* disconnectFrom(call, () => forwarded(slow.server) === 1)
      yield* slow.answer
      const [receipt] = yield* settledOf(consumer, 1)
      assert.include(receipt, { status: "error", cost_microcents: 0 })
      const again = yield* expecting(502, call)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(forwarded(slow.server), 1, "the key stays bound, whatever the call cost")
    })
  )

  it.effect("does not exhaust its calls in flight by rejected ones", () =>
    Effect.gen(function* () {
      const dear = yield* anOffer((yield* providing(fine)).url, { price_microcents: 900_000_000 })
      const cheap = yield* anOffer((yield* providing(fine)).url, { price_microcents: 1 })
      const consumer = yield* aFundedConsumer()
      for (let n = 0; n < IN_FLIGHT_MAX + 6; n++) assert.strictEqual((yield* buy(consumer, dear)).status, 402)
      yield* expecting(200, callOf(consumer, cheap))
    })
  )

  it.effect("gets its result for 10 minutes, and afterwards the outcome of the call, which is never repeated", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url)
      const consumer = yield* aFundedConsumer()
      const call = callOf(consumer, offer, {}, "lost")
      yield* disconnectFrom(call, () => forwarded(slow.server) === 1)
      yield* slow.answer
      const [receipt] = yield* settledOf(consumer, 1)
      const soon = yield* expecting(200, call).pipe(later("9 minutes"))
      assert.strictEqual(textAt(soon, "meta", "receipt_id"), receipt!.receipt_id)
      assert.isUndefined(soon.headers["left"])
      for (const after of ["11 minutes", "29 days"] as const) {
        const late = yield* send(call).pipe(later(after))
        assert.deepStrictEqual(problemOf(late), [410, "ANSWER_NOT_KEPT"])
        assert.deepStrictEqual(
          [at(late, "receipt_id"), at(late, "outcome"), at(late, "cost_microcents")],
          [receipt!.receipt_id, "success", PRICE]
        )
        assert.include(textAt(late, "message"), receipt!.receipt_id)
        assert.include(textAt(late, "message"), "its caller disconnected")
      }
      assert.deepStrictEqual(
        problemOf(yield* buy(consumer, offer, { input: { other: 1 } }, "lost").pipe(later("11 minutes"))),
        [409, "IDEMPOTENCY_CONFLICT"]
      )
      assert.strictEqual(forwarded(slow.server), 1)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
    })
  )

  it.effect("has at most 16 MiB of results kept; keys of the others stay bound to their receipts", () =>
    Effect.gen(function* () {
      const long = "x".repeat(4.5 * MEBIBYTE)
      const slow = yield* slowProvider((seen, response) => json(response, result(seen, text(long))))
      const offer = yield* anOffer(slow.server.url)
      const consumer = yield* aFundedConsumer()
      const calls = Array.from({ length: 5 }, (_, n) => callOf(consumer, offer, {}, `key ${n}`))
      for (const [n, call] of calls.entries()) yield* disconnectFrom(call, () => forwarded(slow.server) === n + 1)
      yield* slow.answer
      yield* settledOf(consumer, calls.length)
      const statuses = (yield* Effect.forEach(calls, send)).map((answer) => answer.status)
      assert.deepStrictEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 200, 200, 410, 410]
      )
      assert.strictEqual(forwarded(slow.server), calls.length)
    })
  )

  it.effect("costs the canceled call's published price, where the tool passes cancellations", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url, { on_cancel: "pass" })
      const consumer = yield* aFundedConsumer()
      const call = callOf(consumer, offer, {}, "canceled")
      yield* disconnectFrom(call, () => forwarded(slow.server) === 1)
      yield* eventually(() => slow.left() === 1)
      const [receipt] = yield* settledOf(consumer, 1)
      assert.include(receipt, { status: "error", cost_microcents: PRICE })
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      yield* slow.answer
      const again = yield* expecting(502, call)
      assert.strictEqual(textAt(again, "receipt_id"), receipt!.receipt_id)
      assert.strictEqual(forwarded(slow.server), 1)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      yield* books
    })
  )

  it.effect("pays nothing for a canceled call, where the tool publishes that", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const terms = { on_cancel: "pass", canceled_call_costs: "nothing", billing_policy: "attempt" }
      const offer = yield* anOffer(slow.server.url, terms)
      const consumer = yield* aFundedConsumer()
      const shown = yield* expecting(200, { path: `/api/v1/market/tools/${offer.toolId}` })
      assert.deepStrictEqual([at(shown, "on_cancel"), at(shown, "canceled_call_costs")], ["pass", "nothing"])
      yield* disconnectFrom(callOf(consumer, offer, {}, "canceled"), () => forwarded(slow.server) === 1)
      yield* eventually(() => slow.left() === 1)
      const [receipt] = yield* settledOf(consumer, 1)
      assert.include(receipt, { status: "error", cost_microcents: 0 })
      assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
      yield* slow.answer
      yield* expecting(502, callOf(consumer, offer, {}, "canceled"))
      assert.strictEqual(forwarded(slow.server), 1)
    })
  )

  it.effect("uses a free call by canceling, where a canceled call costs its price", () =>
    Effect.gen(function* () {
      for (const [canceled_call_costs, freeLeft] of [
        ["price", 0],
        ["nothing", 1]
      ] as const) {
        const slow = yield* slowProvider()
        const terms = { on_cancel: "pass", canceled_call_costs, free_tier_calls: 2 }
        const offer = yield* anOffer(slow.server.url, terms)
        const consumer = yield* aFundedConsumer()
        yield* disconnectFrom(callOf(consumer, offer), () => forwarded(slow.server) === 1)
        const [receipt] = yield* settledOf(consumer, 1)
        assert.include(receipt, { status: "error", cost_microcents: 0 })
        yield* slow.answer
        const next = yield* expecting(200, callOf(consumer, offer))
        assert.strictEqual(at(next, "meta", "free_tier_remaining"), freeLeft)
      }
    })
  )

  it.effect("pays a delivered call of such a tool in full: a completed call cannot be canceled", () =>
    Effect.gen(function* () {
      const server = yield* resulting({ content: [] })
      const offer = yield* anOffer(server.url, { on_cancel: "pass", canceled_call_costs: "nothing" })
      const consumer = yield* aFundedConsumer()
      const answer = yield* expecting(200, callOf(consumer, offer))
      assert.strictEqual(at(answer, "meta", "cost_microcents"), PRICE)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
    })
  )
})

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`A caller that disconnects early over ${name}`, (it) => {
    it.effect("pays for 100 delivered calls, and leaves the provider's SLA as it was", () =>
      Effect.gen(function* () {
        const slow = yield* slowProvider()
        const offer = yield* anOffer(slow.server.url, { price_microcents: 10_000 })
        const thieves = [yield* aFundedConsumer(), yield* aFundedConsumer()]
        const calls = yield* Effect.forEach(Array.from({ length: 100 }), (_, n) =>
          Effect.forkChild(buy(thieves[n % 2]!, offer))
        )
        yield* eventually(() => forwarded(slow.server) === 100)
        yield* Fiber.interruptAll(calls)
        yield* slow.answer
        for (const thief of thieves) {
          yield* settledOf(thief, 50)
          assert.strictEqual((yield* walletOf(thief)).balance, 500_000)
        }
        assert.deepStrictEqual(yield* slaOf(offer.provider), [100, 100, 100])
        yield* books
      })
    )

    it.effect("has at most 64 calls in flight: the others are neither forwarded nor charged", () =>
      Effect.gen(function* () {
        const quick = yield* anOffer((yield* providing(fine)).url, { price_microcents: 1 })
        const slow = yield* slowProvider()
        const offer = yield* anOffer(slow.server.url, { price_microcents: 1_000 })
        const [thief, honest] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
        const kept = callOf(thief, quick, {}, "made before")
        yield* expecting(200, kept)

        const refused: Array<number> = []
        const attempt = Effect.map(buy(thief, offer), ({ status }) => (status === 429 ? refused.push(status) : 0))
        const calls = yield* Effect.forEach(Array.from({ length: ATTEMPTS }), () => Effect.forkChild(attempt))
        yield* eventually(() => forwarded(slow.server) === IN_FLIGHT_MAX && refused.length === ATTEMPTS - IN_FLIGHT_MAX)
        yield* Fiber.interruptAll(calls)
        const answer = yield* buy(thief, offer)
        assert.deepStrictEqual(problemOf(answer), [429, "RATE_LIMITED"])
        assert.strictEqual(answer.headers["retry-after"], "1")
        assert.deepStrictEqual([at(answer, "limit"), at(answer, "calls_in_flight_max")], ["calls_in_flight", 64])
        assert.strictEqual(forwarded(slow.server), IN_FLIGHT_MAX)
        assert.strictEqual((yield* walletOf(thief)).held, IN_FLIGHT_MAX * 1_000)

        const replay = yield* expecting(200, kept)
        assert.strictEqual(replay.headers["idempotent-replay"], "true")
        yield* expecting(200, callOf(honest, quick))

        yield* slow.answer
        yield* settledOf(thief, IN_FLIGHT_MAX + 1)
        assert.strictEqual((yield* walletOf(thief)).balance, 1_000_000 - 1 - IN_FLIGHT_MAX * 1_000)
        yield* expecting(200, callOf(thief, offer))
      })
    )
  })
}
