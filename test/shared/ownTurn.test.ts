import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePause, ownTurn } from "../../domain/shared/OwnTurn.ts"
import { countTurns } from "../support/checks/EventLoop.ts"

describe("a turn of the event loop", () => {
  it.effect("belongs to one caller, however many wait", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const turn = yield* countTurns
        const turns = yield* Effect.all(
          Array.from({ length: 20 }, () => Effect.map(ownTurn, turn)),
          {
            concurrency: "unbounded"
          }
        )
        assert.lengthOf([...new Set(turns)], 20)
      })
    )
  )

  it.effect("is given on where a caller that waits is interrupted", () =>
    Effect.gen(function* () {
      const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(ownTurn))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first!)
      yield* Fiber.interrupt(second!)
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(third!)))
    })
  )

  it.effect("is waited for in a loop only after long steps", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const turn = yield* countTurns
        const pause = yield* makePause
        const began = turn()
        yield* pause
        assert.strictEqual(turn(), began)
        yield* TestClock.adjust("10 millis")
        const before = turn()
        yield* pause
        assert.isAbove(turn(), before)
      })
    )
  )
})
