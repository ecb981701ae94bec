/**
 * The sequencer at rest: it asks the database rarely, and starts at once when a call is closed.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { logRest } from "../../../domain/log/Sequencer.ts"
import { CallTally, makeCallTally } from "../../../domain/metering/CallsInFlight.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const resting = (waiting: LogStore["Service"]["waiting"]) =>
  Effect.gen(function* () {
    const tally = makeCallTally()
    const asked = { count: 0 }
    const store = Layer.mock(LogStore, {
      waiting: Effect.suspend(() => {
        asked.count++
        return waiting
      })
    })
    const { rest } = yield* logRest.pipe(Effect.provide(store), Effect.provideService(CallTally, tally))
    return { rest, asked, closed: () => tally.count("proxy", "success") }
  })

it.effect("without calls it asks at most every 5 seconds", () =>
  Effect.gen(function* () {
    const { asked, rest } = yield* resting(Effect.succeed(false))
    yield* Effect.forkScoped(Effect.forever(rest))
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(asked.count, 13)
  })
)

it.effect("ends at the next call, and at once after a call that was closed meanwhile", () =>
  Effect.gen(function* () {
    const { asked, closed, rest } = yield* resting(Effect.succeed(false))
    const first = yield* Effect.forkChild(rest)
    yield* TestClock.adjust("1 second")
    assert.isUndefined(first.pollUnsafe())
    closed()
    yield* Fiber.join(first)
    closed()
    yield* rest
    assert.strictEqual(asked.count, 1)
  })
)

it.effect.each([
  ["receipts wait, which another node may be adding", Effect.succeed(true)],
  ["the database does not respond", new StoreUnavailable({ reason: "unreachable", cause: "no answer" })]
] as const)("lasts a second while %s", ([, waiting]) =>
  Effect.gen(function* () {
    const { rest } = yield* resting(
      Effect.suspend(() => (waiting instanceof StoreUnavailable ? Effect.fail(waiting) : waiting))
    )
    const one = yield* Effect.forkChild(rest)
    yield* TestClock.adjust("999 millis")
    assert.isUndefined(one.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    yield* Fiber.join(one)
  })
)

it.effect.each([
  ["fails with a defect", Effect.die("a broken row"), 1],
  ["never comes", Effect.never, 6]
] as const)("ends where the number of waiting receipts %s", ([, waiting, seconds]) =>
  Effect.gen(function* () {
    const { rest } = yield* resting(waiting)
    const one = yield* Effect.forkChild(rest)
    yield* TestClock.adjust(`${seconds} seconds`)
    yield* Fiber.join(one)
  })
)
