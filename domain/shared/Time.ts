/**
 * Timestamps, and monotonic time for durations.
 */
import { Clock, DateTime, Effect, Schema } from "effect"

/** In responses and in signed bytes: ISO 8601, UTC, milliseconds, `Z`. */
export const Timestamp = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u)).pipe(
  Schema.annotateEncoded({ format: "date-time" })
)

export const format = (instant: DateTime.Utc): string => formatMs(instant.epochMilliseconds)

/** Calls of one second share all but the last digits, so a second is formatted once. */
export const formatMs = (epochMs: number): string => {
  const millis = epochMs % 1_000
  if (millis < 0) return DateTime.formatIso(DateTime.makeUnsafe(epochMs))
  if (epochMs - millis !== secondMs) {
    secondMs = epochMs - millis
    second = DateTime.formatIso(DateTime.makeUnsafe(secondMs)).slice(0, -"000Z".length)
  }
  return `${second}${millis < 10 ? "00" : millis < 100 ? "0" : ""}${millis}Z`
}

let secondMs = Number.NaN
let second = ""

/** `1 second`, `5 seconds`. */
export const inSeconds = (seconds: number): string => (seconds === 1 ? "1 second" : `${seconds} seconds`)

// Monotonic time, for durations and time limits. The wall clock may be set in either direction meanwhile.

export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicNowMs: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicMs)
