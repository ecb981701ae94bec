/**
 * Port to measured hours and days, pairs of provider and consumer, and catalog scores.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId, ToolId } from "../shared/Ids.ts"
import type { PaidCalls, PaidDay } from "./PaidCalls.ts"
import type { SlaHour } from "./Sla.ts"
import type { Badge } from "./TrustScore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A provider and a consumer of its tools, whose dealings are counted together. */
export interface Pair {
  readonly providerId: ProviderId
  readonly consumerId: ConsumerId
}

/** A provider's score as the catalog shows it: a copy that a background job refreshes. */
export interface CatalogScore {
  readonly providerId: ProviderId
  readonly score: number
  readonly badge: Badge
  readonly p95OfTools: ReadonlyMap<ToolId, number>
}

/** The figures of a tool from a batch, in addition to its hours. */
export interface ToolCalls {
  readonly toolId: ToolId
  /** Reported calls. */
  readonly reported: number
  /** Proxied calls that the free tier covered. */
  readonly freeCalls: number
  /** Start of the newest proxied call; undefined without one. */
  readonly lastCalledAt: string | undefined
}

/** The figures of providers that one batch of receipts adds. */
export interface Followed {
  readonly hours: ReadonlyArray<SlaHour>
  readonly days: ReadonlyArray<PaidDay>
  readonly tools: ReadonlyArray<ToolCalls>
  /** The consumers of the proxied calls. */
  readonly consumers: ReadonlyArray<ConsumerId>
}

/** A provider's trust score as it was on one day. */
export interface ScoreOfDay {
  /** `2026-11-20`. */
  readonly date: string
  readonly score: number
}

export class SlaStore extends Context.Service<
  SlaStore,
  {
    /**
     * Adds to the stored ones, in a unit of work that runs alone; each hour and day appears once. Marks the providers
     * of the hours as changed.
     */
    add(followed: Followed): Effect.Effect<void, StoreUnavailable>
    /** Pairs of the same account or the same email address. */
    selfDealing(pairs: ReadonlyArray<Pair>): Effect.Effect<ReadonlyArray<Pair>, StoreUnavailable>
    /** Returns those of the whole provider. A merged day is one row if it is completely requested and unchanged. */
    hours(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<SlaHour>, StoreUnavailable>
    /** Stores the merged hours of a provider's day; later additions to the day invalidate it. */
    keepDays(days: ReadonlyArray<SlaHour>): Effect.Effect<void, StoreUnavailable>
    toolDays(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<SlaHour>, StoreUnavailable>
    daysOfTool(
      providerId: ProviderId,
      toolId: ToolId,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<SlaHour>, StoreUnavailable>
    /**
     * Consumers that paid at least `PAID_CONSUMER_MICROCENTS_MIN` since that date, before refunds, each with everything
     * stored since then: highest payments first, at most `PAID_CONSUMERS_READ_MAX`.
     */
    payers(providerId: ProviderId, sinceDate: string): Effect.Effect<ReadonlyArray<PaidCalls>, StoreUnavailable>
    /** Removes the marks of changed providers, and of those computed before today; at most `limit`. */
    takeChanged(today: string, limit: number): Effect.Effect<ReadonlyArray<ProviderId>, StoreUnavailable>
    /** Marks a provider as changed. */
    touch(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
    /** Stores its catalog score and today's score. */
    settle(catalogScore: CatalogScore, date: string): Effect.Effect<void, StoreUnavailable>
    catalogScore(providerId: ProviderId): Effect.Effect<Option.Option<CatalogScore>, StoreUnavailable>
    catalogScores(
      providerIds: ReadonlyArray<ProviderId>
    ): Effect.Effect<ReadonlyMap<ProviderId, CatalogScore>, StoreUnavailable>
    /** Newest last. */
    history(providerId: ProviderId, sinceDate: string): Effect.Effect<ReadonlyArray<ScoreOfDay>, StoreUnavailable>
    /**
     * Removes hours, days, scores and days of pairs from before that day: of each kind at most `limit`; returns the
     * total.
     */
    prune(beforeDay: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/SlaStore") {}
