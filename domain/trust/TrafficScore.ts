/**
 * The trust score of traffic that this service did not meter: the same rules, applied to your own observations of one
 * provider.
 */
import type { ReceiptStatus } from "../receipts/Receipt.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { countedCallsOf, paidCallsOf } from "./PaidCalls.ts"
import { type ConsumerRulings, scoredDisputesOf } from "./ScoredDisputes.ts"
import { adviceOf, type TrustAdvice } from "./TrustAdvice.ts"
import { type TrustEvidence, trustOf, type TrustScore, type VerificationLevel } from "./TrustScore.ts"

/** One call that you observed, of any system. */
export interface ObservedCall {
  /** Who called: any name, the same for all calls of one consumer. */
  readonly consumer: string
  readonly outcome: ReceiptStatus
  readonly latencyMs: number
  /**
   * Rates are weighted by cost, and a consumer counts once its calls cost $1. If your calls have no price, give each the
   * same cost, such as $1.
   */
  readonly cost: Microcents
  /** Of a call that failed because the provider rejected its input. */
  readonly inputRejected?: boolean
  /** A decided dispute of the consumer about this call. An upheld one refunds its cost. */
  readonly dispute?: "upheld" | "denied"
}

/** The calls of one provider that `scoreTraffic` scores. */
export interface Traffic {
  readonly level: VerificationLevel
  /**
   * Of one provider, usually of the last 30 days. Leave out calls that their caller canceled, and calls of the provider
   * itself.
   */
  readonly calls: ReadonlyArray<ObservedCall>
}

/** A score and its explanation. `scoringGuide` (TrustScore.ts) has the formula in words. */
export interface Scored {
  readonly trust: TrustScore
  /** What counted, after the rules about consumers, refunds and rejected input. */
  readonly evidence: TrustEvidence
  /** What would raise the score, by component. */
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
  const disputed = calls.filter(({ cost, dispute }) => dispute !== undefined && cost > zero)
  const refunded = disputed.filter(({ dispute }) => dispute === "upheld")
  return {
    consumerId,
    upheld: refunded.length,
    denied: disputed.length - refunded.length,
    refundedCalls: refunded.filter(({ outcome }) => outcome === "success").length,
    refundedMicrocents: refunded.reduce((total, { cost }) => total + cost, 0n)
  }
}
