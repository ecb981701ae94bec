/**
 * A provider that reports progress: each report gives the tool its time-out again, up to a maximum that nothing extends but
 * the time of the caller. The hold, the sweeper, repeated calls and the request's own time limit agree with it.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { McpCallRequest } from "../../../domain/metering/Call.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import {
  aConsumer,
  asking,
  callMcp,
  checkWallet,
  completed,
  memoryMcpMarket,
  MCP_PRICE,
  Provider,
  requestOf,
  tools,
  withState
} from "../../support/metering/McpMarket.ts"

const PRICE = BigInt(MCP_PRICE)
/** Of a tool with a time-out of 10 s, and 2 s more for an upstream that does not keep its own limits. */
const USUAL_MS = 27_000
const MAXIMUM_MS = 302_000
const KEY = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }

/** A call whose provider reports progress until the test lets it respond. */
const aCall = Effect.fnUntraced(function* (provider: Provider, more: Partial<McpCallRequest> = {}, everyMs = 5_000) {
  const respond = yield* Deferred.make<void>()
  provider.respond = (call) =>
    Effect.raceFirst(
      Effect.forever(
        Effect.andThen(
          Effect.sleep(everyMs),
          Effect.sync(() => call.onReported?.())
        )
      ),
      Effect.as(Deferred.await(respond), completed())
    )
  const { tools: made } = yield* tools()
  const consumerId = yield* aConsumer()
  const request = requestOf(
    consumerId,
    made[0]!.id,
    { inSession: true, clientSession: "s", progressToken: `"p"` },
    { idempotency: KEY, ...more }
  )
  const calling = yield* Effect.forkChild(callMcp(request), { startImmediately: true })
  return { calling, consumerId, request, respond: Deferred.succeed(respond, undefined) }
})

const inMarket = (
  title: string,
  test: (provider: Provider) => Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof memoryMcpMarket>>>
) => {
  const provider = new Provider()
  it.effect(title, () => Effect.provide(test(provider), memoryMcpMarket(provider)))
}

const statusOf = (calling: Fiber.Fiber<Effect.Success<ReturnType<typeof callMcp>>, unknown>) =>
  Effect.map(Fiber.join(calling), (outcome) =>
    outcome._tag === "Settled" ? outcome.report.receipt.status : outcome._tag
  )

inMarket("takes as long as it reports progress, and keeps its hold and its key meanwhile", (provider) =>
  Effect.gen(function* () {
    const left: Array<number> = []
    const { calling, consumerId, request, respond } = yield* aCall(provider, {
      onWait: (leftMs) => void left.push(leftMs)
    })
    yield* TestClock.adjust("4 minutes")
    assert.isUndefined(calling.pollUnsafe())
    assert.strictEqual(yield* (yield* Sweeper).sweep, 0)
    yield* checkWallet(consumerId, 0n, PRICE)
    // The request's own limit is never behind the call's.
    assert.deepStrictEqual([left[0], left.at(-1)], [22_000, 12_000])
    const joined = yield* Effect.forkChild(Effect.flip(callMcp(request)), { startImmediately: true })
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual((yield* Fiber.join(joined))._tag, "CallInFlight")
    yield* respond
    assert.strictEqual(yield* statusOf(calling), "success")
    yield* checkWallet(consumerId, PRICE, 0n)
    assert.strictEqual((yield* callMcp(request))._tag, "Replayed")
    assert.lengthOf(provider.calls, 1)
  })
)

inMarket("ends as a time-out at the maximum, whatever its provider reports, and costs nothing", (provider) =>
  Effect.gen(function* () {
    const { calling, consumerId } = yield* aCall(provider, {}, 100)
    yield* TestClock.adjust(MAXIMUM_MS)
    assert.isUndefined(calling.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* statusOf(calling), "timeout")
    yield* checkWallet(consumerId, 0n, 0n)
  })
)

inMarket("ends as a time-out when its provider stops reporting", (provider) =>
  Effect.gen(function* () {
    const { calling } = yield* aCall(provider, {}, 60_000)
    yield* TestClock.adjust(USUAL_MS)
    assert.isUndefined(calling.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* statusOf(calling), "timeout")
  })
)

inMarket("has one maximum for all legs of a call", (provider) =>
  Effect.gen(function* () {
    const { tools: made } = yield* tools()
    const consumerId = yield* aConsumer()
    provider.respond = () => Effect.succeed({ ...asking("state"), latencyMs: 200_000 })
    const asked = yield* callMcp(requestOf(consumerId, made[0]!.id, { progressToken: "1" }))
    const { requestState } = JSON.parse(asked._tag === "InputRequired" ? asked.resultText : "{}")
    provider.respond = () => Effect.succeed(completed())
    yield* callMcp(requestOf(consumerId, made[0]!.id, withState(requestState, { progressToken: "1" })))
    assert.deepStrictEqual(
      provider.calls.map(({ progressMsMax }) => progressMsMax),
      [300_000, 100_000]
    )
  })
)

inMarket("has the time of its caller besides, in either order", (provider) =>
  Effect.gen(function* () {
    const { calling, consumerId, respond } = yield* aCall(provider)
    const { answered } = yield* McpCalls
    const { sweep } = yield* Sweeper
    yield* TestClock.adjust("1 minute")
    provider.calls[0]!.exchange!.onMessage(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
    yield* TestClock.adjust("9 minutes")
    assert.isUndefined(calling.pollUnsafe())
    answered(consumerId, "s", "1")
    for (let minute = 0; minute < 4; minute++) {
      assert.strictEqual(yield* sweep, 0)
      assert.isUndefined(calling.pollUnsafe())
      yield* TestClock.adjust("59 seconds")
    }
    yield* respond
    assert.strictEqual(yield* statusOf(calling), "success")
  })
)

inMarket("ends at its usual time if its deadline in the store cannot be moved", (provider) =>
  Effect.gen(function* () {
    const away = new StoreUnavailable({ reason: "unreachable", cause: new Error("cut") })
    const calls = Layer.succeed(CallStore, { ...(yield* CallStore), extend: () => Effect.fail(away) })
    const limits = Layer.succeed(UpstreamLimits, { ...UPSTREAM_LIMITS, totalMs: 25_000 })
    const mcpCalls = Layer.fresh(McpCalls.layer).pipe(Layer.provide([calls, provider.upstream, limits]))
    yield* Effect.gen(function* () {
      const { calling } = yield* aCall(provider)
      yield* TestClock.adjust(USUAL_MS)
      assert.isUndefined(calling.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* statusOf(calling), "timeout")
    }).pipe(Effect.provide(mcpCalls))
  })
)
