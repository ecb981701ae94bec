/**
 * What a node remembers of the store for a moment: bounded in number and in time, and never put back after a change
 * that came while it was being read.
 */
import { Clock, Effect } from "effect"
import { monotonicMs } from "./Monotonic.ts"

export interface FreshCache<A> {
  /**
   * The remembered value, or a fresh one, which is remembered if it is worth keeping. Looked up when it is asked, not when
   * the effect runs: whoever hands the effect on puts it behind `Effect.suspend`.
   */
  readThrough<E>(key: string, load: Effect.Effect<A, E>, worthKeeping?: (value: A) => boolean): Effect.Effect<A, E>
  forget(key: string): void
  forgetAll(): void
}

/** What is remembered is answered as a finished effect: the hot path takes it without a step of its fiber. */
export const makeFreshCache = <A>(limits: {
  readonly entriesMax: number
  readonly ttlMs: number
}): Effect.Effect<FreshCache<A>> => Effect.map(Clock.Clock, (clock) => freshCache(limits, clock))

const freshCache = <A>(
  limits: { readonly entriesMax: number; readonly ttlMs: number },
  clock: Clock.Clock
): FreshCache<A> => {
  const kept = new Map<string, { readonly value: A; readonly keptAtMs: number }>()
  let forgotten = 0

  const keep = (key: string, value: A, keptAtMs: number): void => {
    kept.delete(key)
    if (kept.size >= limits.entriesMax) kept.delete(kept.keys().next().value!)
    kept.set(key, { value, keptAtMs })
  }

  return {
    readThrough: (key, load, worthKeeping) => {
      const known = kept.get(key)
      if (known !== undefined && monotonicMs(clock) - known.keptAtMs < limits.ttlMs) {
        return Effect.succeed(known.value)
      }
      return Effect.suspend(() => {
        const nowMs = monotonicMs(clock)
        const forgottenBefore = forgotten
        return Effect.map(load, (value) => {
          // What was forgotten meanwhile may be this very value: then it is not kept.
          if (forgotten === forgottenBefore && worthKeeping?.(value) !== false) keep(key, value, nowMs)
          return value
        })
      })
    },
    forget: (key) => {
      forgotten++
      kept.delete(key)
    },
    forgetAll: () => {
      forgotten++
      kept.clear()
    }
  }
}
