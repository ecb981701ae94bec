/**
 * The port to what has been called so far: per tool, and the market as a whole. Counts only, nobody's usage.
 *
 * Rates and numbers of calls come from calls that the proxy made: anyone can report a call that never happened. They leave
 * out calls between a provider and a consumer of the same e-mail address, and cancellations that were passed on. Reported
 * calls are counted apart. Revenue is all that was billed.
 */
import { Context, type Effect } from "effect"
import type { ToolId } from "../shared/Ids.ts"

export interface ToolFigures {
  readonly totalCalls: number
  readonly reportedCalls: number
  /** Undefined without proxied calls. */
  readonly avgLatencyMs: number | undefined
  readonly uptimePct: number | undefined
}

export interface MarketTotals {
  readonly invocations: number
  readonly successful: number
  /** Of the rated calls: see `ratedCalls`. */
  readonly successPct: number | undefined
  readonly reported: number
  /** Consumers that the counted proxied calls were made for, and the tools that were called. */
  readonly uniqueAgents: number
  readonly uniqueTools: number
  readonly revenueMicrocents: bigint
  readonly avgLatencyMs: number | undefined
  /** Of the invocations, those that a free tier covered. */
  readonly freeCalls: number
  /** When the newest of the invocations began. */
  readonly lastInvocation: string | undefined
}

export class MarketFigures extends Context.Service<
  MarketFigures,
  {
    /**
     * Of those tools that were ever called. While more calls wait for the sequencer than one reading looks through, the
     * figures are behind by what the sequencer is behind, about a second.
     */
    ofTools(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, ToolFigures>>
    readonly totals: Effect.Effect<MarketTotals>
  }
>()("agent-tool-billing/domain/catalog/MarketFigures") {}
