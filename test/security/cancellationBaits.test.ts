/**
 * Price baits with the cost of canceled calls: a provider that changes it charges callers that disconnect by the old
 * terms until the notice period is over. Before, each of these charged the next caller that disconnected.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Schedule } from "effect"
import { at, expecting, type Member, putTools, unasked } from "../support/market/Market.ts"
import { forwarded, slowProvider } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  memoryMarket,
  type Offer,
  walletOf,
  receiptsOf
} from "../support/metering/Shop.ts"
import { json, rpcError } from "../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const NINE_HUNDRED = 900_000_000
const PRICE = 1_000
const DAY_MS = 86_400_000

const details = (offer: Offer) => expecting(200, { path: unasked(`/api/v1/market/tools/${offer.toolId}`) })
const change = (offer: Offer, fields: object) => putTools(offer.provider, { tool_name: "echo", ...fields })

/** Disconnects as soon as the provider has the call; returns the cost of the settled call. */
const costOfLeaving = Effect.fnUntraced(function* (
  consumer: Member,
  offer: Offer,
  { answer, left, server }: Effect.Success<ReturnType<typeof slowProvider>>,
  isPassed: boolean
) {
  const [calls, receipts] = [forwarded(server), (yield* receiptsOf(consumer)).length]
  const fiber = yield* Effect.forkChild(buy(consumer, offer))
  yield* eventually(() => forwarded(server) > calls)
  yield* Fiber.interrupt(fiber)
  // The service notices the disconnection before the provider answers.
  yield* isPassed ? eventually(() => left() > 0) : Effect.sleep("200 millis")
  yield* answer
  const settled = yield* Effect.repeat(receiptsOf(consumer), {
    until: (all) => all.length > receipts,
    schedule: Schedule.spaced(20)
  })
  return settled[0]!.cost_microcents
})

type Cancellation = readonly [onCancel: string, canceledCallCosts: string]

const announcedCancellation = Effect.fnUntraced(function* (offer: Offer, now: Cancellation, next: Cancellation) {
  const shown = yield* details(offer)
  const from = Date.parse(String(at(shown, "pricing", "upcoming", "effective_from")))
  assert.isAtLeast(from, (yield* DateTime.now).epochMilliseconds + DAY_MS - 60_000)
  const cancellation = (...path: ReadonlyArray<string>) => [
    at(shown, ...path, "on_cancel"),
    at(shown, ...path, "canceled_call_costs")
  ]
  assert.deepStrictEqual(cancellation(), [...now])
  assert.deepStrictEqual(cancellation("pricing"), [...now])
  assert.deepStrictEqual(cancellation("pricing", "upcoming"), [...next])
  assert.deepStrictEqual(cancellation("declaration").slice(0, 1), next.slice(0, 1))
})

it.layer(memoryMarket({ PRICE_NOTICE_HOURS: "24" }), LIVE)("A price bait for callers that disconnect", (it) => {
  it.effect("that charges them for failed calls waits for the notice period, and cancels nothing until then", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider((seen, response) => json(response, rpcError(seen, -32_000, "it broke")))
      const offer = yield* anOffer(slow.server.url, { price_microcents: PRICE })
      const consumer = yield* aFundedConsumer()
      yield* change(offer, { on_cancel: "pass", canceled_call_costs: "price" })
      assert.strictEqual(yield* costOfLeaving(consumer, offer, slow, false), 0)
      assert.strictEqual(slow.left(), 0)
      assert.deepStrictEqual(yield* walletOf(consumer), { balance: 1_000_000, held: 0, available: 1_000_000 })
      yield* announcedCancellation(offer, ["finish", "price"], ["pass", "price"])
    })
  )

  it.effect("that makes canceled calls cost what was free waits for the notice period", () =>
    Effect.gen(function* () {
      for (const [dearer, upcoming] of [
        [{ canceled_call_costs: "price" }, ["pass", "price"]],
        [{ canceled_call_costs: null }, ["pass", "price"]],
        [{ on_cancel: "finish" }, ["finish", "price"]],
        [{ on_cancel: null, canceled_call_costs: null }, ["finish", "price"]]
      ] as const) {
        const slow = yield* slowProvider()
        const terms = { price_microcents: PRICE, on_cancel: "pass", canceled_call_costs: "nothing" }
        const offer = yield* anOffer(slow.server.url, terms)
        const consumer = yield* aFundedConsumer()
        yield* change(offer, dearer)
        assert.strictEqual(yield* costOfLeaving(consumer, offer, slow, true), 0)
        assert.deepStrictEqual(yield* walletOf(consumer), { balance: 1_000_000, held: 0, available: 1_000_000 })
        yield* announcedCancellation(offer, ["pass", "nothing"], upcoming)
      }
    })
  )

  it.effect("that raises the cost of canceling from price to maximum waits for the notice period", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const terms = { price_microcents: 0, max_cost_microcents: NINE_HUNDRED, on_cancel: "pass" }
      const offer = yield* anOffer(slow.server.url, terms)
      yield* change(offer, { on_cancel: "finish" })
      yield* announcedCancellation(offer, ["pass", "price"], ["finish", "price"])
      yield* change(offer, { max_cost_microcents: null })
      assert.isNull(at(yield* details(offer), "pricing", "upcoming"))
      assert.strictEqual(at(yield* details(offer), "on_cancel"), "finish")
    })
  )
})
