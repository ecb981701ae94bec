/**
 * Monotonic time, for durations and time limits. The wall clock may be set in either direction meanwhile.
 */
import { Clock, Effect } from "effect"

export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicNowMs: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicMs)
