/**
 * A provider's SLA figures from proxied calls, hour by hour, over thirty days.
 */
import { DateTime } from "effect"
import type { ToolFigures } from "../catalog/CatalogStore.ts"
import type { SequencedReceipt } from "../log/LogStore.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { type Latencies, latenciesOf, merge, percentiles } from "./Latencies.ts"

/** The part of a logged receipt that SLA and trust score use. */
export type TrustReceipt = Pick<SequencedReceipt, "cause" | "receipt">

export const SLA_DAYS = 30
/**
 * Up to this share of all calls, calls whose input the provider rejected do not count in the rates: they are mistakes
 * of consumers. The rest count as errors, so that a provider cannot hide failures as rejected input.
 */
export const INPUT_REJECTED_SHARE_MAX = 0.05
const HOUR_MS = 3_600_000

/** Calls of a provider in one hour or day, or of one of its tools in one day. */
export interface SlaHour {
  readonly providerId: ProviderId
  /** Undefined: the calls of all its tools. */
  readonly toolId: ToolId | undefined
  /** Start of the hour or day. */
  readonly hour: DateTime.Utc
  readonly calls: number
  readonly successes: number
  readonly timeouts: number
  readonly inputRejected: number
  /** Calls whose input was rejected are not included, as in the latencies. */
  readonly latencyMs: number
  readonly latencies: Latencies
}

/** A provider's proxied calls of one day (UTC): how many succeeded, and how fast. */
export interface SlaDay {
  readonly date: string
  readonly calls: number
  readonly successes: number
  readonly errors: number
  readonly timeouts: number
  readonly inputRejected: number
  /** Undefined on a day without calls. */
  readonly uptimePercent: number | undefined
  readonly p95Ms: number | undefined
}

export interface Sla {
  readonly from: DateTime.Utc
  readonly to: DateTime.Utc
  readonly calls: number
  readonly successes: number
  /** Failures other than timeouts and rejected input. */
  readonly errors: number
  readonly timeouts: number
  /** Calls whose input the provider rejected. */
  readonly inputRejected: number
  readonly inputRejectedRate: number | undefined
  readonly uptimePercent: number | undefined
  readonly errorRate: number | undefined
  readonly averageMs: number | undefined
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  readonly p99Ms: number | undefined
  /** Every day of the window, oldest first. */
  readonly days: ReadonlyArray<SlaDay>
}

/** The window starts at a full hour. */
export const windowStart = (now: DateTime.Utc): DateTime.Utc =>
  DateTime.makeUnsafe(Math.floor(now.epochMilliseconds / HOUR_MS) * HOUR_MS - SLA_DAYS * 24 * HOUR_MS)

/** Tools are stored by day: the same number of days, today included. */
export const toolWindowStart = (now: DateTime.Utc): DateTime.Utc =>
  DateTime.makeUnsafe(startOfDay(now) - (SLA_DAYS - 1) * 24 * HOUR_MS)

export const slaOf = (hours: ReadonlyArray<SlaHour>, now: DateTime.Utc, from = windowStart(now)): Sla => {
  // Day by day first: the total then merges thirty counts instead of seven hundred.
  const byDate = Map.groupBy(hours, (hour) => DateTime.formatIsoDateUtc(hour.hour))
  const lengths = new Map([...byDate].map(([date, ofDay]) => [date, merge(ofDay.map((hour) => hour.latencies))]))
  const [p50Ms, p95Ms, p99Ms] = percentiles([...lengths.values()], [0.5, 0.95, 0.99])
  const totals = sumOf(hours)
  const rated = ratedCalls(totals)
  const timed = totals.calls - totals.inputRejected
  return {
    from,
    to: now,
    ...totals,
    inputRejectedRate: totals.calls === 0 ? undefined : round(totals.inputRejected / totals.calls, 4),
    uptimePercent: percentOf(totals),
    errorRate: rated === 0 ? undefined : round((rated - totals.successes) / rated, 4),
    averageMs: timed === 0 ? undefined : Math.round(hours.reduce((ms, hour) => ms + hour.latencyMs, 0) / timed),
    p50Ms,
    p95Ms,
    p99Ms,
    days: datesOf(from, now).map((date) => {
      const ofDay = sumOf(byDate.get(date) ?? [])
      const [p95OfDay] = percentiles(lengths.has(date) ? [lengths.get(date)!] : [], [0.95])
      return { date, ...ofDay, uptimePercent: percentOf(ofDay), p95Ms: p95OfDay }
    })
  }
}

const datesOf = (from: DateTime.Utc, to: DateTime.Utc): ReadonlyArray<string> => {
  const dates: Array<string> = []
  for (let at = startOfDay(from); at <= to.epochMilliseconds; at += 24 * HOUR_MS) {
    dates.push(DateTime.formatIsoDateUtc(DateTime.makeUnsafe(at)))
  }
  return dates
}

const startOfDay = (at: DateTime.Utc): number => Math.floor(at.epochMilliseconds / (24 * HOUR_MS)) * 24 * HOUR_MS

const sumOf = (hours: ReadonlyArray<SlaHour>) => {
  const total = (of: (hour: SlaHour) => number): number => hours.reduce((sum, hour) => sum + of(hour), 0)
  const calls = total((hour) => hour.calls)
  const successes = total((hour) => hour.successes)
  const timeouts = total((hour) => hour.timeouts)
  const inputRejected = total((hour) => hour.inputRejected)
  return { calls, successes, timeouts, inputRejected, errors: calls - successes - timeouts - inputRejected }
}

type Answered = Pick<SlaHour, "calls" | "inputRejected">

/** Returns how many calls with rejected input do not count; the share is rounded up to a whole call. */
export const excusedCalls = ({ calls, inputRejected }: Answered): number =>
  Math.min(inputRejected, Math.ceil(calls * INPUT_REJECTED_SHARE_MAX))

/** The denominator of the rates. */
const ratedCalls = (answered: Answered): number => answered.calls - excusedCalls(answered)

/** Rounded down: 99.99 is not 100. */
const percentOf = (totals: Answered & Pick<SlaHour, "successes">): number | undefined => {
  const rated = ratedCalls(totals)
  return rated === 0 ? undefined : Math.floor((totals.successes * 10_000) / rated) / 100
}

const round = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places

/** Calls as hours of their providers and days of their tools, to be added to the stored ones. */
export const hoursOf = (calls: ReadonlyArray<TrustReceipt>): ReadonlyArray<SlaHour> => {
  const ofProviders = Map.groupBy(calls, ({ receipt }) => `${receipt.provider_id} ${receipt.timestamp.slice(0, 13)}`)
  const ofTools = Map.groupBy(calls, ({ receipt }) => `${receipt.tool_id} ${receipt.timestamp.slice(0, 10)}`)
  return [
    ...[...ofProviders.values()].map((ofHour) =>
      sumUp(ofHour, undefined, `${ofHour[0]!.receipt.timestamp.slice(0, 13)}:00:00.000Z`)
    ),
    ...[...ofTools.values()].map((ofDay) =>
      sumUp(ofDay, ofDay[0]!.receipt.tool_id, `${ofDay[0]!.receipt.timestamp.slice(0, 10)}T00:00:00.000Z`)
    )
  ]
}

const sumUp = (calls: ReadonlyArray<TrustReceipt>, toolId: ToolId | undefined, from: string): SlaHour => {
  // A rejection is fast and says nothing about the tool's latency.
  const lengths = calls.filter(({ cause }) => cause !== "input_rejected").map(({ receipt }) => receipt.duration_ms)
  return {
    providerId: calls[0]!.receipt.provider_id,
    toolId,
    hour: DateTime.makeUnsafe(from),
    calls: calls.length,
    successes: calls.filter(({ receipt }) => receipt.status === "success").length,
    timeouts: calls.filter(({ receipt }) => receipt.status === "timeout").length,
    inputRejected: calls.length - lengths.length,
    latencyMs: lengths.reduce((sum, ms) => sum + ms, 0),
    latencies: latenciesOf(lengths)
  }
}

/** The complete days among these hours, each merged; partial days are left out. */
export const wholeDays = (hours: ReadonlyArray<SlaHour>, now: DateTime.Utc): ReadonlyArray<SlaHour> => {
  const from = windowStart(now).epochMilliseconds
  const today = startOfDay(now)
  return [...Map.groupBy(hours, (one) => startOfDay(one.hour))]
    .filter(([day, ofDay]) => day >= from && day < today && ofDay.length > 1)
    .map(([day, ofDay]) => ({ ...ofDay.reduce(added), hour: DateTime.makeUnsafe(day) }))
}

export const added = (one: SlaHour, other: SlaHour): SlaHour => ({
  ...one,
  calls: one.calls + other.calls,
  successes: one.successes + other.successes,
  timeouts: one.timeouts + other.timeouts,
  inputRejected: one.inputRejected + other.inputRejected,
  latencyMs: one.latencyMs + other.latencyMs,
  latencies: merge([one.latencies, other.latencies])
})

/** Counts of proxied and reported calls, and the figures derived from them. */
export interface CallCounts {
  /** Made by the proxy. */
  readonly calls: number
  readonly successes: number
  readonly inputRejected: number
  /** Calls whose input was rejected are not included. */
  readonly latencyMs: number
  readonly reported: number
}

export const figuresOf = (counts: CallCounts): ToolFigures => {
  const rated = ratedCalls(counts)
  const timed = counts.calls - counts.inputRejected
  return {
    totalCalls: counts.calls,
    reportedCalls: counts.reported,
    avgLatencyMs: timed === 0 ? undefined : Math.floor(counts.latencyMs / timed),
    uptimePct: rated === 0 ? undefined : Math.round((counts.successes / rated) * 10_000) / 100
  }
}
