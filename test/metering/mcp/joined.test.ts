/**
 * A call with the idempotency key of a call in flight waits for its response, where a door that speaks MCP makes it.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { JOINED_CALLS_MAX, JOINED_MS_MAX } from "../../../domain/mcp/McpCalls.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import {
  aConsumer,
  asked,
  asking,
  callMcp,
  checkWallet,
  completed,
  everyMcpMarket,
  MCP_PRICE,
  memoryMcpMarket,
  Provider,
  rejectedFor,
  requestOf,
  settledBy,
  tools,
  withState
} from "../../support/metering/McpMarket.ts"

const PRICE = BigInt(MCP_PRICE)
/** Told to the door, whose own time limit may be shorter. */
const waits: Array<number> = []
const idempotency = { keyHash: "12".repeat(32), requestHash: "34".repeat(32) }

const provider = new Provider()
const aShop = Effect.gen(function* () {
  provider.calls.length = 0
  const respond = yield* Deferred.make<void>()
  provider.respond = () => Effect.as(Deferred.await(respond), completed({ content: [], drawn: "once" }))
  const { tools: made } = yield* tools()
  const consumerId = yield* aConsumer()
  return { respond: Deferred.succeed(respond, undefined), consumerId, toolId: made[0]!.id }
})

it.layer(memoryMcpMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A repeated call", (it) => {
  it.effect("with other arguments is a conflict, at once", () =>
    Effect.gen(function* () {
      const { consumerId, respond, toolId } = yield* aShop
      const first = yield* Effect.forkChild(callMcp(requestOf(consumerId, toolId, {}, { idempotency })))
      yield* eventually(() => provider.calls.length === 1)
      const other = { idempotency: { ...idempotency, requestHash: "56".repeat(32) } }
      assert.strictEqual(yield* rejectedFor(requestOf(consumerId, toolId, {}, other)), "CallConflict")
      yield* respond
      yield* Fiber.join(first)
    })
  )

  it.effect("is rejected where the account has too many that wait", () =>
    Effect.gen(function* () {
      const { consumerId, respond, toolId } = yield* aShop
      const request = requestOf(consumerId, toolId, {}, { idempotency })
      const callers = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: JOINED_CALLS_MAX + 5 }), () => Effect.result(callMcp(request)), {
          concurrency: "unbounded"
        })
      )
      yield* eventually(() => provider.calls.length === 1)
      yield* Effect.sleep("200 millis")
      yield* respond
      const results = yield* Fiber.join(callers)
      const failed = results.filter((result) => result._tag === "Failure")
      assert.lengthOf(failed, 4, "one is the first, 16 wait")
      for (const { failure } of failed) assert.strictEqual(failure._tag, "CallInFlight")
      yield* checkWallet(consumerId, PRICE, 0n)
    })
  )

  it.effect("waits for a call that waits for input", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* aShop
      provider.respond = () => Effect.succeed(provider.calls.length === 1 ? asking() : completed())
      const request = requestOf(consumerId, toolId, {}, { idempotency })
      const { state } = yield* asked(request)
      const joined = yield* Effect.forkChild(callMcp(request))
      const { answer } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.deepStrictEqual(yield* Fiber.join(joined), { _tag: "Replayed", answer })
    })
  )

  it.effect("runs itself if the call in flight ends without a response", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* aShop
      const forwarded = yield* Deferred.make<void>()
      // Interrupts itself, as when the service stops: nothing is delivered, so the key is released.
      provider.respond = () =>
        provider.calls.length === 1
          ? Effect.andThen(Deferred.await(forwarded), Effect.interrupt)
          : Effect.succeed(completed())
      const request = requestOf(consumerId, toolId, {}, { idempotency })
      const first = yield* Effect.forkChild(Effect.exit(callMcp(request)))
      yield* eventually(() => provider.calls.length === 1)
      const second = yield* Effect.forkChild(callMcp(request))
      yield* Effect.sleep("100 millis")
      yield* Deferred.succeed(forwarded, undefined)
      assert.strictEqual((yield* Fiber.join(first))._tag, "Failure")
      assert.strictEqual((yield* Fiber.join(second))._tag, "Settled")
      assert.lengthOf(provider.calls, 2)
      yield* checkWallet(consumerId, PRICE, 0n)
    })
  )
})

for (const [name, market] of everyMcpMarket()) {
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(
    `A repeated call over ${name}`,
    (it) => {
      it.effect("gets the same bytes as the call in flight, which runs and is charged once", () =>
        Effect.gen(function* () {
          const { consumerId, respond, toolId } = yield* aShop
          const request = requestOf(
            consumerId,
            toolId,
            {},
            { idempotency, onWait: (leftMs) => void waits.push(leftMs) }
          )
          const callers = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: JOINED_CALLS_MAX }), () => callMcp(request), {
              concurrency: "unbounded"
            })
          )
          yield* eventually(() => provider.calls.length === 1)
          yield* respond
          const outcomes = yield* Fiber.join(callers)
          assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Settled").length, 1)
          for (const outcome of outcomes) {
            assert.deepStrictEqual(
              "answer" in outcome && outcome.answer,
              "answer" in outcomes[0]! && outcomes[0].answer
            )
          }
          assert.include(waits, JOINED_MS_MAX)
          assert.lengthOf(provider.calls, 1)
          yield* checkWallet(consumerId, PRICE, 0n)
        })
      )
    }
  )
}
