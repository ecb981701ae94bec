/**
 * Calls and their cost, for a consumer's own calls or for calls of a provider's tools. Totals come from hourly totals, so a
 * period begins at a full hour.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { ReceiptOwner, ReceiptStatus } from "../receipts/Receipts.ts"
import type { ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const periodDays = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const
/** Periods that end now, which a consumer can choose for its usage. */
export type UsagePeriod = keyof typeof periodDays

/**
 * The longest period in days. Periods start at an hour, so totals are kept by hour this long; older totals are kept by day,
 * permanently. Single calls are in the receipts.
 */
export const USAGE_DAYS_BY_HOUR = 90
const ROLLED_UP_AT_ONCE_MAX = 10_000

/** One completed call in a consumer's list. */
export interface UsageCall {
  readonly receiptId: ReceiptId
  readonly toolId: ToolId
  readonly toolName: string
  readonly status: ReceiptStatus
  readonly costMicrocents: bigint
  readonly durationMs: number
  readonly calledAt: string
}

/** Sums over completed calls. Latency, bytes and tokens are sums too; divide by `calls` for an average. */
export interface UsageTotals {
  readonly calls: number
  readonly successes: number
  readonly spendMicrocents: bigint
  /** The platform's share of the spend. */
  readonly feeMicrocents: bigint
  readonly latencyMs: bigint
  readonly requestBytes: bigint
  readonly responseBytes: bigint
  readonly tokensInput: bigint
  readonly tokensOutput: bigint
}

export interface UsageOfTool extends UsageTotals {
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

/** A member that is undefined excludes no calls. */
export interface UsageFilter {
  readonly since: DateTime.Utc
  readonly toolId: ToolId | undefined
  readonly status: ReceiptStatus | undefined
}

export const TOOLS_SHOWN_MAX = 1_000

/** One tool on one day. */
export interface UsageOfToolDay extends UsageOfTool {
  /** `2026-11-20`, UTC. */
  readonly date: string
}

/** Port to the totals of calls, by hour and by day. */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /** The totals of the whole period, and its calls that match the filter, newest first. */
    recent(owner: ReceiptOwner, filter: UsageFilter, page: PageRequest): Effect.Effect<UsageOfPeriod, StoreUnavailable>
    /** Every tool and day with calls, unordered. */
    byToolAndDay(
      owner: ReceiptOwner,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<UsageOfToolDay>, StoreUnavailable>
    /**
     * Turns hourly totals into daily totals, for whole days before `beforeDay`: at most `limit` hours; returns how many.
     * Totals of whole days do not change.
     */
    rollUp(beforeDay: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
    /**
     * Adds calls to the kept totals that were completed since; returns how many. Every read of the totals does so first, and
     * the log with each batch that it takes. Without either, this keeps the next one short.
     */
    readonly countWaiting: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/UsageStore") {}

/** The totals of a period, with one page of its calls. */
export interface UsageOfPeriod {
  readonly totals: UsageTotals
  readonly calls: Page<UsageCall>
}

/** A consumer's calls of a period: in all, by tool and by day. */
export interface UsageSummary {
  readonly totals: UsageTotals
  readonly byTool: ReadonlyArray<UsageOfTool>
  /** Every day of the period, including days without calls. */
  readonly byDay: ReadonlyArray<UsageOfDay>
}

export class Usage extends Context.Service<
  Usage,
  {
    recent(
      owner: ReceiptOwner,
      period: UsagePeriod,
      filter: { readonly toolId: ToolId | undefined; readonly status: ReceiptStatus | undefined },
      page: PageRequest
    ): Effect.Effect<UsageOfPeriod, StoreUnavailable>
    summary(owner: ReceiptOwner, period: UsagePeriod): Effect.Effect<UsageSummary, StoreUnavailable>
    /** Turns hours older than any period shown into days: one batch; returns its number of hours. */
    readonly rollUp: Effect.Effect<number, StoreUnavailable>
    /** Counts calls that were completed since; returns how many. */
    readonly countWaiting: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/Usage") {
  static readonly layer = Layer.effect(
    Usage,
    Effect.gen(function* () {
      const store = yield* UsageStore

      const recent = Effect.fn("Usage.recent")(function* (
        owner: ReceiptOwner,
        period: UsagePeriod,
        filter: { readonly toolId: ToolId | undefined; readonly status: ReceiptStatus | undefined },
        page: PageRequest
      ) {
        return yield* store.recent(owner, { ...filter, since: startOf(period, yield* DateTime.now) }, page)
      })

      const summary = Effect.fn("Usage.summary")(function* (owner: ReceiptOwner, period: UsagePeriod) {
        const now = yield* DateTime.now
        const since = startOf(period, now)
        return summarize(yield* store.byToolAndDay(owner, since), since, now)
      })

      const rollUp = Effect.gen(function* () {
        const before = DateTime.subtract(yield* DateTime.now, { days: USAGE_DAYS_BY_HOUR })
        return yield* store.rollUp(DateTime.startOf(before, "day"), ROLLED_UP_AT_ONCE_MAX)
      }).pipe(Effect.withSpan("Usage.rollUp"))

      return Usage.of({ recent, summary, rollUp, countWaiting: store.countWaiting })
    })
  )
}

export const summarize = (
  rows: ReadonlyArray<UsageOfToolDay>,
  since: DateTime.Utc,
  now: DateTime.Utc
): UsageSummary => {
  const byTool = [...Map.groupBy(rows, (row) => row.toolId)].map(([toolId, days]): UsageOfTool => ({
    ...sumUp(days),
    toolId,
    toolName: days[0]!.toolName
  }))
  const byDay = [...Map.groupBy(rows, (row) => row.date)].map(([date, tools]): UsageOfDay => {
    const { calls, successes, spendMicrocents } = sumUp(tools)
    return { date, calls, errors: calls - successes, spendMicrocents }
  })
  return {
    totals: sumUp(rows),
    byTool: byTool.toSorted((a, b) => b.calls - a.calls || (a.toolId < b.toolId ? -1 : 1)).slice(0, TOOLS_SHOWN_MAX),
    byDay: everyDay(since, now, byDay)
  }
}

export const noUsage: UsageTotals = {
  calls: 0,
  successes: 0,
  spendMicrocents: 0n,
  feeMicrocents: 0n,
  latencyMs: 0n,
  requestBytes: 0n,
  responseBytes: 0n,
  tokensInput: 0n,
  tokensOutput: 0n
}

export const sumUp = (parts: ReadonlyArray<UsageTotals>): UsageTotals =>
  parts.reduce<UsageTotals>(
    (sum, part) => ({
      calls: sum.calls + part.calls,
      successes: sum.successes + part.successes,
      spendMicrocents: sum.spendMicrocents + part.spendMicrocents,
      feeMicrocents: sum.feeMicrocents + part.feeMicrocents,
      latencyMs: sum.latencyMs + part.latencyMs,
      requestBytes: sum.requestBytes + part.requestBytes,
      responseBytes: sum.responseBytes + part.responseBytes,
      tokensInput: sum.tokensInput + part.tokensInput,
      tokensOutput: sum.tokensOutput + part.tokensOutput
    }),
    noUsage
  )

/** At a full hour, so that the hourly rollups cover the whole period and single calls need not be read. */
export const startOf = (period: UsagePeriod, now: DateTime.Utc): DateTime.Utc =>
  DateTime.startOf(DateTime.subtract(now, { days: periodDays[period] }), "hour")

/** Adds the days without calls, from the first day of the period to the last. */
export const everyDay = (
  since: DateTime.Utc,
  now: DateTime.Utc,
  known: ReadonlyArray<UsageOfDay>
): ReadonlyArray<UsageOfDay> => {
  const byDate = new Map(known.map((day) => [day.date, day]))
  const days: Array<UsageOfDay> = []
  const last = DateTime.startOf(now, "day")
  for (
    let day = DateTime.startOf(since, "day");
    DateTime.isLessThanOrEqualTo(day, last);
    day = DateTime.add(day, { days: 1 })
  ) {
    const date = DateTime.formatIsoDateUtc(day)
    days.push(byDate.get(date) ?? { date, calls: 0, errors: 0, spendMicrocents: 0n })
  }
  return days
}
