/**
 * An upstream that never responds: Metering itself ends the call, in the time of the fiber's clock.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Loads } from "../../../domain/payments/Loads.ts"
import { Registration } from "../../../domain/providers/Registration.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { ToolUpstream, type UpstreamCall, type UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import { core } from "../../../src/layers/Core.ts"
import { memoryPorts } from "../../../src/layers/MemoryPorts.ts"

const LIMITS = { ...UPSTREAM_LIMITS, totalMs: 25_000 }
const FUNDS_CENTS = 500

const tool = {
  toolName: "sleep",
  displayName: "Sleep",
  description: "Never responds",
  category: "text",
  price: Microcents.make(500n),
  freeTierCalls: 0,
  inputSchema: undefined,
  outputSchema: undefined,
  billingPolicy: "success",
  maxCost: undefined,
  timeoutMs: undefined,
  idempotent: true
} as const

const SUCCESS: UpstreamResponse = {
  status: "success",
  result: { content: [] },
  problem: undefined,
  attempts: 1,
  latencyMs: 60_000,
  requestBytes: 0,
  responseBytes: 0
}

const marketOn = (call: (call: UpstreamCall) => Effect.Effect<UpstreamResponse>) =>
  core.pipe(
    Layer.provide(Layer.succeed(ToolUpstream, { call })),
    Layer.provide(Layer.succeed(UpstreamLimits, LIMITS)),
    Layer.provide(memoryPorts)
  )

/** A paid call, begun; and what its consumer has left. */
const aCall = Effect.fnUntraced(function* (onProgress?: UpstreamCall["onProgress"]) {
  const registration = yield* Registration
  const { tools } = yield* registration.provider(
    {
      name: "Sleepers",
      email: "sleepers@example.org",
      endpointUrl: "https://sleepers.example.org/mcp",
      description: "",
      pricingModel: "per_call",
      defaultPrice: tool.price,
      tools: [tool]
    },
    undefined
  )
  const { consumer } = yield* registration.consumer(
    { name: "An agent", email: "agent@example.org", useCase: "", rateLimitRpm: undefined },
    undefined
  )
  yield* (yield* Loads).load({ consumerId: consumer.id, amountCents: FUNDS_CENTS, key: undefined })
  const { call } = yield* Metering
  const calling = yield* Effect.forkChild(
    call(
      {
        consumerId: consumer.id,
        tool: { toolId: tools[0]?.id, toolName: undefined, providerId: undefined },
        arguments: {},
        maxCost: undefined,
        idempotency: undefined,
        onProgress
      },
      () => ({ status: 504, headers: {}, body: "" })
    ),
    { startImmediately: true }
  )
  const ledger = yield* Ledger
  return { calling, wallet: ledger.wallet(consumer.id) }
})

const upstreams: ReadonlyArray<readonly [name: string, call: (call: UpstreamCall) => Effect.Effect<never>]> = [
  ["a silent one", () => Effect.never],
  ["one that cannot be interrupted", () => Effect.uninterruptible(Effect.never)],
  [
    "one that has sent the request",
    ({ onForwarded }) =>
      Effect.suspend(() => {
        onForwarded?.(1)
        return Effect.never
      })
  ]
]

for (const [name, upstream] of upstreams) {
  it.effect(`a call of ${name} ends as a time-out, and its hold is released`, () =>
    Effect.gen(function* () {
      const { calling, wallet } = yield* aCall()
      yield* TestClock.adjust(LIMITS.totalMs)
      assert.isUndefined(calling.pollUnsafe())
      assert.strictEqual((yield* wallet).held, tool.price)

      yield* TestClock.adjust("5 seconds")
      const outcome = yield* Fiber.join(calling)
      assert.strictEqual(outcome._tag, "Settled")
      if (outcome._tag !== "Settled") return
      const { answer, receipt } = outcome.report
      assert.strictEqual(receipt.status, "timeout")
      assert.strictEqual(receipt.cost_microcents, 0n)
      assert.deepInclude(answer, { status: "timeout", attempts: name.endsWith("request") ? 1 : 0 })
      assert.isAtLeast(answer.latencyMs, LIMITS.totalMs)
      const { available, held } = yield* wallet
      assert.deepStrictEqual([available, held], [BigInt(FUNDS_CENTS) * 10_000n, 0n])
    }).pipe(Effect.provide(marketOn(upstream)))
  )
}

it.live("the first call of a new market has its full time", () =>
  Effect.gen(function* () {
    const { calling } = yield* aCall()
    const outcome = yield* Fiber.join(calling)
    assert.strictEqual(outcome._tag === "Settled" ? outcome.report.receipt.status : outcome._tag, "success")
  }).pipe(Effect.provide(marketOn(() => Effect.delay(Effect.succeed(SUCCESS), "600 millis"))))
)

it.effect("a canceled call of one that cannot be interrupted ends at its deadline", () =>
  Effect.gen(function* () {
    const { calling, wallet } = yield* aCall()
    const canceling = yield* Effect.forkChild(Fiber.interrupt(calling), { startImmediately: true })
    yield* TestClock.adjust(LIMITS.totalMs)
    assert.isUndefined(canceling.pollUnsafe())
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(canceling)
    const { available, held } = yield* wallet
    assert.deepStrictEqual([available, held], [BigInt(FUNDS_CENTS) * 10_000n, 0n])
  }).pipe(Effect.provide(marketOn(() => Effect.uninterruptible(Effect.never))))
)

it.effect("a call whose upstream interrupts itself ends at once", () =>
  Effect.gen(function* () {
    const { calling, wallet } = yield* aCall()
    yield* TestClock.adjust("1 second")
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(calling)))
    assert.strictEqual((yield* wallet).held, 0n)
  }).pipe(Effect.provide(marketOn(() => Effect.delay(Effect.interrupt, "1 second"))))
)

it.effect("what an upstream reports after the time-out is dropped, and so is its response", () => {
  const late = ({ onForwarded, onProgress }: UpstreamCall) =>
    Effect.gen(function* () {
      onProgress?.({ progress: 1 })
      yield* Effect.sleep("1 minute")
      onForwarded?.(1)
      onProgress?.({ progress: 2 })
      return SUCCESS
    }).pipe(Effect.uninterruptible)
  return Effect.gen(function* () {
    const seen: Array<number> = []
    const { calling, wallet } = yield* aCall(({ progress }) => void seen.push(progress))
    yield* TestClock.adjust("30 seconds")
    const outcome = yield* Fiber.join(calling)
    assert.strictEqual(outcome._tag === "Settled" ? outcome.report.receipt.status : outcome._tag, "timeout")
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(seen, [1])
    assert.strictEqual((yield* wallet).available, BigInt(FUNDS_CENTS) * 10_000n)
  }).pipe(Effect.provide(marketOn(late)))
})
