/**
 * A node's short-lived cache of stored values, bounded in number and time. A value that was being read during a change
 * is not cached. Concurrent reads of one missing key are one read.
 */
import { Clock, type Context, Effect, Fiber, type Scope } from "effect"
import { monotonicMs } from "./Time.ts"

/**
 * One load for all concurrent callers of a key. It runs while at least one caller waits, and is interrupted when the last
 * one leaves, or when the scope closes.
 */
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

/** The time that closing the scope waits for interrupted loads. */
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

  /** Loads in a fiber of its own: the caller that started it may leave while others wait. */
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

export interface FreshCache<A> {
  /**
   * The cached value, or a fresh one, which is cached if it is worth keeping. The look-up happens at the call, not when
   * the effect runs: wrap it in `Effect.suspend` to defer it. Concurrent callers of a key run the load of the first
   * one.
   */
  readThrough<E>(key: string, load: Effect.Effect<A, E>, isCacheable?: (value: A) => boolean): Effect.Effect<A, E>
  forget(key: string): void
  /** Values that are being read are not cached either. */
  forgetWhere(isStale: (value: A) => boolean): void
  forgetAll(): void
}

/** A cached value is a completed effect, so the hot path needs no step of its fiber. */
export const makeFreshCache = <A>(limits: {
  readonly entriesMax: number
  readonly ttlMs: number
}): Effect.Effect<FreshCache<A>, never, Scope.Scope> =>
  Effect.flatMap(Clock.Clock, (clock) =>
    Effect.map(makeSingleFlight<A>(clock), (loads) => freshCache(limits, clock, loads))
  )

const freshCache = <A>(
  limits: { readonly entriesMax: number; readonly ttlMs: number },
  clock: Clock.Clock,
  loads: SingleFlight<A>
): FreshCache<A> => {
  const kept = new Map<string, { readonly value: A; readonly keptAtMs: number }>()

  const keep = (key: string, value: A, keptAtMs: number): void => {
    kept.delete(key)
    if (kept.size >= limits.entriesMax) kept.delete(kept.keys().next().value!)
    kept.set(key, { value, keptAtMs })
  }

  return {
    readThrough: (key, load, isCacheable) => {
      const known = kept.get(key)
      if (known !== undefined && monotonicMs(clock) - known.keptAtMs < limits.ttlMs) {
        return Effect.succeed(known.value)
      }
      return loads.join(key, load, (value, beganMs) => {
        const newer = (kept.get(key)?.keptAtMs ?? Number.NEGATIVE_INFINITY) > beganMs
        if (!newer && isCacheable?.(value) !== false) keep(key, value, beganMs)
      })
    },
    forget: (key) => {
      loads.forget(key)
      kept.delete(key)
    },
    forgetWhere: (isStale) => {
      loads.forgetAll()
      for (const [key, { value }] of kept) if (isStale(value)) kept.delete(key)
    },
    forgetAll: () => {
      loads.forgetAll()
      kept.clear()
    }
  }
}
