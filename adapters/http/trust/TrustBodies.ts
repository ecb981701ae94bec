/**
 * Service levels and trust scores of providers and tools on the wire.
 */
import { Schema } from "effect"
import { Badge, VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import * as Field from "../contract/Field.ts"
import * as shared from "../contract/SharedFields.ts"

const UPTIME = "Success rate in percent, without calls with rejected input up to 5% of all calls. `null`: no calls."
const REJECTED = "Number of calls whose input the provider rejected (JSON-RPC -32602)."

export const verificationLevel = Field.of(VerificationLevel, "Highest verification level of the provider.")
const verifiedAt = Field.nullableTimestamp(
  "Time since when the verification level holds. `null`: unverified.",
  "2026-11-02T10:00:00.000Z"
)
const latency = (which: string, example: number) =>
  Field.nullableNumber(`${which} latency in milliseconds. \`null\`: no calls.`, example)

const byDay = Field.list(
  Field.object("SlaDay", "One day (UTC).", {
    date: shared.date,
    calls: Field.int("Number of calls.", 40),
    successful: Field.int("Number of successful calls.", 40),
    errors: Field.int("Number of failed calls.", 0),
    timeouts: Field.int("Number of calls that timed out.", 0),
    input_rejected: Field.int(REJECTED, 0),
    uptime: Field.nullableNumber(UPTIME, 100),
    p95_latency_ms: latency("p95", 210)
  }),
  "Days of the period, oldest first."
)

const period = Field.always("30d")
const measured = {
  period_end: Field.timestamp("End of the period: now."),
  uptime_30d: Field.nullableNumber(UPTIME, 99.41),
  avg_latency_ms: latency("Average", 91),
  p50_latency_ms: latency("p50", 80),
  p95_latency_ms: latency("p95", 210),
  p99_latency_ms: latency("p99", 480),
  error_rate_30d: Field.nullableNumber(
    "Error rate from 0 to 1, over the calls of `uptime_30d`. `null`: no calls.",
    0.0059
  ),
  total_calls_30d: Field.int("Number of calls through the proxy.", 1_204),
  successful_calls_30d: Field.int("Number of successful calls.", 1_197),
  error_calls_30d: Field.int("Number of failed calls, without timeouts and rejected input.", 5),
  timeout_calls_30d: Field.int("Number of calls that timed out.", 2),
  input_rejected_calls_30d: Field.int(REJECTED, 0),
  input_rejected_rate_30d: Field.nullableNumber(
    "Share of calls with rejected input, from 0 to 1. `null`: no calls.",
    0
  ),
  receipts_issued: Field.int("Number of receipts; equals the number of calls.", 1_204)
}

export const ToolSla = Field.object("ToolSla", "Service level of a tool over 30 days.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  provider_id: shared.providerId,
  period,
  period_start: Field.timestamp("Start of the period: the start of a day (UTC).", "2026-10-22T00:00:00.000Z"),
  ...measured,
  by_day: byDay
})

export const ProviderSla = Field.object("ProviderSla", "Service level of a provider over 30 days.", {
  provider_id: shared.providerId,
  provider_name: shared.providerName,
  period,
  period_start: Field.timestamp("Start of the period: a full hour.", "2026-10-21T09:00:00.000Z"),
  ...measured,
  disputes: Field.int("Number of disputes against the provider.", 1),
  verification_level: verificationLevel,
  verified_at: verifiedAt,
  by_day: byDay
})

const trustScore = Field.int("Trust score from 0 to 100.", 78)

const Components = Field.object("TrustComponents", "Components of the trust score, each from 0 to 25.", {
  verification: Field.int("Points for the verification level.", 20),
  uptime: Field.int("Points for the success rate.", 20),
  latency: Field.int("Points for the p95 latency.", 18),
  disputes: Field.int("Points for few disputes.", 20)
})

const Details = Field.object("TrustDetails", "Evidence that the score is computed from.", {
  verification_level: verificationLevel,
  verified_at: verifiedAt,
  total_calls_30d: Field.int("Number of calls through the proxy.", 1_204),
  counted_calls_30d: Field.int("Number of calls that count for the score: see `scoring_guide.evidence`.", 1_150),
  distinct_consumers_30d: Field.int(
    "Number of consumers that paid the provider at least $1 in 30 days, net of refunds.",
    17
  ),
  success_rate: Field.nullableNumber(
    "Success rate of the counted calls from 0 to 1, weighted by what their consumers paid. `null`: no calls.",
    0.994186
  ),
  p95_latency_ms: Field.nullableNumber(
    "p95 latency of the counted paid calls, rounded up to a step of the formula; beyond the last step, the longest call. " +
      "`null`: no calls.",
    500
  ),
  total_disputes: Field.int("Number of disputes, including open ones and those about free calls.", 1),
  upheld_disputes: Field.int("Number of disputes that ended in a refund.", 0),
  denied_disputes: Field.int("Number of denied disputes.", 1),
  counted_disputes_30d: Field.int(
    "Number of disputes about paid calls that ended in a refund; they lower the score.",
    0
  ),
  confidence: Field.of(
    Schema.Finite,
    "Weight of the measured uptime and latency from 0 to 1: counted calls / (counted calls + 100).",
    0.92
  )
})

const Advice = Field.object("TrustAdvice", "How to improve each component. `null`: nothing to improve.", {
  verification: Field.nullableString("How to improve the verification.", "Verify your source repository (25 points)."),
  uptime: Field.nullableString("How to improve the uptime.", "99.41% of calls succeed; 99.5% scores 23 points."),
  latency: Field.nullableString("How to improve the latency.", "p95 latency is 500 ms; 200 ms scores 25 points."),
  disputes: Field.nullableString("How to reduce disputes."),
  badge: Field.nullableString("What the next badge requires.")
})

export const ProviderTrust = Field.object("ProviderTrust", "Trust score of a provider, with its evidence.", {
  provider_id: shared.providerId,
  provider_name: shared.providerName,
  trust_score: trustScore,
  badge: Field.of(Badge, "Badge for the trust score.", "verified"),
  components: Field.of(Components, "Components of the trust score, each from 0 to 25."),
  details: Field.of(Details, "Evidence that the score is computed from."),
  history: Field.list(
    Field.object("TrustOfDay", "Trust score of a day.", { date: shared.date, trust_score: trustScore }),
    "Trust score by day."
  ),
  improve: Field.of(Advice, "How to improve each component."),
  scoring_guide: Field.of(Schema.Record(Schema.String, Schema.String), "The formula.", {
    formula: "trust_score = verification + uptime + latency + disputes"
  })
})
