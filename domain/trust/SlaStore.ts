/**
 * Where the hours of tools are kept, who called whom, and how every provider stands.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId, ToolId } from "../shared/Ids.ts"
import type { PaidCalls, PaidDay } from "./PaidCalls.ts"
import type { SlaHour } from "./Sla.ts"
import type { Badge } from "./TrustScore.ts"

export interface Pair {
  readonly providerId: ProviderId
  readonly consumerId: ConsumerId
}

/** As the catalogue shows it: computed a moment ago. */
export interface Standing {
  readonly providerId: ProviderId
  readonly score: number
  readonly badge: Badge
  /** Of each tool that was called within the window. */
  readonly p95OfTools: ReadonlyMap<ToolId, number>
}

/** What the figures of a tool take from a batch beside its hours. */
export interface ToolCalls {
  readonly toolId: ToolId
  /** Calls that its provider or a consumer reported, instead of the proxy making them. */
  readonly reported: number
  /** Proxied calls that the free tier covered. */
  readonly freeCalls: number
  /** When the newest proxied call began; undefined without one. */
  readonly lastCalledAt: string | undefined
}

export interface Followed {
  readonly hours: ReadonlyArray<SlaHour>
  readonly days: ReadonlyArray<PaidDay>
  readonly tools: ReadonlyArray<ToolCalls>
  /** Those that the proxied calls were made for. */
  readonly consumers: ReadonlyArray<ConsumerId>
}

export interface ScoreOfDay {
  /** `2026-11-20`. */
  readonly date: string
  readonly score: number
}

export class SlaStore extends Context.Service<
  SlaStore,
  {
    /**
     * Adds to what is there, inside a unit of work that no other one runs beside: each hour and day is named once. Marks
     * the providers of the hours as changed.
     */
    add(followed: Followed): Effect.Effect<void>
    /** Those pairs whose two ends are one: the same account, or the same e-mail address. */
    selfDealing(pairs: ReadonlyArray<Pair>): Effect.Effect<ReadonlyArray<Pair>>
    /** Of the provider as a whole. A kept day comes as one, where all of it is asked for and nothing was added since. */
    hours(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<SlaHour>>
    /** Keeps the hours of a provider's day taken together; what is added to the day later does away with it. */
    keepDays(days: ReadonlyArray<SlaHour>): Effect.Effect<void>
    /** Of its tools, one by one. */
    toolDays(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<SlaHour>>
    /** Of one of them. */
    daysOfTool(providerId: ProviderId, toolId: ToolId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<SlaHour>>
    /**
     * The consumers that paid at least `PAID_CONSUMER_MICROCENTS_MIN` since that date, before refunds, each with all that is
     * known since then: who paid the most first, at most `PAID_CONSUMERS_READ_MAX`.
     */
    payers(providerId: ProviderId, sinceDate: string): Effect.Effect<ReadonlyArray<PaidCalls>>
    /** Takes the marks of changed ones away; those that were settled before today besides. No more than that at once. */
    takeChanged(today: string, limit: number): Effect.Effect<ReadonlyArray<ProviderId>>
    /** Marks one: something else about it has changed. */
    touch(providerId: ProviderId): Effect.Effect<void>
    /** Keeps how it stands, and today's score. */
    settle(standing: Standing, date: string): Effect.Effect<void>
    standing(providerId: ProviderId): Effect.Effect<Option.Option<Standing>>
    standings(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Standing>>
    /** The newest last. */
    history(providerId: ProviderId, sinceDate: string): Effect.Effect<ReadonlyArray<ScoreOfDay>>
    /**
     * Forgets hours, days, scores and days of pairs that are all from before that day: of each kind at most
     * `limit`, and how many they were in all.
     */
    prune(beforeDay: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/trust/SlaStore") {}
