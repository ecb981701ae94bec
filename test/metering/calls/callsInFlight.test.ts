/**
 * Calls in flight: who waits for them, how many there may be, and how they end when the service stops.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  makeRetainedResultQuota,
  RETAINED_RESULT_BYTES_MAX,
  RETAINED_RESULT_MS_MAX
} from "../../../domain/metering/CallStore.ts"
import { type CallProgress, CallTally, makeCallsInFlight } from "../../../domain/metering/CallsInFlight.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"

const CONSUMER = ConsumerId.make("01a203e2-8e6b-71c1-a888-28fffdc31c78")
const OTHER = ConsumerId.make("01a203e2-8e6b-71c1-a888-28fffdc31c79")

const aCall = (changes: Partial<CallProgress> = {}): CallProgress => ({
  passesCancel: false,
  forwarded: 1,
  ended: false,
  left: false,
  canceled: false,
  limitMs: 0,
  ...changes
})

/** Ends when it is told to, and records how it ended. */
const work = Effect.gen(function* () {
  const answer = yield* Deferred.make<string>()
  let ended: "answered" | "interrupted" | undefined
  const run = Deferred.await(answer).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        ended = Exit.isSuccess(exit) ? "answered" : "interrupted"
      })
    )
  )
  return { run, answer: Deferred.succeed(answer, "fine"), ended: () => ended }
})

it.effect("a forwarded call continues without its caller, and counts until it ends", () =>
  Effect.gen(function* () {
    const calls = yield* makeCallsInFlight(1)
    const first = yield* work
    const caller = yield* Effect.forkChild(calls.run(CONSUMER, aCall(), first.run), { startImmediately: true })
    yield* Fiber.interrupt(caller)
    assert.isUndefined(first.ended())

    const refused = yield* Effect.flip(calls.run(CONSUMER, aCall(), Effect.succeed("never made")))
    assert.strictEqual(refused._tag, "TooManyCallsInFlight")
    assert.strictEqual(yield* calls.run(OTHER, aCall(), Effect.succeed("another account's")), "another account's")

    yield* first.answer
    yield* calls.idle
    assert.strictEqual(first.ended(), "answered")
    assert.strictEqual(yield* calls.run(CONSUMER, aCall(), Effect.succeed("fine")), "fine")
    yield* Effect.exit(calls.run(CONSUMER, aCall(), Effect.die("a defect")))
    yield* Effect.exit(calls.run(CONSUMER, aCall(), Effect.fail("a refusal")))
    assert.strictEqual(yield* calls.run(CONSUMER, aCall(), Effect.succeed("fine")), "fine")
    assert.strictEqual((yield* CallTally).leftCount, 1)
  }).pipe(Effect.provide(CallTally.layer))
)

it.effect.each([
  { what: "was not forwarded", progress: aCall({ forwarded: 0 }), canceled: false },
  { what: "passes cancellations", progress: aCall({ passesCancel: true }), canceled: true }
])("a call that $what ends with its caller", ({ canceled, progress }) =>
  Effect.gen(function* () {
    const calls = yield* makeCallsInFlight(64)
    const call = yield* work
    const caller = yield* Effect.forkChild(calls.run(CONSUMER, progress, call.run), { startImmediately: true })
    yield* Fiber.interrupt(caller)
    assert.strictEqual(call.ended(), "interrupted")
    assert.deepStrictEqual([progress.left, progress.canceled], [true, canceled])
  }).pipe(Effect.provide(CallTally.layer))
)

it.effect("no call outlives the service: calls may finish, then they are canceled", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const calls = yield* Scope.provide(makeCallsInFlight(64), scope)
    const [quick, stuck] = [yield* work, yield* work]
    for (const { run } of [quick, stuck]) {
      const caller = yield* Effect.forkChild(calls.run(CONSUMER, aCall(), run), { startImmediately: true })
      yield* Fiber.interrupt(caller)
    }
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* quick.answer
    yield* TestClock.adjust("9 seconds")
    assert.deepStrictEqual([quick.ended(), stuck.ended()], ["answered", undefined])
    yield* TestClock.adjust("2 seconds")
    yield* Fiber.join(closing)
    assert.strictEqual(stuck.ended(), "interrupted")
  }).pipe(Effect.provide(CallTally.layer))
)

it.effect("results of disconnected callers are kept up to a number of bytes in ten minutes", () =>
  Effect.gen(function* () {
    const isKept = yield* Effect.clockWith((clock) => Effect.sync(() => makeRetainedResultQuota(clock)))
    const half = RETAINED_RESULT_BYTES_MAX / 2
    assert.deepStrictEqual([isKept(CONSUMER, half), isKept(CONSUMER, half), isKept(CONSUMER, 1)], [true, true, false])
    assert.isTrue(isKept(OTHER, half))
    yield* TestClock.adjust(RETAINED_RESULT_MS_MAX / 2)
    assert.isFalse(isKept(CONSUMER, 1))
    assert.isTrue(isKept(OTHER, half))
    yield* TestClock.adjust(RETAINED_RESULT_MS_MAX)
    assert.deepStrictEqual([isKept(CONSUMER, half), isKept(OTHER, half)], [true, true])
    yield* TestClock.adjust(RETAINED_RESULT_MS_MAX * 100)
    assert.isTrue(isKept(CONSUMER, RETAINED_RESULT_BYTES_MAX))
  })
)
