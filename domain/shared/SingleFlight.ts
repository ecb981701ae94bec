/**
 * One load for all concurrent callers of a key. It runs while at least one caller waits, and is interrupted when the
 * last one leaves, or when the scope closes.
 */
import { type Clock, type Context, Effect, Fiber, type Scope } from "effect"
import { monotonicMs } from "./Monotonic.ts"

export interface SingleFlight<A> {
  /**
   * Joins the running load of the key, or starts this one. `onLoaded` gets the value unless a key was forgotten during
   * the load: the value may be out of date.
   */
  join<E>(key: string, load: Effect.Effect<A, E>, onLoaded: (value: A, startedMs: number) => void): Effect.Effect<A, E>
  /** Later callers start a new load. */
  forget(key: string): void
  forgetAll(): void
}

/** How long closing the scope waits for interrupted loads. */
const ENDING_MAX = "5 seconds"
/** A load that started longer ago is not joined: it may be stuck. */
const JOINABLE_MS = 5_000

interface Load<A, E> {
  readonly fiber: Fiber.Fiber<A, E>
  readonly startedMs: number
  waiting: number
}

export const makeSingleFlight = <A>(clock: Clock.Clock): Effect.Effect<SingleFlight<A>, never, Scope.Scope> => {
  const fibers = new Set<Fiber.Fiber<A, unknown>>()
  const endAll = Effect.suspend(() => Effect.timeoutOption(Fiber.interruptAll(fibers), ENDING_MAX))
  return Effect.as(
    Effect.addFinalizer(() => endAll),
    singleFlight<A>(clock, fibers)
  )
}

const singleFlight = <A>(clock: Clock.Clock, fibers: Set<Fiber.Fiber<A, unknown>>): SingleFlight<A> => {
  const running = new Map<string, Load<A, unknown>>()
  let forgotten = 0

  const end = (key: string, load: Load<A, unknown>): void => {
    if (running.get(key) === load) running.delete(key)
  }

  /** In its own fiber: the caller that started it may leave while others wait. */
  const start = <E>(
    key: string,
    effect: Effect.Effect<A, E>,
    onLoaded: (value: A, startedMs: number) => void,
    context: Context.Context<never>
  ): Load<A, E> => {
    const startedMs = monotonicMs(clock)
    const forgottenBefore = forgotten
    const fiber = Effect.runForkWith(context)(effect)
    const load: Load<A, E> = { fiber, startedMs, waiting: 0 }
    running.set(key, load)
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      end(key, load)
      if (exit._tag === "Success" && forgotten === forgottenBefore) onLoaded(exit.value, startedMs)
    })
    return load
  }

  const wait = <E>(key: string, load: Load<A, E>): Effect.Effect<A, E> => {
    load.waiting++
    return Effect.onInterrupt(Fiber.join(load.fiber), () =>
      Effect.suspend(() => {
        if (--load.waiting > 0) return Effect.void
        end(key, load)
        return Fiber.interrupt(load.fiber)
      })
    )
  }

  return {
    join: <E>(key: string, effect: Effect.Effect<A, E>, onLoaded: (value: A, startedMs: number) => void) =>
      Effect.withFiber((fiber) => {
        const load = running.get(key) as Load<A, E> | undefined
        const isJoinable = load !== undefined && monotonicMs(clock) - load.startedMs < JOINABLE_MS
        return wait(key, isJoinable ? load : start(key, effect, onLoaded, fiber.context))
      }),
    forget: (key) => {
      forgotten++
      running.delete(key)
    },
    forgetAll: () => {
      forgotten++
      running.clear()
    }
  }
}
