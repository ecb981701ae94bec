/**
 * A node's short-lived cache of stored values, bounded in number and time. A value that was being read during a change
 * is not cached. Concurrent reads of one missing key are one read.
 */
import { Clock, Effect, type Scope } from "effect"
import { monotonicMs } from "./Monotonic.ts"
import { makeSingleFlight, type SingleFlight } from "./SingleFlight.ts"

export interface FreshCache<A> {
  /**
   * The cached value, or a fresh one, which is cached if it is worth keeping. The look-up happens at the call, not when
   * the effect runs: wrap it in `Effect.suspend` to defer it. Concurrent callers of a key run the load of the first
   * one.
   */
  readThrough<E>(key: string, load: Effect.Effect<A, E>, isCacheable?: (value: A) => boolean): Effect.Effect<A, E>
  forget(key: string): void
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
    forgetAll: () => {
      loads.forgetAll()
      kept.clear()
    }
  }
}
