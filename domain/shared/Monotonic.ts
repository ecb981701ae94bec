/**
 * Time that only passes: for how long something took or may take. The calendar's clock may be set, in either direction,
 * while it does.
 */
import { Clock, Effect } from "effect"

export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicNowMs: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicMs)
