/**
 * A provider's SLA and trust score, with their evidence. The sequencer feeds it with every receipt once; the catalog's
 * copy is refreshed in the background.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { SequencedReceipt } from "../log/LogStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import type { DisputeTally } from "./Dispute.ts"
import { percentiles } from "./Latencies.ts"
import { paidDaysOf } from "./PaidCalls.ts"
import { ProviderEvidence, type ScoreEvidence } from "./ProviderEvidence.ts"
import { hoursOf, type Sla, type SlaHour, slaOf, toolWindowStart, wholeDays, windowStart } from "./Sla.ts"
import { type Pair, SlaStore, type CatalogScore, type ToolCalls } from "./SlaStore.ts"
import { adviceOf, type TrustAdvice } from "./TrustAdvice.ts"
import { type TrustEvidence, trustOf, type TrustScore, type VerificationLevel } from "./TrustScore.ts"
import type { Verified } from "./VerificationStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export class ProviderUnknown extends Schema.TaggedError<ProviderUnknown>()("ProviderUnknown", {
  providerId: Schema.String
}) {
  override get message() {
    return `Provider ${this.providerId} does not exist.`
  }
}

export interface ProviderSla {
  readonly providerId: ProviderId
  readonly name: string
  readonly sla: Sla
  readonly disputes: DisputeTally
  readonly verified: Verified
}

export interface ProviderScore extends ScoreEvidence {
  readonly providerId: ProviderId
  readonly level: VerificationLevel
  readonly trust: TrustScore
  readonly advice: TrustAdvice
}

/** Three times the longest window. */
export const MEASURED_DAYS_KEPT = 90
const REFRESHED_AT_ONCE_MAX = 50
const WAITING_MAX = 1_000
const PRUNED_AT_ONCE_MAX = 10_000

export class ProviderTrust extends Context.Service<
  ProviderTrust,
  {
    /** In the sequencer's unit of work: each receipt once. */
    follow(batch: ReadonlyArray<SequencedReceipt>): Effect.Effect<void, StoreUnavailable>
    sla(providerId: ProviderId): Effect.Effect<ProviderSla, ProviderUnknown | StoreUnavailable>
    slaOfTool(providerId: ProviderId, toolId: ToolId): Effect.Effect<Sla, StoreUnavailable>
    score(providerId: ProviderId): Effect.Effect<ProviderScore, ProviderUnknown | StoreUnavailable>
    catalogScores(
      providerIds: ReadonlyArray<ProviderId>
    ): Effect.Effect<ReadonlyMap<ProviderId, CatalogScore>, StoreUnavailable>
    /** Updates the catalog's copy; returns the number of providers. */
    readonly refresh: Effect.Effect<number, StoreUnavailable>
    /** Removes rows that no window uses: one batch; returns how many. */
    readonly prune: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/ProviderTrust") {
  static readonly layer = Layer.effect(
    ProviderTrust,
    Effect.gen(function* () {
      const store = yield* SlaStore
      const known = yield* ProviderEvidence
      /** Their marks are taken, and no refresh has succeeded yet. After a restart, the next receipt marks them again. */
      const waiting = new Set<ProviderId>()

      const follow = Effect.fn("ProviderTrust.follow")(function* (batch: ReadonlyArray<SequencedReceipt>) {
        const reported = batch.filter(({ origin }) => origin === "meter")
        // A cancellation that was passed on ended the call before the provider could.
        const proxied = batch.filter(({ cause, origin }) => origin === "proxy" && cause !== "canceled")
        if (proxied.length === 0 && reported.length === 0) return
        const pairs = new Map<string, Pair>(
          proxied.map(({ receipt }) => [
            pairOf(receipt),
            { providerId: receipt.provider_id, consumerId: receipt.agent_id }
          ])
        )
        const own = new Set(
          (yield* store.selfDealing([...pairs.values()])).map((pair) => `${pair.providerId} ${pair.consumerId}`)
        )
        const counted = proxied.filter(({ receipt }) => !own.has(pairOf(receipt)))
        if (counted.length === 0 && reported.length === 0) return
        yield* store.add({
          hours: hoursOf(counted),
          days: paidDaysOf(counted),
          tools: toolCallsOf([...counted, ...reported]),
          consumers: [...new Set(counted.map(({ receipt }) => receipt.agent_id))]
        })
      })

      /** The evidence is read concurrently with the hours. */
      const sla = Effect.fn("ProviderTrust.sla")(function* (providerId: ProviderId) {
        const now = yield* DateTime.now
        const since = windowStart(now)
        const [hours, found] = yield* Effect.all([store.hours(providerId, since), known.ofSla(providerId, since)], {
          concurrency: "unbounded"
        })
        const evidence = Option.getOrUndefined(found)
        if (evidence === undefined) return yield* new ProviderUnknown({ providerId })
        return { ...evidence, providerId, sla: slaOf(hours, now) }
      })

      const slaOfTool = Effect.fn("ProviderTrust.slaOfTool")(function* (providerId: ProviderId, toolId: ToolId) {
        const now = yield* DateTime.now
        const from = toolWindowStart(now)
        return slaOf(yield* store.daysOfTool(providerId, toolId, from), now, from)
      })

      const score = Effect.fn("ProviderTrust.score")(function* (providerId: ProviderId) {
        const found = yield* known.ofScore(providerId, windowStart(yield* DateTime.now))
        const given = Option.getOrUndefined(found)
        if (given === undefined) return yield* new ProviderUnknown({ providerId })
        const { level } = given.verified
        const evidence: TrustEvidence = { level, ...given.counted, disputes: given.scored }
        return { ...given, providerId, level, trust: trustOf(evidence), advice: adviceOf(evidence) }
      })

      const refreshOne = Effect.fnUntraced(
        function* (providerId: ProviderId) {
          const now = yield* DateTime.now
          const { trust } = yield* score(providerId)
          yield* store.keepDays(wholeDays(yield* store.hours(providerId, windowStart(now)), now))
          const days = yield* store.toolDays(providerId, windowStart(now))
          const date = DateTime.formatIsoDateUtc(now)
          yield* store.settle(
            { providerId, score: trust.score, badge: trust.badge, p95OfTools: p95OfTools(days) },
            date
          )
        },
        Effect.catchTag("ProviderUnknown", () => Effect.void)
      )

      const refresh = Effect.gen(function* () {
        const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
        if (waiting.size < WAITING_MAX) {
          for (const id of yield* store.takeChanged(today, REFRESHED_AT_ONCE_MAX)) waiting.add(id)
        }
        const refreshed = yield* round([...waiting], {
          failing: "providers could not be scored",
          work: (id) => Effect.map(refreshOne(id), () => waiting.delete(id))
        })
        return refreshed.length
      }).pipe(Effect.withSpan("ProviderTrust.refresh"))

      const prune = Effect.gen(function* () {
        const before = DateTime.subtract(yield* DateTime.now, { days: MEASURED_DAYS_KEPT })
        return yield* store.prune(DateTime.startOf(before, "day"), PRUNED_AT_ONCE_MAX)
      }).pipe(Effect.withSpan("ProviderTrust.prune"))

      return ProviderTrust.of({
        follow,
        sla,
        score,
        slaOfTool,
        catalogScores: store.catalogScores,
        refresh,
        prune
      })
    })
  )
}

const pairOf = (receipt: Receipt): string => `${receipt.provider_id} ${receipt.agent_id}`

const toolCallsOf = (calls: ReadonlyArray<SequencedReceipt>): ReadonlyArray<ToolCalls> =>
  [...Map.groupBy(calls, ({ receipt }) => receipt.tool_id)].map(([toolId, ofTool]) => {
    const proxied = ofTool.filter(({ origin }) => origin === "proxy")
    return {
      toolId,
      reported: ofTool.length - proxied.length,
      freeCalls: proxied.filter(({ isFreeCall }) => isFreeCall).length,
      lastCalledAt: newestOf(proxied)
    }
  })

/** Timestamps of one format and time zone sort as text. */
const newestOf = (calls: ReadonlyArray<SequencedReceipt>): string | undefined =>
  calls.reduce<string | undefined>(
    (newest, { receipt }) => (newest === undefined || receipt.timestamp > newest ? receipt.timestamp : newest),
    undefined
  )

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
