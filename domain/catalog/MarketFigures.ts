/**
 * Port to figures of past calls: per tool and for the whole catalog. Totals only, no usage of single consumers.
 *
 * Rates and numbers of calls count proxied calls, because anyone can report a call that did not happen. They exclude
 * calls between a provider and a consumer of the same email address, and cancellations that were passed on. Reported
 * calls are counted separately. Revenue includes everything billed.
 */
import { Context, type Effect } from "effect"
import type { ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Figures of one tool. Rates count only calls that went through the proxy. */
export interface ToolFigures {
  readonly totalCalls: number
  readonly reportedCalls: number
  /** Undefined without proxied calls. */
  readonly avgLatencyMs: number | undefined
  readonly uptimePct: number | undefined
}

/** Figures of all calls since the market began. A provider's calls of its own tools do not count. */
export interface MarketTotals {
  readonly invocations: number
  readonly successful: number
  /** Of the rated calls: see `ratedCalls`. */
  readonly successPct: number | undefined
  readonly reported: number
  /** Consumers of the counted proxied calls, and the called tools. */
  readonly uniqueAgents: number
  readonly uniqueTools: number
  readonly revenueMicrocents: bigint
  readonly avgLatencyMs: number | undefined
  /** Invocations that a free tier covered. */
  readonly freeCalls: number
  /** Start of the newest invocation. */
  readonly lastInvocation: string | undefined
}

export class MarketFigures extends Context.Service<
  MarketFigures,
  {
    /**
     * Only tools that were called. If more calls are queued for the sequencer than one reading covers, the figures lag
     * like the sequencer, about a second.
     */
    ofTools(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, ToolFigures>, StoreUnavailable>
    readonly totals: Effect.Effect<MarketTotals, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/MarketFigures") {}
