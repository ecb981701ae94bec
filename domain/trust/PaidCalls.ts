/**
 * The calls that a trust score counts: calls of consumers that paid the provider, by day and consumer. Free calls,
 * refunded calls and consumers that paid less than a dollar do not count, so that changing a score costs real money.
 *
 * The cost of a fake reputation: each consumer must pay the provider $1 net of refunds within the window, in every
 * window. The platform fee of that (10% by default) is lost; the rest is the provider's own money, locked until its earnings
 * mature. Rates are weighted by payments, so hiding failures takes a multiple of what honest consumers paid: to show
 * 99% where honest consumers who paid $50 saw 90%, a provider must pass about $500 through its own accounts and loses
 * $50. Lowering a competitor's score costs the same and pays the competitor: failures count up to the number of calls
 * that the same consumer paid for.
 */
import type { Receipt } from "../receipts/Receipts.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { excusedCalls, type TrustReceipt } from "./Sla.ts"

/** Decisions about the paid calls of one consumer. */
export interface ConsumerRulings {
  readonly consumerId: ConsumerId
  /** Filed by the consumer, and refunded. */
  readonly upheld: number
  /** Filed by the consumer, and denied. */
  readonly denied: number
  /** The refunded calls that had succeeded, in disputes of either party. */
  readonly refundedCalls: number
  /** Filed by either party, with any outcome of the call. */
  readonly refundedMicrocents: bigint
}

/**
 * The disputes that a score counts: about calls with a cost, filed within the window, and decided. Open disputes and
 * disputes about free calls do not count.
 */
export interface ScoredDisputes {
  readonly upheld: number
  readonly denied: number
}

export const scoredDisputesOf = (rulings: ReadonlyArray<ConsumerRulings>): ScoredDisputes => ({
  upheld: rulings.reduce((sum, one) => sum + one.upheld, 0),
  denied: rulings.reduce((sum, one) => sum + one.denied, 0)
})

/** $1: what a consumer must have paid a provider, net of refunds within the window, to count. */
export const PAID_CONSUMER_MICROCENTS_MIN = 1_000_000n
/** One reading has those of a provider that paid the most. */
export const PAID_CONSUMERS_READ_MAX = 5_000
/** The steps of the latency points, in milliseconds: latencies are stored no finer. */
export const LATENCY_STEPS_MS = [200, 500, 1_000, 2_000, 5_000] as const

/** Totals of proxied calls between a provider and a consumer. */
export interface PaidCalls {
  readonly consumerId: ConsumerId
  /** The cost of all of them, before refunds. */
  readonly paidMicrocents: bigint
  /** Calls that succeeded and cost something. */
  readonly paidCalls: number
  /** Calls that did not succeed, whatever they cost, except those whose input was rejected. */
  readonly failedCalls: number
  readonly inputRejected: number
  /** The number of paid calls that took at most as long as each step. */
  readonly upTo: ReadonlyArray<number>
  /** The longest of the paid calls. */
  readonly longestMs: number
}

export interface PaidDay extends PaidCalls {
  readonly providerId: ProviderId
  /** `2026-11-20`, UTC. */
  readonly date: string
}

/** Totals of the calls that count for a provider's trust score. */
export interface CountedCalls {
  readonly consumers: number
  /** Paid calls, and the failed ones that count with them. */
  readonly calls: number
  /** A rate from 0 to 1, weighted by payments; undefined without calls. */
  readonly successRate: number | undefined
  /** The step of the p95 latency; beyond the last step, the longest call. */
  readonly p95Ms: number | undefined
}

/**
 * Totals by pair and day, to be added to the stored ones. A pair whose calls were all free and successful is not
 * stored.
 */
export const paidDaysOf = (calls: ReadonlyArray<TrustReceipt>): ReadonlyArray<PaidDay> => {
  const days = Map.groupBy(
    calls,
    ({ receipt }) => `${receipt.provider_id} ${receipt.agent_id} ${receipt.timestamp.slice(0, 10)}`
  )
  return [...days.values()].map(paidDayOf).filter(isRelevant)
}

const paidDayOf = (calls: ReadonlyArray<TrustReceipt>): PaidDay => {
  const { agent_id, provider_id, timestamp } = calls[0]!.receipt
  return { ...paidCallsOf(agent_id, calls), providerId: provider_id, date: timestamp.slice(0, 10) }
}

/** The parts of a call that count. */
export interface MeasuredCall extends Pick<TrustReceipt, "cause"> {
  readonly receipt: Pick<Receipt, "cost_microcents" | "duration_ms" | "status">
}

/** Totals of one consumer's calls. */
export const paidCallsOf = (consumerId: ConsumerId, calls: ReadonlyArray<MeasuredCall>): PaidCalls => {
  const upTo = LATENCY_STEPS_MS.map(() => 0)
  let [paidMicrocents, paidCalls, failedCalls, inputRejected, longestMs] = [0n, 0, 0, 0, 0]
  for (const { cause, receipt } of calls) {
    const { cost_microcents: cost, duration_ms: ms } = receipt
    paidMicrocents += cost
    if (receipt.status !== "success") {
      if (cause === "input_rejected") inputRejected++
      else failedCalls++
    } else if (cost > 0n) {
      paidCalls++
      longestMs = Math.max(longestMs, ms)
      for (let step = 0; step < upTo.length; step++) if (ms <= LATENCY_STEPS_MS[step]!) upTo[step]!++
    }
  }
  return { consumerId, paidMicrocents, paidCalls, failedCalls, inputRejected, upTo, longestMs }
}

const isRelevant = (day: PaidDay): boolean => day.paidMicrocents > 0n || day.failedCalls > 0 || day.inputRejected > 0

export const addedDays = <A extends PaidCalls>(one: A, other: PaidCalls): A => ({
  ...one,
  paidMicrocents: one.paidMicrocents + other.paidMicrocents,
  paidCalls: one.paidCalls + other.paidCalls,
  failedCalls: one.failedCalls + other.failedCalls,
  inputRejected: one.inputRejected + other.inputRejected,
  upTo: one.upTo.map((calls, step) => calls + other.upTo[step]!),
  longestMs: Math.max(one.longestMs, other.longestMs)
})

/** Totals of the pairs of a window, and the decisions about their calls. */
export const countedCallsOf = (
  pairs: ReadonlyArray<PaidCalls>,
  rulings: ReadonlyArray<ConsumerRulings>
): CountedCalls => {
  const refunds = new Map(rulings.map((one) => [one.consumerId, one]))
  const weighed = pairs.flatMap((pair) => weigh(pair, refunds.get(pair.consumerId)))
  const total = (of: (one: Weighed) => number): number => weighed.reduce((sum, one) => sum + of(one), 0)
  const delivered = total((one) => one.price * one.delivered)
  return {
    consumers: weighed.length,
    calls: total((one) => one.delivered + one.failed),
    successRate: delivered === 0 ? undefined : delivered / (delivered + total((one) => one.price * one.failed)),
    p95Ms: p95Of(weighed)
  }
}

interface Weighed {
  readonly pair: PaidCalls
  /** The average cost of a call, which is the weight of each call. */
  readonly price: number
  readonly delivered: number
  readonly failed: number
}

/** Returns nothing if the consumer has not paid enough. */
const weigh = (pair: PaidCalls, ruled: ConsumerRulings | undefined): ReadonlyArray<Weighed> => {
  const net = pair.paidMicrocents - (ruled?.refundedMicrocents ?? 0n)
  if (net < PAID_CONSUMER_MICROCENTS_MIN) return []
  const delivered = Math.max(0, pair.paidCalls - (ruled?.refundedCalls ?? 0))
  const { failedCalls, inputRejected } = pair
  const answered = { calls: pair.paidCalls + failedCalls + inputRejected, inputRejected }
  const failed = failedCalls + inputRejected - excusedCalls(answered)
  const price = delivered === 0 ? 0 : Number(net) / delivered
  return [{ pair, price, delivered, failed: Math.min(failed, delivered) }]
}

const p95Of = (weighed: ReadonlyArray<Weighed>): number | undefined => {
  const weightOf = (of: (pair: PaidCalls) => number): number =>
    weighed.reduce((sum, { pair, price }) => sum + price * of(pair), 0)
  const all = weightOf((pair) => pair.paidCalls)
  if (all === 0) return undefined
  const step = LATENCY_STEPS_MS.findIndex((_, at) => weightOf((pair) => pair.upTo[at]!) >= all * (0.95 - ROUNDING))
  return LATENCY_STEPS_MS[step] ?? Math.max(...weighed.map(({ pair }) => pair.longestMs))
}

/** Totals of fractions may be slightly off a whole number. */
const ROUNDING = 1e-9
