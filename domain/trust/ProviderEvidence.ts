/**
 * Port to what is known of a provider besides its calls, in one read. `layer` reads it from several stores; a database
 * can read it in one query.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { DisputeStore, type DisputeTally } from "./DisputeStore.ts"
import { type CountedCalls, countedCallsOf, type ScoredDisputes, scoredDisputesOf } from "./PaidCalls.ts"
import { type ScoreOfDay, SlaStore } from "./SlaStore.ts"
import { VerificationStore, type Verified } from "./VerificationStore.ts"

/** What the catalog shows of a provider beside its score. */
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

export class ProviderEvidence extends Context.Service<
  ProviderEvidence,
  {
    /** None if the provider does not exist. */
    ofSla(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<Option.Option<Evidence>, StoreUnavailable>
    /** Including what only its score needs. */
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
