/**
 * How a provider stands: its SLA, its score, and what they were made of. Fed with every receipt once, by the sequencer;
 * what the catalogue shows is refreshed in the background.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { SequencedReceipt } from "../log/LogStore.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { DisputeTally } from "./Dispute.ts"
import { type Evidence, ProviderEvidence } from "./ProviderEvidence.ts"
import { percentiles } from "./Latencies.ts"
import { hoursOf, type Sla, type SlaHour, slaOf, toolWindowStart, wholeDays, windowStart } from "./Sla.ts"
import { type Pair, type ScoreOfDay, SlaStore, type Standing } from "./SlaStore.ts"
import { adviceOf, type TrustAdvice } from "./TrustAdvice.ts"
import { type TrustEvidence, trustOf, type TrustScore, type VerificationLevel } from "./TrustScore.ts"
import type { Verified } from "./VerificationStore.ts"

export class ProviderUnknown extends Schema.TaggedError<ProviderUnknown>()("ProviderUnknown", {
  providerId: Schema.String
}) {
  override get message() {
    return `There is no provider ${this.providerId}.`
  }
}

export interface ProviderSla {
  readonly providerId: ProviderId
  readonly name: string
  readonly sla: Sla
  readonly disputes: DisputeTally
  readonly verified: Verified
}

export interface ProviderScore extends ProviderSla {
  readonly consumers: number
  readonly level: VerificationLevel
  readonly trust: TrustScore
  readonly advice: TrustAdvice
  readonly history: ReadonlyArray<ScoreOfDay>
}

/** Three times as long as anything is measured over. */
export const MEASURED_DAYS_KEPT = 90
const REFRESHED_AT_ONCE_MAX = 50
const PRUNED_AT_ONCE_MAX = 10_000

export class ProviderTrust extends Context.Service<
  ProviderTrust,
  {
    /** Inside the sequencer's unit of work: each receipt comes by here once. */
    follow(batch: ReadonlyArray<SequencedReceipt>): Effect.Effect<void>
    sla(providerId: ProviderId): Effect.Effect<ProviderSla, ProviderUnknown>
    slaOfTool(providerId: ProviderId, toolId: ToolId): Effect.Effect<Sla>
    score(providerId: ProviderId): Effect.Effect<ProviderScore, ProviderUnknown>
    standings(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Standing>>
    /** Brings what the catalogue shows up to date; how many providers. */
    readonly refresh: Effect.Effect<number>
    /** Forgets what no measure looks at any more: one batch, and how many rows. */
    readonly prune: Effect.Effect<number>
  }
>()("agent-tool-billing/domain/trust/ProviderTrust") {
  static readonly layer = Layer.effect(
    ProviderTrust,
    Effect.gen(function* () {
      const store = yield* SlaStore
      const known = yield* ProviderEvidence

      const follow = Effect.fn("ProviderTrust.follow")(function* (batch: ReadonlyArray<SequencedReceipt>) {
        const proxied = batch.filter(({ origin }) => origin === "proxy").map(({ receipt }) => receipt)
        if (proxied.length === 0) return
        const pairs = new Map<string, Pair>(
          proxied.map((one) => [
            `${one.provider_id} ${one.agent_id}`,
            { providerId: one.provider_id, consumerId: one.agent_id }
          ])
        )
        const own = new Set(
          (yield* store.selfDealing([...pairs.values()])).map((pair) => `${pair.providerId} ${pair.consumerId}`)
        )
        const counted = proxied.filter((one) => !own.has(`${one.provider_id} ${one.agent_id}`))
        if (counted.length === 0) return
        const seen = new Map(
          counted
            .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
            .map((one) => [
              `${one.provider_id} ${one.agent_id}`,
              { providerId: one.provider_id, consumerId: one.agent_id, date: one.timestamp.slice(0, 10) }
            ])
        )
        yield* store.add(hoursOf(counted), [...seen.values()])
      })

      /** The evidence is read at the same time as the hours. */
      const measured = Effect.fnUntraced(function* <A extends Evidence>(
        providerId: ProviderId,
        evidenceOf: (providerId: ProviderId, since: DateTime.Utc) => Effect.Effect<Option.Option<A>>
      ) {
        const now = yield* DateTime.now
        const since = windowStart(now)
        const [hours, found] = yield* Effect.all([store.hours(providerId, since), evidenceOf(providerId, since)], {
          concurrency: "unbounded"
        })
        const evidence = Option.getOrUndefined(found)
        if (evidence === undefined) return yield* new ProviderUnknown({ providerId })
        return { ...evidence, providerId, hours, sla: slaOf(hours, now) }
      })

      const slaOfTool = Effect.fn("ProviderTrust.slaOfTool")(function* (providerId: ProviderId, toolId: ToolId) {
        const now = yield* DateTime.now
        const from = toolWindowStart(now)
        return slaOf(yield* store.daysOfTool(providerId, toolId, from), now, from)
      })

      const scored = Effect.fnUntraced(function* (providerId: ProviderId) {
        const found = yield* measured(providerId, known.ofScore)
        const { consumers, disputes, sla, verified } = found
        const evidence: TrustEvidence = {
          level: verified.level,
          calls: sla.calls,
          consumers,
          successRate: sla.calls === 0 ? undefined : sla.successes / sla.calls,
          p95Ms: sla.p95Ms,
          disputes
        }
        return { ...found, level: verified.level, trust: trustOf(evidence), advice: adviceOf(evidence) }
      })

      const refreshOne = Effect.fnUntraced(function* (providerId: ProviderId) {
        const { hours, sla, trust } = yield* scored(providerId)
        yield* store.keepDays(wholeDays(hours, sla.to))
        const days = yield* store.toolDays(providerId, sla.from)
        const date = DateTime.formatIsoDateUtc(yield* DateTime.now)
        yield* store.settle({ providerId, score: trust.score, badge: trust.badge, p95OfTools: p95OfTools(days) }, date)
      })

      const refresh = Effect.gen(function* () {
        const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
        const changed = yield* store.takeChanged(today, REFRESHED_AT_ONCE_MAX)
        yield* Effect.forEach(changed, (id) => Effect.orDie(refreshOne(id)), { discard: true })
        return changed.length
      }).pipe(Effect.withSpan("ProviderTrust.refresh"))

      const prune = Effect.gen(function* () {
        const before = DateTime.subtract(yield* DateTime.now, { days: MEASURED_DAYS_KEPT })
        return yield* store.prune(DateTime.startOf(before, "day"), PRUNED_AT_ONCE_MAX)
      }).pipe(Effect.withSpan("ProviderTrust.prune"))

      return ProviderTrust.of({
        follow,
        sla: (providerId) => measured(providerId, known.ofSla),
        score: Effect.fn("ProviderTrust.score")(scored),
        slaOfTool,
        standings: store.standings,
        refresh,
        prune
      })
    })
  )
}

const p95OfTools = (days: ReadonlyArray<SlaHour>): ReadonlyMap<ToolId, number> =>
  new Map(
    [...Map.groupBy(days, (day) => day.toolId)].flatMap(([toolId, ofTool]) => {
      const [p95Ms] = percentiles(
        ofTool.map((day) => day.latencies),
        [0.95]
      )
      return p95Ms === undefined || toolId === undefined ? [] : [[toolId, p95Ms] as const]
    })
  )
