/**
 * Turns of the event loop for long synchronous work, such as parsing a large body. A turn has one piece of such work, however
 * many callers wait: other requests wait for one piece at most.
 */
import { Clock, Effect, Semaphore } from "effect"
import { monotonicMs } from "./Time.ts"

/** The length of a text whose processing is long work: about a millisecond for each pass over it. */
export const LONG_TEXT_CHARS_MIN = 32_768
const STEPS_MS_MAX = 10

const one = Semaphore.makeUnsafe(1)

/** Waits for a turn. What the caller does until it waits again has the turn alone. */
export const ownTurn: Effect.Effect<void> = one.withPermit(Effect.yieldNow)

/** Runs before each step of a loop, and waits for a turn when the steps since the last one took long. */
export const makePause: Effect.Effect<Effect.Effect<void>> = Effect.map(Clock.Clock, (clock) => {
  let sinceMs = monotonicMs(clock)
  const began = Effect.sync(() => {
    sinceMs = monotonicMs(clock)
  })
  return Effect.suspend(() =>
    monotonicMs(clock) - sinceMs < STEPS_MS_MAX ? Effect.void : Effect.andThen(ownTurn, began)
  )
})
