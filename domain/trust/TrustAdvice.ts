/**
 * What would raise a score, component by component, from the same figures and steps as the score.
 */
import {
  DISPUTE_POINTS,
  disputePoints,
  HALF_CONFIDENCE_CALLS,
  LATENCY_POINTS,
  latencyPoints,
  RATED_CALLS_MIN,
  RATED_CONSUMERS_MIN,
  type TrustEvidence,
  trustOf,
  type TrustScore,
  UPTIME_POINTS,
  uptimePoints,
  VERIFICATION_POINTS
} from "./TrustScore.ts"

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
