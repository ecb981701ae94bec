/**
 * Collects the figures behind SLA and trust score. The sequencer feeds it with every receipt once; the catalog's copy of
 * the scores is refreshed in the background.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { SequencedReceipt } from "../log/LogStore.ts"
import type { Receipt } from "../receipts/Receipts.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { percentiles } from "./Latencies.ts"
import { paidDaysOf } from "./PaidCalls.ts"
import { hoursOf, type SlaHour, wholeDays, windowStart } from "./Sla.ts"
import { type Pair, SlaStore, type ToolCalls } from "./SlaStore.ts"
import { Trust } from "./Trust.ts"

/** Three times the longest window. */
export const MEASURED_DAYS_KEPT = 90
const REFRESHED_AT_ONCE_MAX = 50
const WAITING_MAX = 1_000
const PRUNED_AT_ONCE_MAX = 10_000

export class ProviderTrust extends Context.Service<
  ProviderTrust,
  {
    /** Runs in the sequencer's unit of work: each receipt once. */
    follow(batch: ReadonlyArray<SequencedReceipt>): Effect.Effect<void, StoreUnavailable>
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
      const { score } = yield* Trust
      /** Their marks are taken, and no refresh has succeeded yet. After a restart, the next receipt marks them again. */
      const waiting = new Set<ProviderId>()

      const follow = Effect.fn("ProviderTrust.follow")(function* (batch: ReadonlyArray<SequencedReceipt>) {
        const reported = batch.filter(({ origin }) => origin === "meter")
        // Their caller or the service ended them.
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
          failing: "Providers that could not be scored",
          work: (id) => Effect.map(refreshOne(id), () => waiting.delete(id))
        })
        return refreshed.length
      }).pipe(Effect.withSpan("ProviderTrust.refresh"))

      const prune = Effect.gen(function* () {
        const before = DateTime.subtract(yield* DateTime.now, { days: MEASURED_DAYS_KEPT })
        return yield* store.prune(DateTime.startOf(before, "day"), PRUNED_AT_ONCE_MAX)
      }).pipe(Effect.withSpan("ProviderTrust.prune"))

      return ProviderTrust.of({ follow, refresh, prune })
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
