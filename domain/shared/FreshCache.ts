/**
 * What a node remembers of the store for a moment: bounded in number and in time, and never put back after a change
 * that came while it was being read. However many ask at once for what is not remembered, the store is asked once.
 */
import { Clock, Effect } from "effect"
import { monotonicMs } from "./Monotonic.ts"
import { makeSingleFlight } from "./SingleFlight.ts"

export interface FreshCache<A> {
  /**
   * The remembered value, or a fresh one, which is remembered if it is worth keeping. Looked up when it is asked, not when
   * the effect runs: whoever hands the effect on puts it behind `Effect.suspend`. A key stands for one value: of those who
   * ask for it at the same time, the first one's load is run.
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
  const loads = makeSingleFlight<A>(clock)

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
      return loads.join(key, load, (value, beganMs) => {
        const newer = (kept.get(key)?.keptAtMs ?? Number.NEGATIVE_INFINITY) > beganMs
        if (!newer && worthKeeping?.(value) !== false) keep(key, value, beganMs)
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
