/**
 * The port to what has been called so far: per tool, and the market as a whole. Counts only, nobody's usage.
 */
import { Context, type Effect } from "effect"
import type { ToolId } from "../shared/Ids.ts"

export interface ToolFigures {
  readonly totalCalls: number
  readonly avgLatencyMs: number
  readonly uptimePct: number
}

export interface MarketTotals {
  readonly invocations: number
  readonly successful: number
  readonly uniqueAgents: number
  readonly uniqueTools: number
  readonly revenueMicrocents: bigint
  readonly avgLatencyMs: number | undefined
  readonly freeCalls: number
  readonly lastInvocation: string | undefined
}

export class MarketFigures extends Context.Service<
  MarketFigures,
  {
    /** Of those tools that were ever called. */
    ofTools(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, ToolFigures>>
    readonly totals: Effect.Effect<MarketTotals>
  }
>()("agent-tool-billing/domain/catalog/MarketFigures") {}
