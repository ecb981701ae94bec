/**
 * Known facts of a provider's quality: trust score, SLA figures and verification, each with its evidence.
 * `ProviderTrust` collects the figures; `Verification` and `Disputes` change the rest.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { VerificationStore, type Verified } from "./Challenge.ts"
import { DisputeStore, type DisputeTally } from "./DisputeStore.ts"
import { type CountedCalls, countedCallsOf, type ScoredDisputes, scoredDisputesOf } from "./PaidCalls.ts"
import { type Sla, slaOf, toolWindowStart, windowStart } from "./Sla.ts"
import { type CatalogScore, type ScoreOfDay, SlaStore } from "./SlaStore.ts"
import {
  type Scored,
  scoreOf,
  scoreTraffic,
  type Traffic,
  type TrustAdvice,
  type TrustScore,
  type VerificationLevel
} from "./TrustScore.ts"

/** The facts that the catalog shows of a provider beside its score. */
export interface Evidence {
  readonly name: string
  /** Filed by consumers. */
  readonly disputes: DisputeTally
  readonly verified: Verified
}

/** Everything that a provider's trust score is computed from. */
export interface ScoreEvidence extends Evidence {
  /** Proxied calls within the window, free ones included. */
  readonly calls: number
  readonly counted: CountedCalls
  readonly scored: ScoredDisputes
  /** Newest last. */
  readonly history: ReadonlyArray<ScoreOfDay>
}

/**
 * Port to what is known of a provider besides its calls, in one read. `layer` reads it from several stores; a database
 * can read it in one query.
 */
export class ProviderEvidence extends Context.Service<
  ProviderEvidence,
  {
    /** Returns none if the provider does not exist. */
    ofSla(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<Option.Option<Evidence>, StoreUnavailable>
    /** Includes what only its score needs. */
    ofScore(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<Option.Option<ScoreEvidence>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/ProviderEvidence") {
  static readonly layer = Layer.effect(
    ProviderEvidence,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const disputes = yield* DisputeStore
      const verification = yield* VerificationStore
      const store = yield* SlaStore

      const parts = (providerId: ProviderId, since: DateTime.Utc) => ({
        provider: accounts.findProvider(providerId),
        disputes: disputes.against(providerId, since),
        verified: verification.verified(providerId)
      })

      const ofSla = Effect.fn("ProviderEvidence.ofSla")(function* (providerId: ProviderId, since: DateTime.Utc) {
        const { provider, ...rest } = yield* Effect.all(parts(providerId, since), { concurrency: "unbounded" })
        return Option.map(provider, ({ name }) => ({ name, ...rest }))
      })

      const ofScore = Effect.fn("ProviderEvidence.ofScore")(function* (providerId: ProviderId, since: DateTime.Utc) {
        const sinceDate = DateTime.formatIsoDateUtc(since)
        const { hours, payers, provider, rulings, ...rest } = yield* Effect.all(
          {
            ...parts(providerId, since),
            hours: store.hours(providerId, since),
            payers: store.payers(providerId, sinceDate),
            rulings: disputes.rulings(providerId, DateTime.startOf(since, "day")),
            history: store.history(providerId, sinceDate)
          },
          { concurrency: "unbounded" }
        )
        return Option.map(provider, ({ name }) => ({
          name,
          ...rest,
          calls: hours.reduce((sum, hour) => sum + hour.calls, 0),
          counted: countedCallsOf(payers, rulings),
          scored: scoredDisputesOf(rulings)
        }))
      })

      return ProviderEvidence.of({ ofSla, ofScore })
    })
  )
}

/** No provider has this id, or it was erased. */
export class ProviderUnknown extends Schema.TaggedError<ProviderUnknown>()("ProviderUnknown", {
  providerId: Schema.String
}) {
  override get message() {
    return `Provider ${this.providerId} does not exist.`
  }
}

/** A provider's reliability, as its page shows it. */
export interface ProviderSla {
  readonly providerId: ProviderId
  readonly name: string
  readonly sla: Sla
  readonly disputes: DisputeTally
  readonly verified: Verified
}

/** A provider's trust score with its evidence, and how the provider can raise it. */
export interface ProviderScore extends ScoreEvidence {
  readonly providerId: ProviderId
  readonly level: VerificationLevel
  readonly trust: TrustScore
  readonly advice: TrustAdvice
}

export class Trust extends Context.Service<
  Trust,
  {
    score(providerId: ProviderId): Effect.Effect<ProviderScore, ProviderUnknown | StoreUnavailable>
    /** The score of traffic that this service did not meter, by the same rules. Pure: reads and stores nothing. */
    scoreTraffic(traffic: Traffic): Scored
    /** The catalog's copies, computed recently. */
    catalogScores(
      providerIds: ReadonlyArray<ProviderId>
    ): Effect.Effect<ReadonlyMap<ProviderId, CatalogScore>, StoreUnavailable>
    sla(providerId: ProviderId): Effect.Effect<ProviderSla, ProviderUnknown | StoreUnavailable>
    slaOfTool(providerId: ProviderId, toolId: ToolId): Effect.Effect<Sla, StoreUnavailable>
    /** The highest verified level of each provider that has one. */
    verified(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Verified>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/Trust") {
  static readonly layer = Layer.effect(
    Trust,
    Effect.gen(function* () {
      const store = yield* SlaStore
      const known = yield* ProviderEvidence
      const verifications = yield* VerificationStore

      /** The evidence is read concurrently with the hours. */
      const sla = Effect.fn("Trust.sla")(function* (providerId: ProviderId) {
        const now = yield* DateTime.now
        const since = windowStart(now)
        const [hours, found] = yield* Effect.all([store.hours(providerId, since), known.ofSla(providerId, since)], {
          concurrency: "unbounded"
        })
        const evidence = Option.getOrUndefined(found)
        if (evidence === undefined) return yield* new ProviderUnknown({ providerId })
        return { ...evidence, providerId, sla: slaOf(hours, now) }
      })

      const slaOfTool = Effect.fn("Trust.slaOfTool")(function* (providerId: ProviderId, toolId: ToolId) {
        const now = yield* DateTime.now
        const from = toolWindowStart(now)
        return slaOf(yield* store.daysOfTool(providerId, toolId, from), now, from)
      })

      const score = Effect.fn("Trust.score")(function* (providerId: ProviderId) {
        const found = yield* known.ofScore(providerId, windowStart(yield* DateTime.now))
        const given = Option.getOrUndefined(found)
        if (given === undefined) return yield* new ProviderUnknown({ providerId })
        const { level } = given.verified
        const { advice, trust } = scoreOf({ level, ...given.counted, disputes: given.scored })
        return { ...given, providerId, level, trust, advice }
      })

      return Trust.of({
        score,
        scoreTraffic,
        catalogScores: store.catalogScores,
        sla,
        slaOfTool,
        verified: verifications.levels
      })
    })
  )
}
