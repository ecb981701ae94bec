/**
 * No request waits without end: when its time is up the caller is told so at once, whatever the work is stuck in. The work
 * is interrupted behind its back; what may not be cut, the settlement of a call, goes on to its end there.
 */
import { Cause, Context, Effect, Exit, Fiber } from "effect"
import { type Deadline, makeDeadlines } from "../../../domain/shared/Deadlines.ts"

export const RequestTimeoutMs = Context.Reference<number>("agent-tool-billing/adapters/http/RequestTimeoutMs", {
  defaultValue: () => 30_000
})

/** The request's own deadline, in the hands of whoever does the work. */
export interface RequestClock {
  /** For somebody who has limits of his own: a client that sends its body. */
  pause(): void
  /** What follows has the request's time for itself, and so much more if somebody else is waited for in it. */
  restart(extraMs: number): void
  /** When the caller goes away, or its time is up, the work is not interrupted if this says that it goes on. */
  attend(goesOn: () => boolean): void
}

/** How long a stop waits for work whose caller was told that it is late. What then is not done, the sweeper ends. */
const LATE_WORK_WAIT_MAX = "10 seconds"

export const makeInTime = Effect.gen(function* () {
  const timeoutMs = yield* RequestTimeoutMs
  const deadlines = yield* makeDeadlines
  const late = new Set<Fiber.Fiber<unknown, unknown>>()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Fiber.awaitAll(late), LATE_WORK_WAIT_MAX))

  const failedUnseen = (exit: Exit.Exit<unknown, unknown>, context: Context.Context<never>): void => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
    Effect.runForkWith(context)(Effect.logWarning("Work that went on after its caller was answered failed", exit.cause))
  }

  return <A, E>(work: (clock: RequestClock) => Effect.Effect<A, E>, tooLate: () => E): Effect.Effect<A, E> =>
    Effect.withFiber((caller) => {
      // Taken now: a fiber that has ended has none.
      const { context } = caller
      let resume: ((exit: Effect.Effect<A, E>) => void) | undefined
      let goesOn: (() => boolean) | undefined
      const deadline: Deadline = deadlines.start(timeoutMs, () => {
        late.add(worker)
        if (goesOn?.() !== true) worker.interruptUnsafe()
        resume?.(Effect.fail(tooLate()))
      })
      const worker: Fiber.Fiber<A, E> = Effect.runForkWith(context)(
        work({
          pause: () => deadline.restart(Number.POSITIVE_INFINITY),
          restart: (extraMs) => deadline.restart(timeoutMs + extraMs),
          attend: (asked) => {
            goesOn = asked
          }
        })
      )
      const ended = worker.pollUnsafe()
      if (ended !== undefined) {
        deadline.end()
        return ended
      }
      return Effect.callback<A, E>((resumeCaller) => {
        resume = resumeCaller
        worker.addObserver((exit: Exit.Exit<A, E>) => {
          deadline.end()
          if (late.size > 0 && late.delete(worker)) return failedUnseen(exit, context)
          resumeCaller(exit)
        })
        return Effect.suspend(() => {
          if (goesOn?.() !== true) return Fiber.interrupt(worker)
          late.add(worker)
          return Effect.void
        })
      })
    })
})
