/**
 * Counts of proxied and reported calls, and the figures derived from them.
 */
import { ratedCalls } from "./Sla.ts"
import type { ToolFigures } from "../catalog/MarketFigures.ts"

export interface CallCounts {
  /** Made by the proxy. */
  readonly calls: number
  readonly successes: number
  readonly inputRejected: number
  /** Without calls whose input was rejected. */
  readonly latencyMs: number
  readonly reported: number
}

export const figuresOf = (counts: CallCounts): ToolFigures => {
  const rated = ratedCalls(counts)
  const timed = counts.calls - counts.inputRejected
  return {
    totalCalls: counts.calls,
    reportedCalls: counts.reported,
    avgLatencyMs: timed === 0 ? undefined : Math.floor(counts.latencyMs / timed),
    uptimePct: rated === 0 ? undefined : Math.round((counts.successes / rated) * 10_000) / 100
  }
}
