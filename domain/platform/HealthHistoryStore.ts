/**
 * Port to results of health checks: totals by day and check, of all nodes.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** How often a check had each result on one day, on all nodes together. */
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
    /** Adds to the stored totals. */
    add(samples: ReadonlyArray<HealthSamples>): Effect.Effect<void, StoreUnavailable>
    /** From that day on, by day and check. */
    since(date: string): Effect.Effect<ReadonlyArray<HealthSamples>, StoreUnavailable>
    /** Removes the oldest rows before that day; returns how many. */
    prune(before: string, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/HealthHistoryStore") {}
