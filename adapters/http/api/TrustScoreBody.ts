/**
 * A provider's trust score on the wire.
 */
import { Schema } from "effect"
import { Badge } from "../../../domain/trust/TrustScore.ts"
import * as Field from "./Field.ts"
import * as shared from "./SharedFields.ts"
import { verificationLevel, verifiedAt } from "./SlaBodies.ts"

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
