/**
 * When each background job of this node last succeeded. A job without success for too long is late.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

/** When a background job last completed, and whether the next run is overdue. */
export interface Heartbeat {
  readonly job: string
  readonly lastMs: number
  /** From then on it counts as late. */
  readonly lateFromMs: number
  readonly late: boolean
}

/** Missed rounds, and additional time, before a job is late. */
const ROUNDS_MISSED_MAX = 3
const GRACE_MS = 60_000

export class Heartbeats extends Context.Service<
  Heartbeats,
  {
    /** Of a job that runs every `interval`. Called at its start, too. */
    beat(job: string, interval: Duration.Duration): Effect.Effect<void>
    readonly read: Effect.Effect<ReadonlyArray<Heartbeat>>
  }
>()("agent-tool-billing/domain/platform/Heartbeats") {
  static readonly layer = Layer.sync(Heartbeats, () => {
    const beats = new Map<string, { readonly lastMs: number; readonly intervalMs: number }>()
    return Heartbeats.of({
      beat: (job, interval) =>
        Effect.map(Clock.currentTimeMillis, (lastMs) => {
          beats.set(job, { lastMs, intervalMs: Duration.toMillis(interval) })
        }),
      read: Effect.map(Clock.currentTimeMillis, (nowMs) =>
        [...beats].map(([job, { intervalMs, lastMs }]) => {
          const lateFromMs = lastMs + intervalMs * ROUNDS_MISSED_MAX + GRACE_MS
          return { job, lastMs, lateFromMs, late: nowMs > lateFromMs }
        })
      )
    })
  })
}
