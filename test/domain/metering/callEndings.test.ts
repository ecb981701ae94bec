/**
 * A settlement is tried again for as long as a failover takes, because its call was made. A bug is not.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { retrySettlement } from "../../../domain/metering/Call.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const away = new StoreUnavailable({ reason: "unreachable", cause: undefined })

it.effect("a settlement gets through when the store is back after 90 seconds", () =>
  Effect.gen(function* () {
    let isAway = true
    const closing = Effect.suspend(() => (isAway ? Effect.fail(away) : Effect.succeed("closed")))
    const fiber = yield* Effect.forkChild(retrySettlement(closing, Cause.fail(away)))
    yield* TestClock.adjust("90 seconds")
    isAway = false
    yield* TestClock.adjust("1050 millis")
    assert.strictEqual(yield* Fiber.join(fiber), "closed")
  })
)

it.effect("a settlement that ends in a defect again is not repeated", () =>
  Effect.gen(function* () {
    let attempts = 0
    const closing = Effect.suspend(() => Effect.die(new Error(`a bug, attempt ${++attempts}`)))
    const fiber = yield* Effect.forkChild(Effect.exit(retrySettlement(closing, Cause.die("a bug"))))
    yield* TestClock.adjust("1 hour")
    yield* Fiber.join(fiber)
    assert.strictEqual(attempts, 1)
  })
)
