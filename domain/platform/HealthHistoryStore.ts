/**
 * Where the outcomes of health checks are kept: sums by day and check, of all nodes together.
 */
import { Context, type Effect } from "effect"

export interface HealthSamples {
  /** A day of UTC. */
  readonly date: string
  readonly check: string
  readonly ok: number
  readonly degraded: number
  readonly down: number
}

export class HealthHistoryStore extends Context.Service<
  HealthHistoryStore,
  {
    /** Adds to what is there. */
    add(samples: ReadonlyArray<HealthSamples>): Effect.Effect<void>
    /** From that day on, by day and check. */
    since(date: string): Effect.Effect<ReadonlyArray<HealthSamples>>
    /** Removes the oldest of what is before that day, and says how many rows those were. */
    prune(before: string, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/platform/HealthHistoryStore") {}
