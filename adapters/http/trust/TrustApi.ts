/**
 * Trust in providers: verification, service levels, trust score.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { BADGES, VERIFICATION_LEVELS } from "../../../domain/trust/TrustScore.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { publicRead, readBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Bounded, Line, toolIdOrName } from "../contract/InputSchemas.ts"
import { PROVIDER_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { message, providerId } from "../contract/SharedFields.ts"

// Service levels and trust scores of providers and tools on the wire.

const UPTIME = "Success rate in percent, without calls with rejected input up to 5% of all calls. `null`: no calls."
const REJECTED = "Number of calls whose input the provider rejected (JSON-RPC -32602)."

export const verificationLevel = Field.of(
  Schema.Literals(VERIFICATION_LEVELS),
  "Highest verification level of the provider."
)
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

const ToolSla = Field.object("ToolSla", "Service level of a tool over 30 days.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  provider_id: shared.providerId,
  period,
  period_start: Field.timestamp("Start of the period: the start of a day (UTC).", "2026-10-22T00:00:00.000Z"),
  ...measured,
  by_day: byDay
})

const ProviderSla = Field.object("ProviderSla", "Service level of a provider over 30 days.", {
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

const ProviderTrust = Field.object("ProviderTrust", "Trust score of a provider, with its evidence.", {
  provider_id: shared.providerId,
  provider_name: shared.providerName,
  trust_score: trustScore,
  badge: Field.of(Schema.Literals(BADGES), "Badge for the trust score.", "verified"),
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

const VerifyProvider = Field.object("VerifyProvider", "The requested verification.", {
  level: Field.of(Schema.Literals(["email", "domain", "code"]), "Verification level to request."),
  domain: Field.optional(Line(253), "For `domain`: the host of your endpoint, or a parent domain of it."),
  repo_url: Field.optional(Line(500), "For `code`: the URL of the source repository."),
  token: Field.optional(Bounded(200), "For `email`: the token from the email.")
}).annotate({ examples: [{ level: "email" }] })

const Challenge = Field.object("VerificationChallenge", "What to publish or to send back.", {
  type: Field.of(
    Schema.Literals(["email", "dns_txt_or_well_known", "repository_file"]),
    "Where the token was sent, or where to publish the record.",
    "dns_txt_or_well_known"
  ),
  record_name: Field.string("Name of the record or file.", "_mcp-billing-verify.tools.example.org"),
  record_value: Field.string("Content of the record or file.", "mcp-billing-verify=0193f9c2-7d5e0a"),
  expires_at: Field.timestamp("Time when the challenge expires.", "2026-11-27T09:30:00.000Z"),
  instructions: Field.string("Instructions in one sentence.", "Publish this text, then repeat this request.")
})

const ProviderVerification = Field.object("ProviderVerification", "The verification, and the next step.", {
  verified: Field.boolean("Whether the requested level is verified.", false),
  provider_id: providerId,
  verification_level: verificationLevel,
  challenge: Field.nullable(Challenge, "The challenge. `null`: the requested level is verified.", {
    type: "dns_txt_or_well_known",
    record_name: "_mcp-billing-verify.tools.example.org",
    record_value: "mcp-billing-verify=0193f9c2-7d5e0a",
    expires_at: "2026-11-27T09:30:00.000Z",
    instructions: "Publish this text, then repeat this request."
  }),
  verified_at: Field.nullableTimestamp("Time since when `verification_level` holds. `null`: unverified."),
  message: message("Publish the record, then repeat this request.")
})

const Texts = Schema.Record(Schema.String, Schema.String)
export const verificationLevels = Field.of(Texts, "Verification levels, each with its meaning.", {
  unverified: "Nothing is verified."
})
export const trustBadges = Field.of(Texts, "Badges, each with its meaning.", { basic: "Trust score of at least 25." })

const VerificationGuide = Field.object("VerificationGuide", "How to verify a provider.", {
  ...Endpoint.SelfDescription.fields,
  auth: Field.string("How to authenticate.", "Authorization: Bearer <provider key>"),
  verification_levels: verificationLevels,
  trust_badges: trustBadges
})

const SigningSecret = Field.object("SigningSecret", "How requests to your server are signed.", {
  provider_id: Field.of(ProviderId, "ID of the provider.", PROVIDER_ID),
  algorithm: Field.always("HMAC-SHA256", "Algorithm of the signature."),
  secret: Field.string("Signing secret, used as UTF-8 text. Keep it confidential.", "6b1f…"),
  signature_header: Field.always("X-Market-Signature", "Header with the signature in lowercase hex."),
  signed_text: Field.string(
    "Signed text: the values of the `X-Market-*` headers of the same names, and the SHA-256 of the body in hex.",
    "market-v1\n<timestamp>\n<consumer>\n<tool>\n<invocation>\n<body>"
  )
})

const VERIFY_PATH = "/api/v1/market/providers/verify"

export class TrustApi extends HttpApiGroup.make("trust")
  .add(
    Endpoint.post("verify", VERIFY_PATH, {
      access: readBy("provider"),
      summary: "Verify your mailbox, domain or repository",
      description:
        "The first request returns a challenge: a token sent to your mailbox, or a record to publish. The same request again " +
        "checks it. Published records are checked every day: do not remove them.",
      payload: VerifyProvider,
      success: ProviderVerification,
      problems: [502, "NOT_CONFIGURED"]
    }),
    Endpoint.get("describeVerify", VERIFY_PATH, {
      access: publicRead,
      summary: "Describe provider verification",
      description: "Returns the verification levels, the badges, and the JSON Schema of the request body.",
      success: VerificationGuide
    }),
    Endpoint.get("signingSecret", "/api/v1/market/providers/signing-secret", {
      access: readBy("provider"),
      summary: "Retrieve your signing secret",
      description:
        "Returns the secret that signs every request to your server. Verify the signature and reject requests without a valid " +
        "one. The secret changes when the operator rotates the service's own signing secret.",
      success: SigningSecret
    }),
    Endpoint.get("sla", "/api/v1/market/providers/:id/sla", {
      access: publicRead,
      summary: "Retrieve the service level of a provider",
      description:
        "Covers proxied calls of 30 days, to the full hour, without the provider's own calls, reported calls and " +
        "cancellations passed to the provider. Calls whose input the provider rejected (JSON-RPC -32602) are left out of " +
        "uptime and error rate up to 5% of all calls; beyond that they count as errors.",
      params: { id: providerId },
      success: ProviderSla
    }),
    Endpoint.get("toolSla", "/api/v1/market/tools/:id/sla", {
      access: publicRead,
      summary: "Retrieve the service level of a tool",
      description:
        "Covers proxied calls of 30 days (UTC) including today, by the rules of the provider's service level. Also available " +
        "for withdrawn tools.",
      params: { id: toolIdOrName },
      success: ToolSla
    }),
    Endpoint.get("score", "/api/v1/market/providers/:id/trust", {
      access: publicRead,
      summary: "Retrieve the trust score of a provider",
      description:
        "Returns a score from 0 to 100 by a published formula, with its evidence. Only consumers that paid the provider at " +
        "least $1 in 30 days, net of refunds, count: see `scoring_guide`.",
      params: { id: providerId },
      success: ProviderTrust
    })
  )
  .annotateMerge(Endpoint.about("Trust", "Verification, service levels and trust scores of providers.")) {}
