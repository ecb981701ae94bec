/**
 * Totals of the whole platform, overall and for the last day, cached for a few seconds.
 */
import { Context, DateTime, Duration, Effect, Exit, Layer } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { SubmissionStore, WaitlistStore } from "./Submissions.ts"

/** Accounts, tools and calls of the whole market. */
export interface MarketCounts {
  readonly providers: number
  readonly consumers: number
  /** The tools that can be bought, so without withdrawn ones and those of frozen providers. */
  readonly tools: number
  readonly invocations: number
}

/** Port to totals of the platform. Counts only, no usage of single consumers. */
export class PlatformFigures extends Context.Service<
  PlatformFigures,
  {
    /** Counts since a full hour; everything if none is given. */
    count(sinceHour?: DateTime.Utc): Effect.Effect<MarketCounts, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/PlatformFigures") {}

export const STATS_TTL = Duration.seconds(5)

/** The counts of the market, with people who wrote to the operator. */
export interface PlatformCounts extends MarketCounts {
  readonly waitlist: number
  readonly feedback: number
  readonly applications: number
}

/** The counts since the market began, and those of the last day. */
export interface PlatformTotals {
  readonly totals: PlatformCounts
  readonly lastDay: PlatformCounts
  /** Calls are aggregated by hour, so the last day starts with the full hour 24 hours ago. */
  readonly since: DateTime.Utc
}

export class PlatformStats extends Context.Service<
  PlatformStats,
  { readonly read: Effect.Effect<PlatformTotals, StoreUnavailable> }
>()("agent-tool-billing/domain/platform/PlatformStats") {
  static readonly layer = Layer.effect(
    PlatformStats,
    Effect.gen(function* () {
      const waitlist = yield* WaitlistStore
      const submissions = yield* SubmissionStore
      const figures = yield* PlatformFigures

      const count = (since?: DateTime.Utc) =>
        Effect.all({
          waitlist: waitlist.count(since),
          feedback: submissions.count("feedback", since),
          applications: submissions.count("application", since),
          market: figures.count(since)
        }).pipe(Effect.map(({ market, ...counts }): PlatformCounts => ({ ...counts, ...market })))

      const fresh = Effect.gen(function* () {
        const since = DateTime.startOf(DateTime.subtract(yield* DateTime.now, { hours: 24 }), "hour")
        const totals: PlatformTotals = { totals: yield* count(), lastDay: yield* count(since), since }
        return totals
      }).pipe(Effect.withSpan("PlatformStats.read"))

      const read = yield* Effect.cachedWithTTL(fresh, (exit) => (Exit.isSuccess(exit) ? STATS_TTL : Duration.zero))
      return PlatformStats.of({ read })
    })
  )
}
