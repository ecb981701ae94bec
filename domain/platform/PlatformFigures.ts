/**
 * Port to totals of the platform. Counts only, no usage of single consumers.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Accounts, tools and calls of the whole market. */
export interface MarketCounts {
  readonly providers: number
  readonly consumers: number
  /** In all: that can be bought, so without withdrawn ones and those of frozen providers. */
  readonly tools: number
  readonly invocations: number
}

export class PlatformFigures extends Context.Service<
  PlatformFigures,
  {
    /** Since a full hour; everything if none is given. */
    count(sinceHour?: DateTime.Utc): Effect.Effect<MarketCounts, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/PlatformFigures") {}
