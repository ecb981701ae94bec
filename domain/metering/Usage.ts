/**
 * What was called and what it cost, for a consumer's own calls or for the calls of a provider's tools. Sums come from
 * the rollups that the settlement keeps; only the edge of a period is read from the calls themselves.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { ReceiptOwner } from "../receipts/ReceiptStore.ts"
import type { ReceiptStatus } from "../receipts/Receipt.ts"
import type { ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"

export const periodDays = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const
export type UsagePeriod = keyof typeof periodDays

export interface UsageCall {
  readonly receiptId: ReceiptId
  readonly toolId: ToolId
  readonly toolName: string
  readonly status: ReceiptStatus
  readonly costMicrocents: bigint
  readonly durationMs: number
  readonly calledAt: string
}

export interface UsageSums {
  readonly calls: number
  readonly successes: number
  readonly spendMicrocents: bigint
  readonly latencyMs: bigint
  readonly requestBytes: bigint
  readonly responseBytes: bigint
  readonly tokensInput: bigint
  readonly tokensOutput: bigint
}

export interface UsageOfTool extends UsageSums {
  readonly toolId: ToolId
  readonly toolName: string
}

export interface UsageOfDay {
  /** `2026-11-20`, UTC. */
  readonly date: string
  readonly calls: number
  readonly errors: number
  readonly spendMicrocents: bigint
}

export interface UsageFilter {
  readonly since: DateTime.Utc
  readonly toolId: ToolId | undefined
  readonly status: ReceiptStatus | undefined
}

export const TOOLS_SHOWN_MAX = 1_000

export class UsageStore extends Context.Service<UsageStore, {
  /** Newest first. */
  calls(owner: ReceiptOwner, filter: UsageFilter, page: PageRequest): Effect.Effect<Page<UsageCall>>
  sums(owner: ReceiptOwner, since: DateTime.Utc): Effect.Effect<UsageSums>
  /** Most calls first, at most `TOOLS_SHOWN_MAX`. */
  byTool(owner: ReceiptOwner, since: DateTime.Utc): Effect.Effect<ReadonlyArray<UsageOfTool>>
  /** Days with calls only, in order. */
  byDay(owner: ReceiptOwner, since: DateTime.Utc): Effect.Effect<ReadonlyArray<UsageOfDay>>
}>()("agent-tool-billing/domain/metering/UsageStore") {}

export interface UsageSummary {
  readonly sums: UsageSums
  readonly byTool: ReadonlyArray<UsageOfTool>
  /** Every day of the period, zeros too. */
  readonly byDay: ReadonlyArray<UsageOfDay>
}

export class Usage extends Context.Service<Usage, {
  recent(
    owner: ReceiptOwner,
    period: UsagePeriod,
    filter: { readonly toolId: ToolId | undefined; readonly status: ReceiptStatus | undefined },
    page: PageRequest
  ): Effect.Effect<{ readonly sums: UsageSums; readonly calls: Page<UsageCall> }>
  summary(owner: ReceiptOwner, period: UsagePeriod): Effect.Effect<UsageSummary>
}>()("agent-tool-billing/domain/metering/Usage") {
  static readonly layer = Layer.effect(
    Usage,
    Effect.gen(function*() {
      const store = yield* UsageStore

      const recent = Effect.fn("Usage.recent")(function*(
        owner: ReceiptOwner,
        period: UsagePeriod,
        filter: { readonly toolId: ToolId | undefined; readonly status: ReceiptStatus | undefined },
        page: PageRequest
      ) {
        const since = startOf(period, yield* DateTime.now)
        const [sums, calls] = yield* Effect.all(
          [store.sums(owner, since), store.calls(owner, { ...filter, since }, page)],
          { concurrency: 2 }
        )
        return { sums, calls }
      })

      const summary = Effect.fn("Usage.summary")(function*(owner: ReceiptOwner, period: UsagePeriod) {
        const now = yield* DateTime.now
        const since = startOf(period, now)
        const [sums, byTool, days] = yield* Effect.all(
          [store.sums(owner, since), store.byTool(owner, since), store.byDay(owner, since)],
          { concurrency: 3 }
        )
        return { sums, byTool, byDay: everyDay(since, now, days) }
      })

      return Usage.of({ recent, summary })
    })
  )
}

export const startOf = (period: UsagePeriod, now: DateTime.Utc): DateTime.Utc =>
  DateTime.subtract(now, { days: periodDays[period] })

/** Fills the days without calls, from the first day that the period touches to the last. */
export const everyDay = (
  since: DateTime.Utc,
  now: DateTime.Utc,
  known: ReadonlyArray<UsageOfDay>
): ReadonlyArray<UsageOfDay> => {
  const byDate = new Map(known.map((day) => [day.date, day]))
  const days: Array<UsageOfDay> = []
  const last = DateTime.startOf(now, "day")
  for (let day = DateTime.startOf(since, "day"); DateTime.isLessThanOrEqualTo(day, last); day = DateTime.add(day, { days: 1 })) {
    const date = DateTime.formatIsoDateUtc(day)
    days.push(byDate.get(date) ?? { date, calls: 0, errors: 0, spendMicrocents: 0n })
  }
  return days
}
