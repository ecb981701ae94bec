/**
 * The trust score by its published formula: four components of up to 25, from public evidence. Small samples are drawn
 * toward the middle until there are enough calls. Imports nothing of Effect: a page that scores its own traffic stays small.
 */
import type { ReceiptStatus } from "../receipts/Receipts.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import {
  type ConsumerRulings,
  type CountedCalls,
  countedCallsOf,
  paidCallsOf,
  type ScoredDisputes,
  scoredDisputesOf
} from "./PaidCalls.ts"

export const VERIFICATION_LEVELS = ["unverified", "email", "domain", "code"] as const
/** A level that a provider verified; each counts for more than the one before. */
export type VerificationLevel = (typeof VERIFICATION_LEVELS)[number]

export const BADGES = ["unrated", "basic", "trusted", "verified"] as const
/** The score in one word. A provider without enough evidence is `unrated`. */
export type Badge = (typeof BADGES)[number]

/** The numbers that `trustOf` turns into a score. */
export interface TrustEvidence extends CountedCalls {
  readonly level: VerificationLevel
  readonly disputes: ScoredDisputes
}

export interface TrustScore {
  readonly score: number
  readonly badge: Badge
  readonly components: {
    readonly verification: number
    readonly uptime: number
    readonly latency: number
    readonly disputes: number
  }
  /** The weight of the measured components, from 0 to 1. */
  readonly confidence: number
}

/** With this many calls a measurement counts half. */
export const HALF_CONFIDENCE_CALLS = 100
export const MIDDLE = 12.5
export const RATED_CALLS_MIN = 100
export const RATED_CONSUMERS_MIN = 3

export const VERIFICATION_POINTS: Readonly<Record<VerificationLevel, number>> = {
  unverified: 0,
  email: 10,
  domain: 20,
  code: 25
}
/** The points for at least this percentage. */
export const UPTIME_POINTS = [
  [99.9, 25],
  [99.5, 23],
  [99, 20],
  [98, 17],
  [95, 12],
  [90, 8]
] as const
export const UPTIME_POINTS_LEAST = 3
/** The points for at most this many milliseconds. */
export const LATENCY_POINTS = [
  [200, 25],
  [500, 22],
  [1_000, 18],
  [2_000, 14],
  [5_000, 8]
] as const
export const LATENCY_POINTS_LEAST = 3
/** The points for less than this share of the calls. */
export const DISPUTE_POINTS = [
  [0.01, 20],
  [0.05, 15],
  [0.1, 8]
] as const
export const DISPUTE_POINTS_LEAST = 2
export const BADGE_POINTS = [
  [75, "verified"],
  [50, "trusted"],
  [25, "basic"]
] as const

/** The score and badge that the evidence gives, with the points of each part. */
export const trustOf = (evidence: TrustEvidence): TrustScore => {
  const confidence = evidence.calls / (evidence.calls + HALF_CONFIDENCE_CALLS)
  const components = {
    verification: VERIFICATION_POINTS[evidence.level],
    uptime: drawn(uptimePoints(evidence.successRate), confidence),
    latency: drawn(latencyPoints(evidence.p95Ms), confidence),
    disputes: disputePoints(evidence.disputes, evidence.calls)
  }
  const score = components.verification + components.uptime + components.latency + components.disputes
  return { score, badge: badgeOf(score, evidence), components, confidence: Math.round(confidence * 100) / 100 }
}

export const uptimePoints = (successRate: number | undefined): number => {
  if (successRate === undefined) return MIDDLE
  const percent = successRate * 100
  return UPTIME_POINTS.find(([least]) => percent >= least - ROUNDING)?.[1] ?? UPTIME_POINTS_LEAST
}

/** 0.999 times 100 is slightly less than 99.9. */
const ROUNDING = 1e-9

export const latencyPoints = (p95Ms: number | undefined): number => {
  if (p95Ms === undefined) return MIDDLE
  return LATENCY_POINTS.find(([most]) => p95Ms <= most)?.[1] ?? LATENCY_POINTS_LEAST
}

/** A denied dispute is not the provider's fault. */
export const disputePoints = ({ denied, upheld }: ScoredDisputes, calls: number): number => {
  if (upheld === 0) return denied === 0 ? 25 : 24
  const share = upheld / Math.max(1, calls)
  return DISPUTE_POINTS.find(([below]) => share < below)?.[1] ?? DISPUTE_POINTS_LEAST
}

const drawn = (points: number, confidence: number): number => Math.round(MIDDLE + (points - MIDDLE) * confidence)

const badgeOf = (score: number, { calls, consumers, level }: TrustEvidence): Badge => {
  if (calls < RATED_CALLS_MIN || consumers < RATED_CONSUMERS_MIN) return "unrated"
  const earned = BADGE_POINTS.find(([least]) => score >= least)?.[1] ?? "unrated"
  return earned === "verified" && level !== "domain" && level !== "code" ? "trusted" : earned
}

/** The formula in words, so that a person can recompute a score. */
export const scoringGuide = {
  formula: "trust_score = verification + uptime + latency + disputes, each from 0 to 25",
  verification: "unverified 0, email 10, domain 20, code 25",
  uptime:
    "by success rate over 30 days: 99.9% and more 25, 99.5% 23, 99% 20, 98% 17, 95% 12, 90% 8, below 3; then drawn toward " +
    "the middle",
  latency:
    "by p95 over 30 days: up to 200 ms 25, 500 ms 22, 1000 ms 18, 2000 ms 14, 5000 ms 8, beyond 3; then drawn toward the middle",
  disputes:
    "about paid calls, filed in the last 30 days, and decided: none 25; all of them denied 24; else by upheld disputes / " +
    "counted calls: below 1% 20, 5% 15, 10% 8, else 2. Open disputes and disputes about free calls do not count",
  confidence:
    "counted calls / (counted calls + 100). Uptime and latency become 12.5 + (points - 12.5) * confidence, rounded; without " +
    "calls they are 12.5",
  badge:
    "unrated below 100 counted calls or 3 counted consumers; then basic from 25, trusted from 50, verified from 75 with at " +
    "least a verified domain. A provider whose tools are all free stays unrated",
  evidence:
    "a consumer counts once it paid the provider $1 in 30 days, net of refunds, for calls through the proxy. Counted calls " +
    "are its paid calls without refunded ones, and its failed calls up to the same number. Rates are weighted by what was " +
    "paid. Free calls, reported calls, passed cancellations, and calls between a provider and a consumer of the same email " +
    "address do not count. Input that the provider rejected does not count up to 5% of a consumer's calls, and counts as " +
    "failed beyond"
} as const

// Advice on raising a score, component by component, from the same figures and steps as the score.

/** One or two sentences each; undefined if there is nothing to gain. */
export type TrustAdvice = Readonly<Record<keyof TrustScore["components"] | "badge", string | undefined>>

const MOST = 25

export const adviceOf = (evidence: TrustEvidence): TrustAdvice => {
  const { components } = trustOf(evidence)
  const measured = (points: number, step: string | undefined) => (points >= MOST ? undefined : joined(step, evidence))
  return {
    verification: verificationAdvice(evidence),
    uptime: measured(components.uptime, uptimeStep(evidence)),
    latency: measured(components.latency, latencyStep(evidence)),
    disputes: disputesAdvice(evidence),
    badge: badgeAdvice(evidence)
  }
}

const PROOFS = {
  email: "your mailbox",
  domain: "your endpoint's domain",
  code: "your source repository"
} as const

const verificationAdvice = ({ level }: TrustEvidence): string | undefined => {
  const better = (["email", "domain", "code"] as const).filter(
    (one) => VERIFICATION_POINTS[one] > VERIFICATION_POINTS[level]
  )
  if (better.length === 0) return undefined
  return `Verify ${better.map((one) => `${PROOFS[one]} (${VERIFICATION_POINTS[one]})`).join(", or ")}: the highest one counts.`
}

/** The next step up, if any, and the effect of a small sample. */
const joined = (step: string | undefined, { calls }: TrustEvidence): string => {
  if (calls === 0) {
    return "Not enough calls yet: only calls of consumers that paid you at least $1 in 30 days count."
  }
  const share = Math.floor((calls / (calls + HALF_CONFIDENCE_CALLS)) * 100)
  const sample = `${calls} ${calls === 1 ? "call counts" : "calls count"} for ${share}% of the points; the rest are the default, 12.5.`
  return step === undefined ? `The highest level for this number of calls: ${sample}` : `${step} ${sample}`
}

const uptimeStep = ({ successRate }: TrustEvidence): string | undefined => {
  if (successRate === undefined) return undefined
  const next = UPTIME_POINTS.findLast(([, points]) => points > uptimePoints(successRate))
  const now = `${Math.floor(successRate * 10_000) / 100}% of calls succeed`
  return next === undefined ? undefined : `${now}; from ${next[0]}% it is worth ${next[1]}.`
}

const latencyStep = ({ p95Ms }: TrustEvidence): string | undefined => {
  if (p95Ms === undefined) return undefined
  const next = LATENCY_POINTS.findLast(([, points]) => points > latencyPoints(p95Ms))
  return next === undefined
    ? undefined
    : `p95 latency is ${Math.round(p95Ms)} ms; up to ${next[0]} ms it is worth ${next[1]}.`
}

const disputesAdvice = ({ calls, disputes }: TrustEvidence): string | undefined => {
  if (disputes.upheld === 0) return undefined
  const next = DISPUTE_POINTS.findLast(([, points]) => points > disputePoints(disputes, calls))
  const step =
    next === undefined ? "" : ` Below ${next[0] * 100}% of calls it is worth ${next[1]}, without any ${MOST}.`
  return `Contest unjustified disputes: denied ones cost nothing. Each counts for 30 days.${step}`
}

const badgeAdvice = (evidence: TrustEvidence): string | undefined => {
  const { calls, consumers, level } = evidence
  if (calls < RATED_CALLS_MIN || consumers < RATED_CONSUMERS_MIN) {
    return (
      `A badge needs ${RATED_CALLS_MIN} counted calls by ${RATED_CONSUMERS_MIN} consumers that paid you at least $1 each in ` +
      `30 days; there are ${calls} by ${consumers}.`
    )
  }
  const isProven = level === "domain" || level === "code"
  return trustOf({ ...evidence, level: "code" }).badge === "verified" && !isProven
    ? "The badge `verified` needs a verified domain or repository."
    : undefined
}

// The trust score of traffic that this service did not meter: the same rules, applied to your own observations of one
// provider.

/** One call that you observed, of any system. */
export interface ObservedCall {
  /** The caller: any name, the same for all calls of one consumer. */
  readonly consumer: string
  readonly outcome: ReceiptStatus
  readonly latencyMs: number
  /**
   * Rates are weighted by cost, and a consumer counts once its calls cost $1. If your calls have no price, give each the
   * same cost, such as $1.
   */
  readonly cost: Microcents
  /** True for a call that failed because the provider rejected its input. */
  readonly inputRejected?: boolean
  /** A decided dispute of the consumer about this call. An upheld one refunds its cost. */
  readonly dispute?: "upheld" | "denied"
}

/** The calls of one provider that `scoreTraffic` scores. */
export interface Traffic {
  readonly level: VerificationLevel
  /**
   * Calls of one provider, usually of the last 30 days. Leave out calls that their caller canceled, and calls of the
   * provider itself.
   */
  readonly calls: ReadonlyArray<ObservedCall>
}

/** A score and its explanation. `scoringGuide` (TrustScore.ts) has the formula in words. */
export interface Scored {
  readonly trust: TrustScore
  /** The evidence that counted, after the rules about consumers, refunds and rejected input. */
  readonly evidence: TrustEvidence
  readonly advice: TrustAdvice
}

/** The score that these calls would give a provider, with its evidence and advice. */
export const scoreTraffic = ({ calls, level }: Traffic): Scored => {
  const consumers = [...Map.groupBy(calls, ({ consumer }) => consumer as ConsumerId)]
  const pairs = consumers.map(([consumer, theirs]) => paidCallsOf(consumer, theirs.map(measured)))
  const rulings = consumers.map(([consumer, theirs]) => rulingsOf(consumer, theirs))
  return scoreOf({ level, ...countedCallsOf(pairs, rulings), disputes: scoredDisputesOf(rulings) })
}

export const scoreOf = (evidence: TrustEvidence): Scored => ({
  trust: trustOf(evidence),
  evidence,
  advice: adviceOf(evidence)
})

const measured = ({ cost, inputRejected, latencyMs, outcome }: ObservedCall) => ({
  receipt: { cost_microcents: cost, duration_ms: latencyMs, status: outcome },
  cause: inputRejected === true && outcome === "error" ? ("input_rejected" as const) : undefined
})

/** Disputes about calls without a cost do not count. */
const rulingsOf = (consumerId: ConsumerId, calls: ReadonlyArray<ObservedCall>): ConsumerRulings => {
  const disputed = calls.filter(({ cost, dispute }) => dispute !== undefined && cost > 0n)
  const refunded = disputed.filter(({ dispute }) => dispute === "upheld")
  return {
    consumerId,
    upheld: refunded.length,
    denied: disputed.length - refunded.length,
    refundedCalls: refunded.filter(({ outcome }) => outcome === "success").length,
    refundedMicrocents: refunded.reduce((total, { cost }) => total + cost, 0n)
  }
}
