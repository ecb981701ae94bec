/**
 * A provider's report that fails: its key and its reservation in the grant stay correct.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import type { MeterRequest } from "../../../domain/metering/DirectMetering.ts"
import { Grants, Reservations } from "../../../domain/metering/Grants.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { aCall, aReceiptId, closingOf, money, opened } from "../../contracts/ledgerSamples.ts"
import { expecting, type Member } from "../../support/market/Market.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { everyCore, memoryCore } from "../../support/metering/Core.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  GRANTS,
  METER,
  PRICE,
  problemOf,
  receiptsOf,
  walletOf
} from "../../support/metering/Shop.ts"
import { later, slowly } from "../../support/metering/TestTime.ts"

const CAP = 100_000
const LONG_AFTER = later("10 minutes")

/** A provider with grants of these consumers, and access to what its reports store. */
const aDeal = Effect.fnUntraced(function* (...consumers: ReadonlyArray<Member>) {
  const offer = yield* anOffer("http://127.0.0.1:9/mcp")
  for (const { key } of consumers) {
    yield* expecting(201, { path: GRANTS, key, json: { provider_id: offer.provider.id, cap_microcents: CAP } })
  }
  const report = (consumer: Member, key?: string) =>
    send({
      path: METER,
      key: offer.provider.key,
      json: { tool_id: offer.toolId, agent_id: consumer.id },
      headers: key === undefined ? {} : { "idempotency-key": key }
    })
  return { offer, report, providerId: ProviderId.make(offer.provider.id), toolId: ToolId.make(offer.toolId) }
})

const spentBy = Effect.fnUntraced(function* (consumer: Member) {
  const [grant] = yield* (yield* Grants).list(ConsumerId.make(consumer.id))
  return Number(grant!.spent)
})

const balanceOf = (consumer: Member) => Effect.map(walletOf(consumer), ({ balance }) => balance)

/** A report of a process that dies between two steps: step by step. */
const reserved = Effect.fnUntraced(function* (consumer: Member) {
  const { providerId, toolId } = yield* aDeal(consumer)
  const consumerId = ConsumerId.make(consumer.id)
  const call = yield* aCall(consumerId, { providerId, toolId, invocationId: yield* aReceiptId, origin: "meter" })
  const { invocationId, holdAmount: amount } = call
  yield* (yield* Reservations).reserve({ consumerId, providerId, toolId, invocationId, amount })
  assert.strictEqual(yield* spentBy(consumer), 1_000)
  return call
})

it.layer(memoryCore, LIVE)("A report", (it) => {
  it.effect("that was rejected leaves its key free, for another consumer too", () =>
    Effect.gen(function* () {
      const [stranger, buyer] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const { report } = yield* aDeal(buyer)
      assert.deepStrictEqual(problemOf(yield* report(stranger, "a key")), [403, "FORBIDDEN"])
      assert.strictEqual((yield* report(buyer, "a key")).status, 201)
      assert.deepStrictEqual(problemOf(yield* report(stranger, "a key")), [409, "IDEMPOTENCY_CONFLICT"])
      const again = yield* report(buyer, "a key")
      assert.deepStrictEqual([again.status, again.headers["idempotent-replay"]], [201, "true"])
      assert.strictEqual(yield* balanceOf(buyer), 1_000_000 - PRICE)
      assert.strictEqual(yield* spentBy(buyer), PRICE)
    })
  )

  it.effect("whose process dies while the call is open: the call ends at no cost, and the grant is restored", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const consumer = yield* aFundedConsumer()
      yield* opened(yield* reserved(consumer))
      yield* LONG_AFTER(sweep)
      assert.strictEqual(yield* spentBy(consumer), 0)
      assert.strictEqual(yield* balanceOf(consumer), 1_000_000)
    })
  )

  it.effect("whose process dies after the call is closed: the grant counts its cost", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const consumer = yield* aFundedConsumer()
      const call = yield* reserved(consumer)
      yield* opened(call)
      yield* (yield* CallStore).close(yield* closingOf(call, { cost: 700 }))
      yield* LONG_AFTER(sweep)
      assert.strictEqual(yield* spentBy(consumer), 700)
      yield* LONG_AFTER(sweep)
      assert.strictEqual(yield* spentBy(consumer), 700)
    })
  )

  const requestOf = ({ offer, providerId, toolId }: Effect.Success<ReturnType<typeof aDeal>>, consumer: Member) =>
    ({
      caller: { role: "provider", ownerId: providerId },
      tool: { toolId, toolName: undefined, providerId: offer.provider.id },
      consumerId: ConsumerId.make(consumer.id),
      status: "success",
      durationMs: 1,
      tokensInput: 0,
      tokensOutput: 0,
      cost: money(5_000),
      calledAt: undefined,
      idempotency: undefined
    }) as MeterRequest

  it.effect("that ends in an internal defect costs nothing, and the grant is restored", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const consumer = yield* aFundedConsumer()
      const request = requestOf(yield* aDeal(consumer), consumer)
      const broken = (yield* Metering).record(request, () => {
        throw new Error("cannot be rendered")
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(broken)))
      assert.strictEqual(yield* spentBy(consumer), 5_000, "the call is open still")
      yield* LONG_AFTER(sweep)
      assert.strictEqual(yield* spentBy(consumer), 0)
      assert.strictEqual(yield* balanceOf(consumer), 1_000_000)
      yield* books
    })
  )

  it.effect("whose call was ended before its settlement arrived costs nothing, and says so", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const calls = yield* CallStore
      const sweptFirst = CallStore.of({
        ...calls,
        close: (closing) => Effect.andThen(Effect.ignore(LONG_AFTER(sweep)), calls.close(closing))
      })
      const { record } = yield* Effect.map(
        Layer.build(Layer.fresh(Metering.layer).pipe(Layer.provide(Layer.succeed(CallStore, sweptFirst)))),
        Context.get(Metering)
      )
      const consumer = yield* aFundedConsumer()
      const request = requestOf(yield* aDeal(consumer), consumer)
      const refused = yield* Effect.flip(record(request, () => ({ status: 201, headers: {}, body: "" })))
      const [receipt, ...others] = yield* receiptsOf(consumer)
      assert.deepStrictEqual(others, [])
      assert.include(receipt, { status: "error", cost_microcents: 0 })
      assert.deepStrictEqual(
        [refused._tag, refused._tag === "CallOverdue" && refused.receiptId],
        ["CallOverdue", receipt!.receipt_id]
      )
      assert.strictEqual(yield* spentBy(consumer), 0)
      assert.strictEqual(yield* balanceOf(consumer), 1_000_000)
      yield* books
    })
  )

  it.effect("that hangs until its reservation may be released is not billed", () =>
    Effect.gen(function* () {
      const { sweep } = yield* Sweeper
      const consumer = yield* aFundedConsumer()
      const request = requestOf(yield* aDeal(consumer), consumer)
      const late = (yield* Metering).record(request, () => ({ status: 201, headers: {}, body: "" }))
      assert.isTrue(Exit.hasDies(yield* Effect.exit(slowly("3 minutes")(late))))
      yield* later("1 hour")(sweep)
      assert.strictEqual(yield* spentBy(consumer), 0)
      assert.strictEqual(yield* balanceOf(consumer), 1_000_000)
      assert.include((yield* receiptsOf(consumer))[0], { status: "error", cost_microcents: 0 })
    })
  )
})

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`A report over ${name}`, (it) => {
    it.effect(
      "bills one consumer once, however many concurrent reports have its key, whichever consumer they name",
      () =>
        Effect.gen(function* () {
          const consumers = [yield* aFundedConsumer(), yield* aFundedConsumer(), yield* aFundedConsumer()]
          const { report } = yield* aDeal(...consumers)
          const stranger = yield* aFundedConsumer()
          const named = [...consumers, stranger]
          const answers = yield* Effect.forEach(
            Array.from({ length: 48 }, (_, n) => named[n % 4]!),
            (consumer) => report(consumer, "all at once"),
            { concurrency: "unbounded" }
          )
          for (const { status } of answers) assert.include([201, 403, 409], status)
          const left = yield* Effect.forEach(consumers, balanceOf)
          const spent = yield* Effect.forEach(consumers, spentBy)
          const billed = left.findIndex((balance) => balance !== 1_000_000)
          assert.deepStrictEqual(
            [left, spent],
            [
              left.map((_, n) => (n === billed ? 1_000_000 - PRICE : 1_000_000)),
              left.map((_, n) => (n === billed ? PRICE : 0))
            ]
          )
          assert.notStrictEqual(billed, -1)
          const lists = yield* Effect.forEach(named, (consumer) => receiptsOf(consumer))
          assert.strictEqual(lists.flat().length, 1)
        })
    )

    it.effect(
      "whose process dies before the call is opened is released to the grant after a while, and not before",
      () =>
        Effect.gen(function* () {
          const { sweep } = yield* Sweeper
          const consumer = yield* aFundedConsumer()
          yield* reserved(consumer)
          yield* later("4 minutes")(sweep)
          assert.strictEqual(yield* spentBy(consumer), 1_000)
          yield* Effect.all([LONG_AFTER(sweep), LONG_AFTER(sweep), LONG_AFTER(sweep)], { concurrency: "unbounded" })
          assert.strictEqual(yield* spentBy(consumer), 0)
        })
    )
  })
}
