/**
 * The caller, the provider or the service process disappears during a call.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schedule, Scope } from "effect"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { at, expecting, type Member, textAt } from "../../support/market/Market.ts"
import { DEADLINE_SECONDS, everyCore, memoryCore } from "../../support/metering/Core.ts"
import { later } from "../../support/metering/TestTime.ts"
import { fine, forwarded, resulting, slowProvider } from "../../support/metering/Provider.ts"
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
import { scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const WHOLE = { balance: 1_000_000, held: 0, available: 1_000_000 }
const HOLDING = { balance: 1_000_000, held: PRICE, available: 1_000_000 - PRICE }
const CHARGED = { balance: 1_000_000 - PRICE, held: 0, available: 1_000_000 - PRICE }

/** A call in flight whose provider does not answer yet. */
const underWay = Effect.fnUntraced(function* (consumer: Member, tool: Readonly<Record<string, unknown>> = {}) {
  const slow = yield* slowProvider()
  const offer = yield* anOffer(slow.server.url, tool)
  const before = forwarded(slow.server)
  const call = callOf(consumer, offer, {}, "the call")
  const fiber = yield* Effect.forkChild(send(call))
  yield* eventually(() => forwarded(slow.server) === before + 1)
  return { slow, offer, call, fiber }
})

/** Waits until this many calls are settled. */
const settledOf = (consumer: Member, calls: number) =>
  Effect.repeat(receiptsOf(consumer), { until: (receipts) => receipts.length >= calls, schedule: Schedule.spaced(20) })

const verdictOn = (receipt: unknown) =>
  Effect.map(expecting(200, { path: "/api/v1/verify", json: receipt }), (answer) =>
    at(answer, "verification", "reason")
  )

it.layer(memoryCore, LIVE)("During a call", (it) => {
  it.effect("its maximum price is held, and cannot be spent twice", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const { fiber, slow } = yield* underWay(consumer)
      assert.deepStrictEqual(yield* walletOf(consumer), HOLDING)
      const dear = yield* anOffer(slow.server.url, { price_microcents: 1_000_000 })
      const refused = yield* buy(consumer, dear)
      assert.deepStrictEqual(problemOf(refused), [402, "INSUFFICIENT_FUNDS"])
      assert.strictEqual(at(refused, "balance_microcents"), 1_000_000 - PRICE)
      yield* slow.answer
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
    })
  )

  it.effect("the caller disconnects: the call runs to its end, and is billed by its outcome", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const { call, fiber, slow } = yield* underWay(consumer)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* walletOf(consumer), HOLDING)
      assert.deepStrictEqual(problemOf(yield* send(call)), [409, "IDEMPOTENCY_CONFLICT"])

      yield* slow.answer
      yield* settledOf(consumer, 1)
      assert.strictEqual(slow.left(), 0)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      const [receipt, ...others] = yield* receiptsOf(consumer)
      assert.include(receipt, { status: "success", cost_microcents: PRICE })
      assert.isEmpty(others)
      assert.strictEqual(yield* verdictOn(receipt), "ok")

      const again = yield* expecting(200, call)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(textAt(again, "meta", "receipt_id"), receipt!.receipt_id)
      assert.strictEqual(forwarded(slow.server), 1)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      yield* books
    })
  )

  it.effect("the caller of a tool with the policy per_attempt disconnects: the attempt is paid once", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const { call, fiber, slow } = yield* underWay(consumer, { billing_policy: "attempt" })
      yield* Fiber.interrupt(fiber)
      yield* slow.answer
      yield* settledOf(consumer, 1)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      const [receipt] = yield* receiptsOf(consumer)
      assert.include(receipt, { status: "success", cost_microcents: PRICE })

      const again = yield* expecting(200, call)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      assert.strictEqual(forwarded(slow.server), 1)
    })
  )

  it.effect(
    "the caller of such a tool disconnects before the call is forwarded: nothing is attempted, nothing is paid",
    () =>
      Effect.gen(function* () {
        const consumer = yield* aFundedConsumer()
        const silent = yield* scriptedServer({ era: "modern", onCall: fine, onOther: () => true })
        const offer = yield* anOffer(silent.url, { billing_policy: "attempt" })
        const fiber = yield* Effect.forkChild(buy(consumer, offer))
        // The call waits for the handshake that the registration began.
        yield* walletOf(consumer).pipe(
          Effect.repeat({ until: ({ held }) => held > 0, schedule: Schedule.spaced("10 millis") })
        )
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(forwarded(silent), 0, "nothing but the handshake was sent")
        assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
        const [receipt] = yield* receiptsOf(consumer)
        assert.include(receipt, { status: "error", cost_microcents: 0 })
      })
  )

  it.effect("the provider disconnects: an error that costs nothing", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const life = yield* Scope.make()
      const { fiber } = yield* underWay(consumer).pipe(Scope.provide(life))
      yield* Scope.close(life, Exit.void)
      const answer = yield* Fiber.join(fiber)
      assert.deepStrictEqual(problemOf(answer), [502, "PROVIDER_ERROR"])
      assert.strictEqual(at(answer, "outcome"), "error")
      assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
      assert.strictEqual((yield* receiptsOf(consumer)).length, 1)
    })
  )

  it.effect("the process dies: after the deadline, and not before, the sweeper releases the hold", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const consumer = yield* aFundedConsumer()
      const { call, fiber, slow } = yield* underWay(consumer)
      assert.strictEqual(yield* sweep, 0)
      assert.strictEqual(yield* later(`${DEADLINE_SECONDS - 2} seconds`)(sweep), 0)
      assert.deepStrictEqual(yield* walletOf(consumer), HOLDING)
      assert.deepStrictEqual(problemOf(yield* send(call)), [409, "IDEMPOTENCY_CONFLICT"])

      assert.strictEqual(yield* later(`${DEADLINE_SECONDS + 1} seconds`)(sweep), 1)
      assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
      const swept = yield* receiptsOf(consumer)
      assert.strictEqual(swept.length, 1)
      assert.include(swept[0], { status: "error", cost_microcents: 0, duration_ms: 0 })
      assert.strictEqual(yield* verdictOn(swept[0]), "ok")
      assert.strictEqual(yield* later("1 day")(sweep), 0)

      // A late answer neither charges nor issues a second receipt.
      yield* slow.answer
      const late = yield* Fiber.join(fiber)
      assert.deepStrictEqual(problemOf(late), [503, "UNAVAILABLE"])
      const told = [at(late, "receipt_id"), at(late, "outcome"), at(late, "cost_microcents")]
      assert.deepStrictEqual(told, [swept[0]!.receipt_id, "error", 0])
      assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
      assert.deepStrictEqual(yield* receiptsOf(consumer), swept)

      yield* expecting(200, call)
      assert.deepStrictEqual(yield* walletOf(consumer), CHARGED)
      yield* books
    })
  )

  it.effect("a slow call that is answered in time is settled as any other", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const { fiber, slow } = yield* underWay(consumer)
      yield* Effect.sleep(200)
      yield* slow.answer
      const answer = yield* Fiber.join(fiber)
      assert.strictEqual(answer.status, 200)
      assert.isAtLeast(Number(answer.headers["x-market-latency"]), 190)
      const [receipt] = yield* receiptsOf(consumer)
      assert.strictEqual(receipt!.receipt_id, textAt(answer, "meta", "receipt_id"))
      assert.strictEqual(String(receipt!.duration_ms), answer.headers["x-market-latency"])
    })
  )

  it.effect("another consumer is not affected", () =>
    Effect.gen(function* () {
      const [away, here] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const { fiber } = yield* underWay(away)
      const offer = yield* anOffer((yield* resulting({ content: [] })).url)
      const calls = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 20 }, () => buy(here, offer)),
          { concurrency: "unbounded" }
        )
      )
      yield* Fiber.interrupt(fiber)
      for (const answer of yield* Fiber.join(calls)) assert.strictEqual(answer.status, 200)
      assert.strictEqual((yield* walletOf(here)).balance, 1_000_000 - 20 * PRICE)
      assert.deepStrictEqual(yield* walletOf(away), HOLDING)
    })
  )
})

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`During a call over ${name}`, (it) => {
    it.effect("a hundred callers disconnect: every call is paid, and has its receipt", () =>
      Effect.gen(function* () {
        const slow = yield* slowProvider()
        const offer = yield* anOffer(slow.server.url, { price_microcents: 10_000 })
        const consumers = [yield* aFundedConsumer(), yield* aFundedConsumer()]
        const calls = yield* Effect.forEach(Array.from({ length: 100 }), (_, n) =>
          Effect.forkChild(buy(consumers[n % 2]!, offer))
        )
        yield* eventually(() => forwarded(slow.server) === 100)
        yield* Fiber.interruptAll(calls)
        yield* slow.answer
        for (const consumer of consumers) {
          yield* settledOf(consumer, 50)
          assert.deepStrictEqual(yield* walletOf(consumer), { balance: 500_000, held: 0, available: 500_000 })
        }
        assert.strictEqual(slow.left(), 0)
        yield* books
      })
    )

    it.effect("many processes die: any number of sweepers end each call once", () =>
      Effect.gen(function* () {
        const { sweep } = yield* Sweeper
        const slow = yield* slowProvider()
        const offer = yield* anOffer(slow.server.url, { price_microcents: 10_000, free_tier_calls: 10 })
        const consumer = yield* aFundedConsumer()
        const calls = yield* Effect.forEach(Array.from({ length: 60 }), () => Effect.forkChild(buy(consumer, offer)))
        yield* eventually(() => forwarded(slow.server) === 60)
        assert.strictEqual((yield* walletOf(consumer)).held, 500_000)
        const sweeps = yield* Effect.all(
          Array.from({ length: 4 }, () => later("1 hour")(sweep)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(
          sweeps.reduce((sum, ended) => sum + ended, 0),
          60
        )
        assert.strictEqual(yield* later("1 hour")(sweep), 0)
        assert.deepStrictEqual(yield* walletOf(consumer), WHOLE)
        const receipts = yield* receiptsOf(consumer)
        assert.strictEqual(new Set(receipts.map((receipt) => receipt.receipt_id)).size, 60)
        yield* slow.answer
        for (const call of calls) assert.strictEqual((yield* Fiber.join(call)).status, 503)
        const first = yield* expecting(200, callOf(consumer, offer))
        assert.strictEqual(at(first, "meta", "free_tier_remaining"), 9, "swept calls use up nothing free")
      })
    )
  })
}
