/**
 * A provider that asks the caller for input before it responds, as servers of the legacy era do: the tool's time does not
 * run while the caller is asked, up to ten minutes, and the hold stays.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, type Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import type { McpCallRequest } from "../../../domain/metering/Call.ts"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { UpstreamCall, UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import {
  aConsumer,
  callMcp,
  checkWallet,
  completed,
  memoryMcpMarket,
  MCP_PRICE,
  Provider,
  requestOf,
  tools
} from "../../support/metering/McpMarket.ts"
import { later } from "../../support/metering/TestTime.ts"

const PRICE = BigInt(MCP_PRICE)
const SESSION = { version: "2025-11-25", sessionId: "session 1" }
const CLIENT_SESSION = "client session 1"
const QUESTION = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`
const FORWARDED_MS = 27_000

/** A call whose provider has been sent the request; the test asks and responds as the provider. */
const aCall = Effect.fnUntraced(function* (
  provider: Provider,
  more: Partial<McpCallRequest> = {},
  change: Partial<ToolChange> = {},
  response: Partial<UpstreamResponse> = {}
) {
  const respond = yield* Deferred.make<void>()
  provider.respond = () =>
    Effect.map(Effect.timed(Deferred.await(respond)), ([took]) => ({
      ...completed(),
      ...response,
      latencyMs: Duration.toMillis(took)
    }))
  const { tools: made } = yield* tools([change])
  const consumerId = yield* aConsumer()
  const received: Array<string> = []
  const exchange = {
    inSession: true,
    session: SESSION,
    clientSession: CLIENT_SESSION,
    onMessage: (message: string) => void received.push(message)
  } as const
  const calling = yield* Effect.forkChild(callMcp(requestOf(consumerId, made[0]!.id, exchange, more)), {
    startImmediately: true
  })
  const { answered } = yield* McpCalls
  const call = provider.calls.at(-1)!
  return {
    calling,
    call,
    consumerId,
    received,
    ask: (message = QUESTION) => Effect.sync(() => call.exchange!.onMessage(message)),
    answer: (id = "7.0") => Effect.sync(() => answered(consumerId, CLIENT_SESSION, id)),
    respond: Deferred.succeed(respond, undefined)
  }
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

/** What its provider is rated by. */
const endOf = Effect.fnUntraced(function* (calling: Parameters<typeof statusOf>[0]) {
  const outcome = yield* Fiber.join(calling)
  if (outcome._tag !== "Settled") return yield* Effect.die(new Error(outcome._tag))
  const { duration_ms: ms, receipt_id: id, status } = outcome.report.receipt
  const { cause } = Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(id))
  return { status, cause, seconds: Math.floor(ms / 1_000) }
})

const extraOf = ({ extraMs }: UpstreamCall) => extraMs!()

inMarket("does not run out of time while its caller is asked, and is billed by its outcome", (provider) =>
  Effect.gen(function* () {
    const waits: Array<number> = []
    const { answer, ask, call, calling, consumerId, received, respond } = yield* aCall(provider, {
      onWait: (leftMs) => void waits.push(leftMs)
    })
    yield* ask()
    assert.deepStrictEqual(received, [QUESTION])
    yield* TestClock.adjust("9 minutes")
    assert.isUndefined(calling.pollUnsafe())
    yield* checkWallet(consumerId, 0n, PRICE)
    assert.strictEqual(yield* (yield* Sweeper).sweep, 0)
    assert.strictEqual(extraOf(call), 600_000)
    yield* answer()
    assert.strictEqual(extraOf(call), 540_000)
    yield* TestClock.adjust("20 seconds")
    assert.isUndefined(calling.pollUnsafe())
    yield* respond
    assert.deepStrictEqual(yield* endOf(calling), { status: "success", cause: undefined, seconds: 20 })
    yield* checkWallet(consumerId, PRICE, 0n)
    assert.deepStrictEqual(waits, [600_000 + FORWARDED_MS, FORWARDED_MS])
  })
)

inMarket("has only its own time after the answer", (provider) =>
  Effect.gen(function* () {
    const { answer, ask, calling, consumerId } = yield* aCall(provider)
    yield* TestClock.adjust("10 seconds")
    yield* ask()
    yield* TestClock.adjust("5 minutes")
    yield* answer()
    yield* TestClock.adjust("10 seconds")
    assert.isUndefined(calling.pollUnsafe())
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(yield* endOf(calling), {
      status: "timeout",
      cause: undefined,
      seconds: FORWARDED_MS / 1_000
    })
    yield* checkWallet(consumerId, 0n, 0n)
  })
)

inMarket("ends ten minutes after its caller was asked, without a failure of its provider", (provider) =>
  Effect.gen(function* () {
    const { ask, calling, consumerId } = yield* aCall(provider)
    yield* ask()
    yield* TestClock.adjust("10 minutes")
    assert.isUndefined(calling.pollUnsafe())
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(yield* endOf(calling), { status: "error", cause: "canceled", seconds: FORWARDED_MS / 1_000 })
    yield* checkWallet(consumerId, 0n, 0n)
  })
)

inMarket("costs the price where the attempt is paid, and is no failure of its provider either", (provider) =>
  Effect.gen(function* () {
    const { ask, calling, consumerId } = yield* aCall(provider, {}, { billingPolicy: "attempt" })
    yield* ask()
    yield* TestClock.adjust("11 minutes")
    assert.deepStrictEqual(yield* endOf(calling), { status: "error", cause: "canceled", seconds: FORWARDED_MS / 1_000 })
    yield* checkWallet(consumerId, PRICE, 0n)
  })
)

inMarket("is its provider's own failure if that gives up within ten seconds, or after the answer", (provider) =>
  Effect.gen(function* () {
    for (const [seconds, isAnswered] of [
      [9, false],
      [60, true]
    ] as const) {
      const { answer, ask, calling, respond } = yield* aCall(provider, {}, {}, { status: "error" })
      yield* ask()
      yield* TestClock.adjust(`${seconds} seconds`)
      if (isAnswered) yield* answer()
      yield* respond
      assert.deepInclude(yield* endOf(calling), { status: "error", cause: undefined })
    }
  })
)

inMarket("waits ten minutes in total, for all its questions", (provider) =>
  Effect.gen(function* () {
    const { answer, ask, calling } = yield* aCall(provider)
    for (let n = 0; n < 3; n++) {
      yield* ask(`{"id":"q${n}","method":"sampling/createMessage"}`)
      yield* TestClock.adjust("200 seconds")
      yield* answer(`"q${n}"`)
    }
    yield* ask()
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(yield* endOf(calling), { status: "error", cause: "canceled", seconds: FORWARDED_MS / 1_000 })
  })
)

inMarket("is not given time by notifications, pings, or another account's answers", (provider) =>
  Effect.gen(function* () {
    const { ask, calling, consumerId, received } = yield* aCall(provider)
    const messages = [
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"id":"x"}}`,
      `{"jsonrpc":"2.0","id":1,"method":"ping"}`
    ]
    for (const message of messages) yield* ask(message)
    assert.deepStrictEqual(received, messages)
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual(yield* statusOf(calling), "timeout")

    const asked = yield* aCall(provider)
    yield* asked.ask()
    const { answered } = yield* McpCalls
    answered(consumerId, CLIENT_SESSION, "7")
    answered(asked.consumerId, "client session 2", "7")
    yield* TestClock.adjust("1 minute")
    assert.isUndefined(asked.calling.pollUnsafe())
    yield* asked.respond
    yield* Fiber.join(asked.calling)
  })
)

inMarket("is one of at most 16 of its account that wait", (provider) =>
  Effect.gen(function* () {
    const { tools: made } = yield* tools()
    const consumerId = yield* aConsumer()
    provider.respond = (call) =>
      Effect.sync(() => call.exchange!.onMessage(`{"id":${provider.calls.length},"method":"elicitation/create"}`)).pipe(
        Effect.andThen(Effect.never)
      )
    const request = requestOf(consumerId, made[0]!.id, { inSession: true, session: SESSION })
    const calling = yield* Effect.forEach(Array.from({ length: 17 }), () =>
      Effect.forkChild(callMcp(request), { startImmediately: true })
    )
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(calling.filter((fiber) => fiber.pollUnsafe() !== undefined).length, 1)
    yield* TestClock.adjust("10 minutes")
    for (const fiber of calling) assert.strictEqual((yield* endOf(fiber)).cause, "canceled")
    yield* checkWallet(consumerId, 0n, 0n)
  })
)

inMarket("ends at its usual time if its call has ended in the store, whose deadline then cannot be moved", (provider) =>
  Effect.gen(function* () {
    const { ask, call, calling, consumerId } = yield* aCall(provider, {}, { billingPolicy: "attempt" })
    yield* TestClock.adjust("1 second")
    // As after the sweeper: no call of this id is open.
    yield* later("1 hour")(Effect.flatMap(Sweeper, ({ sweep }) => sweep))
    yield* ask()
    assert.strictEqual(extraOf(call), 0)
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual((yield* Fiber.await(calling))._tag, "Failure")
    yield* checkWallet(consumerId, 0n, 0n)
  })
)
