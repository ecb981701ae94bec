/**
 * What a thief tries with a tool that asks for input: another account's state, a leg twice, other arguments or prices
 * between two legs, and calls that wait without end.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Option } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { CATALOG_POLICY, CatalogPolicy } from "../../../domain/catalog/Terms.ts"
import { SUSPENDED_CALLS_MAX } from "../../../domain/metering/CallStore.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import {
  aConsumer,
  addFunds,
  asked,
  askerOf,
  asking,
  askingTimes,
  callMcp,
  checkWallet,
  completed,
  everyMcpMarket,
  memoryMcpMarket,
  MCP_PRICE,
  Provider,
  receiptsOf,
  rejectedFor,
  requestOf,
  settledBy,
  withState
} from "../../support/metering/McpMarket.ts"
import { later } from "../../support/metering/TestTime.ts"

const HALF = SUSPENDED_CALLS_MAX / 2
const PRICE = BigInt(MCP_PRICE)

const provider = new Provider()
const anAsker = askerOf(provider)

const layer = Layer.provide(
  memoryMcpMarket(provider),
  Layer.succeed(CatalogPolicy, { ...CATALOG_POLICY, priceNotice: Duration.zero })
)

it.layer(layer, { timeout: "120 seconds", excludeTestServices: true })("A thief between two legs", (it) => {
  it.effect("accepts a state only from its account, for its tool and arguments, unchanged, in time", () =>
    Effect.gen(function* () {
      const { consumerId, toolId, tools: all } = yield* anAsker(1, [{}, {}])
      const stranger = yield* aConsumer()
      const { state } = yield* asked(requestOf(consumerId, toolId))
      const changed = state.slice(0, -8) + (state.at(-8) === "A" ? "B" : "A") + state.slice(-7)
      const invalid = "RequestStateRejected invalid"
      assert.strictEqual(yield* rejectedFor(requestOf(stranger, toolId, withState(state))), invalid)
      assert.strictEqual(yield* rejectedFor(requestOf(consumerId, all[1]!.id, withState(state))), invalid)
      for (const wrong of [changed, "", "state 1", "x".repeat(1_000_000)]) {
        assert.strictEqual(yield* rejectedFor(requestOf(consumerId, toolId, withState(wrong))), invalid)
      }
      for (const json of ["null", "7", `{"a":1}`]) {
        const otherParams = `"requestState":${json}`
        assert.strictEqual(yield* rejectedFor(requestOf(consumerId, toolId, { otherParams })), invalid)
      }
      assert.strictEqual(
        yield* rejectedFor(requestOf(consumerId, toolId, withState(state, { arguments: `{"to":"a thief"}` }))),
        "RequestStateRejected arguments"
      )
      assert.strictEqual(
        yield* later("10 minutes")(rejectedFor(requestOf(consumerId, toolId, withState(state)))),
        "RequestStateRejected expired"
      )
      assert.lengthOf(provider.calls, 1)
      yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      yield* checkWallet(consumerId, PRICE, 0n)
      yield* checkWallet(stranger, 0n, 0n)
    })
  )

  it.effect("does not accept the state of an earlier leg", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(2)
      const first = yield* asked(requestOf(consumerId, toolId))
      const second = yield* asked(requestOf(consumerId, toolId, withState(first.state)))
      assert.strictEqual(
        yield* rejectedFor(requestOf(consumerId, toolId, withState(first.state))),
        "RequestStateRejected used"
      )
      yield* settledBy(requestOf(consumerId, toolId, withState(second.state)))
      assert.lengthOf(provider.calls, 3)
    })
  )

  it.effect("costs what it cost when it was opened, whatever price is set between its legs", () =>
    Effect.gen(function* () {
      const { consumerId, provider: owner, toolId } = yield* anAsker(1)
      const { state } = yield* asked(requestOf(consumerId, toolId))
      const catalog = yield* Catalog
      yield* catalog.upsert(owner.id, [{ toolName: "ask_0", price: Microcents.make(10n) }])
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.strictEqual(report.receipt.cost_microcents, MCP_PRICE)
      assert.strictEqual(report.entry.priceVersion, 1)
    })
  )

  it.effect("is judged by the output schema that it was opened under, whatever is set between its legs", () =>
    Effect.gen(function* () {
      const strict = { type: "object", required: ["n"] }
      const tool = { billingPolicy: "valid_output", outputSchema: strict } as const
      const { consumerId, provider: owner, toolId } = yield* anAsker(1, [tool])
      const catalog = yield* Catalog
      const { state } = yield* asked(requestOf(consumerId, toolId))
      yield* catalog.upsert(owner.id, [{ toolName: "ask_0", outputSchema: {} }])
      provider.respond = () => Effect.succeed(completed({ content: [], structuredContent: { junk: true } }))
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.deepStrictEqual([report.receipt.cost_microcents, report.entry.priceVersion], [0n, 1])
      assert.strictEqual((yield* settledBy(requestOf(consumerId, toolId))).report.receipt.cost_microcents, MCP_PRICE)
    })
  )

  it.effect("that is priced by usage tells its provider the same cap in each leg, and costs at most that", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1, [{ maxCost: Microcents.make(9_000n) }])
      askingTimes(provider, 1, completed({ content: [], _meta: { "market/cost_microcents": 8_000 } }))
      const cap = { maxCost: Microcents.make(5_000n) }
      const { state } = yield* asked(requestOf(consumerId, toolId, {}, cap))
      yield* checkWallet(consumerId, 0n, 5_000n)
      const more = { maxCost: Microcents.make(9_000n) }
      yield* settledBy(requestOf(consumerId, toolId, withState(state), more))
      assert.deepStrictEqual(
        provider.calls.map(({ maxCost }) => maxCost as bigint),
        [5_000n, 5_000n]
      )
      yield* checkWallet(consumerId, 5_000n, 0n)
    })
  )

  it.effect("limits how many calls of an account wait for input of one provider", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1_000)
      const states = yield* Effect.forEach(Array.from({ length: HALF }), () =>
        Effect.map(asked(requestOf(consumerId, toolId)), ({ state }) => state)
      )
      yield* checkWallet(consumerId, 0n, PRICE * BigInt(HALF))
      const { report } = yield* settledBy(requestOf(consumerId, toolId))
      assert.strictEqual(report.answer.problem?.kind, "unfinished")
      assert.strictEqual(report.receipt.cost_microcents, 0n)
      provider.respond = () => Effect.succeed(completed())
      yield* settledBy(requestOf(consumerId, toolId, withState(states[0]!)))
      provider.respond = () => Effect.succeed(asking())
      yield* asked(requestOf(consumerId, toolId))
    })
  )

  it.effect("whose caller has disconnected is settled at once, and costs nothing", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1)
      const forwarded = yield* Deferred.make<void>()
      const ask = yield* Deferred.make<void>()
      provider.respond = () =>
        Deferred.succeed(forwarded, undefined).pipe(Effect.andThen(Deferred.await(ask)), Effect.as(asking("state")))
      const calling = yield* Effect.forkChild(callMcp(requestOf(consumerId, toolId)))
      yield* Deferred.await(forwarded)
      yield* Fiber.interrupt(calling)
      yield* Deferred.succeed(ask, undefined)
      yield* (yield* Metering).idle
      yield* checkWallet(consumerId, 0n, 0n)
      const [receipt] = yield* receiptsOf(consumerId)
      const recorded = Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(receipt!.receipt_id))
      assert.strictEqual(recorded.cause, "canceled")
    })
  )

  it.effect("goes on after the balance is spent: its hold is its own", () =>
    Effect.gen(function* () {
      const { toolId } = yield* anAsker(1)
      const consumerId = yield* aConsumer(0)
      yield* addFunds(consumerId, 1)
      const { state } = yield* asked(requestOf(consumerId, toolId, {}, { maxCost: Microcents.make(10_000n) }))
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.strictEqual(report.receipt.cost_microcents, MCP_PRICE)
    })
  )
})

for (const [name, market] of everyMcpMarket()) {
  const layer = Layer.provide(
    market(provider),
    Layer.succeed(CatalogPolicy, { ...CATALOG_POLICY, priceNotice: Duration.zero })
  )
  it.layer(layer, { timeout: "120 seconds", excludeTestServices: true })(
    `A thief between two legs, over ${name}`,
    (it) => {
      it.effect("is resumed once per leg, by 20 requests at the same time and afterwards", () =>
        Effect.gen(function* () {
          const { consumerId, toolId } = yield* anAsker(1)
          const { state } = yield* asked(requestOf(consumerId, toolId))
          const request = requestOf(consumerId, toolId, withState(state))
          const exits = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.result(callMcp(request)), {
            concurrency: "unbounded"
          })
          assert.strictEqual(exits.filter((exit) => exit._tag === "Success").length, 1)
          assert.strictEqual(yield* rejectedFor(request), "RequestStateRejected used")
          assert.lengthOf(provider.calls, 2)
          yield* checkWallet(consumerId, PRICE, 0n)
        })
      )
    }
  )
}
