/**
 * Time limits for what there is much of: one coarse look at all that is under way instead of a timer each. Late by at
 * most `SWEEP_EVERY`; while nothing is under way there is no timer at all.
 */
import { Clock, Duration, Effect, type Scope } from "effect"

export interface Deadline {
  /** The time begins anew: so much from now. */
  restart(ms: number): void
  end(): void
}

export interface Deadlines {
  /** `onLate` is called once, unless the end comes before. */
  start(ms: number, onLate: () => void): Deadline
}

export const SWEEP_EVERY = Duration.millis(250)

interface Running extends Deadline {
  lateAtMs: number
  readonly onLate: () => void
}

export const makeDeadlines: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const running = new Set<Running>()
  let wake: (() => void) | undefined

  const somethingRuns = Effect.callback<void>((resume) => {
    if (running.size > 0) return resume(Effect.void)
    wake = () => {
      wake = undefined
      resume(Effect.void)
    }
  })

  const sweep = Effect.sync(() => {
    const nowMs = clock.currentTimeMillisUnsafe()
    for (const deadline of running) {
      if (deadline.lateAtMs > nowMs) continue
      running.delete(deadline)
      deadline.onLate()
    }
  })

  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(somethingRuns, Effect.andThen(Effect.sleep(SWEEP_EVERY), sweep)))
  )

  return {
    start: (ms, onLate) => {
      const deadline: Running = {
        lateAtMs: clock.currentTimeMillisUnsafe() + ms,
        onLate,
        restart: (again) => {
          deadline.lateAtMs = clock.currentTimeMillisUnsafe() + again
        },
        end: () => {
          running.delete(deadline)
        }
      }
      running.add(deadline)
      wake?.()
      return deadline
    }
  }
})
