/**
 * Timestamps, monotonic time for durations, and a node's clock that is corrected to the database's.
 */
import { Clock, Context, DateTime, Effect, Schema } from "effect"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/** Responses and signed bytes have ISO 8601 in UTC, with milliseconds and `Z`. */
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

// The node's clock, corrected to the database's. Between two readings of the database's clock it continues with the
// monotonic clock: a wrong or changing machine clock has no effect on what the service records or decides.

/** One reading of the database's clock, with the monotonic times of question and response. */
export interface TimeReading {
  readonly databaseMs: number
  readonly askedMs: number
  readonly answeredMs: number
}

export interface CorrectedClock {
  readonly clock: Clock.Clock
  correct(reading: TimeReading): void
  /** Reads the database's clock, once there is a connection. */
  read: Effect.Effect<DateTime.Utc, StoreUnavailable>
  /** The machine's clock minus the database's; undefined before the first reading. */
  skewMs(): number | undefined
  /** Returns why this node must not serve; undefined if nothing is wrong. */
  fault(): string | undefined
  /** Returns why background jobs must wait: a fault, or a recent jump of the database's clock. */
  jobsWaitFor(): string | undefined
}

/** A node whose clock is further off is not ready and runs no jobs. */
export const SKEW_MS_MAX = 2_000
/** A jump of the database's clock must last this long before jobs, which delete and pay, follow it. */
const JUMP_LASTS_MS_MIN = 60_000
/** Both clocks are rounded to milliseconds. */
const RESOLUTION_MS = 1

/** Undefined without a database: the clock of the fiber is the time. Default: undefined. */
export const CorrectedClock = Context.Reference<CorrectedClock | undefined>(
  "agent-tool-billing/domain/shared/CorrectedClock",
  { defaultValue: () => undefined }
)

/** Reads the database's time now. Without a database, it is the time of the fiber's clock. */
export const databaseTime = Effect.map(CorrectedClock, (corrected) =>
  corrected === undefined ? DateTime.now : Effect.suspend(() => corrected.read)
)

export const makeCorrectedClock = (machine: Clock.Clock): CorrectedClock => {
  /** Unix time minus monotonic time. */
  let offsetMs = machine.currentTimeMillisUnsafe() - monotonicMs(machine)
  let isRead = false
  let jump: { readonly byMs: number; readonly atMs: number } | undefined

  const nowMs = () => Math.floor(offsetMs + monotonicMs(machine))
  const nowNanos = () => BigInt(Math.floor((offsetMs + monotonicMs(machine)) * 1_000)) * 1_000n
  const skewMs = () => (isRead ? machine.currentTimeMillisUnsafe() - nowMs() : undefined)

  const fault = () => {
    const skew = skewMs()
    if (skew === undefined) return "The database's clock has not been read yet."
    if (Math.abs(skew) <= SKEW_MS_MAX) return undefined
    const side = skew > 0 ? "ahead of" : "behind"
    return (
      `This node's clock is ${seconds(skew)} s ${side} the database's; at most ${seconds(SKEW_MS_MAX)} s are allowed. ` +
      "Synchronize it (NTP); the node then becomes ready automatically."
    )
  }

  return {
    clock: {
      currentTimeMillisUnsafe: nowMs,
      currentTimeMillis: Effect.sync(nowMs),
      currentTimeNanosUnsafe: nowNanos,
      currentTimeNanos: Effect.sync(nowNanos),
      monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: machine.monotonicTimeNanos,
      sleep: (duration) => machine.sleep(duration)
    },
    correct: ({ answeredMs, askedMs, databaseMs }) => {
      const read = databaseMs - (askedMs + answeredMs) / 2
      const errorMs = (answeredMs - askedMs) / 2 + RESOLUTION_MS
      const byMs = read - offsetMs
      // A slow response is imprecise: if it agrees within its own error, nothing changes.
      if (isRead && Math.abs(byMs) <= errorMs) return
      if (isRead && Math.abs(byMs) > errorMs + SKEW_MS_MAX) jump = { byMs, atMs: answeredMs }
      offsetMs = read
      isRead = true
    },
    read: DateTime.now,
    skewMs,
    fault,
    jobsWaitFor: () => {
      const wrong = fault()
      if (wrong !== undefined || jump === undefined) return wrong
      const agoMs = monotonicMs(machine) - jump.atMs
      if (agoMs >= JUMP_LASTS_MS_MIN) return undefined
      return (
        `The database's clock jumped by ${seconds(jump.byMs)} s. Background jobs wait until ` +
        `${seconds(JUMP_LASTS_MS_MIN)} s have passed, in case it is set back.`
      )
    }
  }
}

const seconds = (ms: number): string => String(Math.round(Math.abs(ms) / 100) / 10)
