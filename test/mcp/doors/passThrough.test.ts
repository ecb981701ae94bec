/**
 * Limits on requests that are passed to providers' servers unbilled.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { PassThrough, PASSED_AT_ONCE_MAX, PASSED_BYTES_MAX } from "../../../domain/mcp/PassThrough.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"

const [one, other] = ["1", "2"].map((digit) => ConsumerId.make(`${digit}0000000-0000-4000-8000-000000000000`)) as [
  ConsumerId,
  ConsumerId
]
const none = () => 0

it.effect("an account has so many at a time, whatever others have", () =>
  Effect.gen(function* () {
    const { limit } = yield* PassThrough
    const passing = yield* Effect.forEach(Array.from({ length: PASSED_AT_ONCE_MAX }), () =>
      Effect.forkChild(limit(one, 1, Effect.never, none), { startImmediately: true })
    )
    assert.strictEqual((yield* Effect.flip(limit(one, 1, Effect.void, none))).limit, "requests")
    yield* limit(other, 1, Effect.void, none)
    yield* Fiber.interrupt(passing[0]!)
    yield* limit(one, 1, Effect.void, none)
  }).pipe(Effect.provide(PassThrough.layer))
)

it.effect("an account has so many bytes a minute, of requests and of results", () =>
  Effect.gen(function* () {
    const { limit } = yield* PassThrough
    const half = PASSED_BYTES_MAX / 2
    yield* limit(one, half, Effect.void, () => half)
    const exceeded = yield* Effect.flip(limit(one, 1, Effect.void, none))
    assert.strictEqual(exceeded.limit, "bytes")
    assert.isAtMost(exceeded.retryAfterSeconds, 60)
    yield* limit(other, 1, Effect.void, none)
    yield* TestClock.adjust("61 seconds")
    yield* limit(one, 1, Effect.void, none)
  }).pipe(Effect.provide(PassThrough.layer))
)
