/**
 * The port to how much of everything there is. Counts only, nobody's usage.
 */
import { Context, type DateTime, type Effect } from "effect"

export interface MarketCounts {
  readonly providers: number
  readonly consumers: number
  readonly tools: number
  readonly invocations: number
}

export class PlatformFigures extends Context.Service<
  PlatformFigures,
  {
    /** What has come since a full hour; all there is where none is given. */
    count(sinceHour?: DateTime.Utc): Effect.Effect<MarketCounts>
  }
>()("agent-tool-billing/domain/platform/PlatformFigures") {}
