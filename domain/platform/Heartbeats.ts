/**
 * When each background job of this node last succeeded and failed. A job without success for too long is late.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

/** A run of a job that failed. */
export interface JobFailure {
  readonly atMs: number
  readonly problem: string
}

/** When a background job last completed, and whether the next run is overdue. */
export interface Heartbeat {
  readonly job: string
  /** The last success; before the first one, the start of the node. */
  readonly lastMs: number
  readonly intervalMs: number
  /** Of the last successful run; undefined before the first one. */
  readonly durationMs: number | undefined
  /** The last failure since the start of the node. */
  readonly failure: JobFailure | undefined
  /** From then on it counts as late. */
  readonly lateFromMs: number
  readonly late: boolean
}

/** Missed rounds, and additional time, before a job is late. */
const ROUNDS_MISSED_MAX = 3
const GRACE_MS = 60_000
const PROBLEM_CHARS_MAX = 300

export class Heartbeats extends Context.Service<
  Heartbeats,
  {
    /** Of a job that runs every `interval`. Called at its start, too, then without a duration. */
    beat(job: string, interval: Duration.Duration, durationMs?: number): Effect.Effect<void>
    failed(job: string, problem: string): Effect.Effect<void>
    readonly read: Effect.Effect<ReadonlyArray<Heartbeat>>
  }
>()("agent-tool-billing/domain/platform/Heartbeats") {
  static readonly layer = Layer.sync(Heartbeats, () => {
    const beats = new Map<string, Pick<Heartbeat, "lastMs" | "intervalMs" | "durationMs">>()
    const failures = new Map<string, JobFailure>()
    return Heartbeats.of({
      beat: (job, interval, durationMs) =>
        Effect.map(Clock.currentTimeMillis, (lastMs) => {
          beats.set(job, { lastMs, intervalMs: Duration.toMillis(interval), durationMs })
        }),
      failed: (job, problem) =>
        Effect.map(Clock.currentTimeMillis, (atMs) => {
          failures.set(job, { atMs, problem: problem.slice(0, PROBLEM_CHARS_MAX) })
        }),
      read: Effect.map(Clock.currentTimeMillis, (nowMs) =>
        [...beats].map(([job, beat]) => {
          const lateFromMs = beat.lastMs + beat.intervalMs * ROUNDS_MISSED_MAX + GRACE_MS
          return { ...beat, job, lateFromMs, late: nowMs > lateFromMs, failure: failures.get(job) }
        })
      )
    })
  })
}
