/**
 * Who a provider is, and how it does: verification, SLA, trust score.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Badge, VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import { Access, KeyAuth, publicRead, readBy } from "./Access.ts"
import { Text, ToolIdOrName } from "./Fields.ts"
import { problems } from "./Problem.ts"
import { SelfDescription } from "./SelfDescription.ts"

export const VERIFY_PATH = "/api/v1/market/providers/verify"

export const VerifyProvider = Schema.Struct({
  level: Schema.Literals(["email", "domain", "code"]),
  domain: Schema.optionalKey(Text(253)),
  repo_url: Schema.optionalKey(Text(500)),
  token: Schema.optionalKey(Text(200))
}).annotate({ identifier: "VerifyProvider", examples: [{ level: "domain", domain: "tools.example.org" }] })

const Challenge = Schema.Struct({
  type: Schema.Literals(["email", "dns_txt_or_well_known", "repository_file"]),
  record_name: Schema.String,
  record_value: Schema.String,
  expires_at: Timestamp,
  instructions: Schema.String
}).annotate({ identifier: "VerificationChallenge" })

const Verified = Schema.Struct({
  verified: Schema.Boolean,
  provider_id: ProviderId,
  verification_level: VerificationLevel,
  challenge: Schema.NullOr(Challenge),
  verified_at: Schema.NullOr(Timestamp),
  message: Schema.String
}).annotate({ identifier: "ProviderVerification" })

const Words = Schema.Record(Schema.String, Schema.String)

const VerificationGuide = Schema.Struct({
  ...SelfDescription.fields,
  auth: Schema.String,
  verification_levels: Words,
  trust_badges: Words
}).annotate({ identifier: "VerificationGuide" })

const figure = Schema.NullOr(Schema.Finite)

const SlaDay = Schema.Struct({
  date: Schema.String,
  calls: Schema.Int,
  successful: Schema.Int,
  errors: Schema.Int,
  timeouts: Schema.Int,
  input_rejected: Schema.Int,
  uptime: figure,
  p95_latency_ms: figure
}).annotate({ identifier: "SlaDay" })

const Measured = {
  period: Schema.Literal("30d"),
  period_start: Timestamp,
  period_end: Timestamp,
  uptime_30d: figure,
  avg_latency_ms: figure,
  p50_latency_ms: figure,
  p95_latency_ms: figure,
  p99_latency_ms: figure,
  error_rate_30d: figure,
  total_calls_30d: Schema.Int,
  successful_calls_30d: Schema.Int,
  error_calls_30d: Schema.Int,
  timeout_calls_30d: Schema.Int,
  input_rejected_calls_30d: Schema.Int,
  input_rejected_rate_30d: figure,
  receipts_issued: Schema.Int
}

const ToolSla = Schema.Struct({
  tool_id: ToolId,
  tool_name: Schema.String,
  provider_id: ProviderId,
  ...Measured,
  by_day: Schema.Array(SlaDay)
}).annotate({ identifier: "ToolSla" })

const Sla = Schema.Struct({
  provider_id: ProviderId,
  provider_name: Schema.String,
  ...Measured,
  disputes: Schema.Int,
  verification_level: VerificationLevel,
  verified_at: Schema.NullOr(Timestamp),
  by_day: Schema.Array(SlaDay)
}).annotate({ identifier: "ProviderSla" })

const Trust = Schema.Struct({
  provider_id: ProviderId,
  provider_name: Schema.String,
  trust_score: Schema.Int,
  badge: Badge,
  components: Schema.Struct({
    verification: Schema.Int,
    uptime: Schema.Int,
    latency: Schema.Int,
    disputes: Schema.Int
  }).annotate({ identifier: "TrustComponents" }),
  details: Schema.Struct({
    verification_level: VerificationLevel,
    verified_at: Schema.NullOr(Timestamp),
    total_calls_30d: Schema.Int,
    counted_calls_30d: Schema.Int,
    distinct_consumers_30d: Schema.Int,
    success_rate: figure,
    p95_latency_ms: figure,
    total_disputes: Schema.Int,
    upheld_disputes: Schema.Int,
    denied_disputes: Schema.Int,
    counted_disputes_30d: Schema.Int,
    confidence: Schema.Finite
  }).annotate({ identifier: "TrustDetails" }),
  history: Schema.Array(
    Schema.Struct({ date: Schema.String, trust_score: Schema.Int }).annotate({ identifier: "TrustOfDay" })
  ),
  improve: Schema.Struct({
    verification: Schema.NullOr(Schema.String),
    uptime: Schema.NullOr(Schema.String),
    latency: Schema.NullOr(Schema.String),
    disputes: Schema.NullOr(Schema.String),
    badge: Schema.NullOr(Schema.String)
  }).annotate({ identifier: "TrustAdvice" }),
  scoring_guide: Words
}).annotate({ identifier: "ProviderTrust" })

const SigningSecret = Schema.Struct({
  provider_id: ProviderId,
  algorithm: Schema.Literal("HMAC-SHA256"),
  secret: Schema.String,
  signature_header: Schema.Literal("X-Market-Signature"),
  signed_text: Schema.String
}).annotate({ identifier: "SigningSecret" })

const provider = { id: ProviderId }

export class TrustApi extends HttpApiGroup.make("trust")
  .add(
    HttpApiEndpoint.post("verify", VERIFY_PATH, {
      payload: VerifyProvider,
      success: Verified,
      error: problems(400, 401, 403, 413, 415, 422, 502)
    })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Prove who you are",
          description:
            "The first call gives a challenge: a token in your mailbox, or a text to publish. The same call again has it " +
            "checked. Published proofs are looked at every day: leave them where they are."
        })
      ),
    HttpApiEndpoint.get("describeVerify", VERIFY_PATH, { success: VerificationGuide, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How to prove who you are",
          description: "The levels, the badges, and the JSON Schema of the POST's body."
        })
      ),
    HttpApiEndpoint.get("signingSecret", "/api/v1/market/providers/signing-secret", {
      success: SigningSecret,
      error: problems(401, 403)
    })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Your signing secret",
          description:
            "The secret that every request to your server is signed with: check it, and refuse what did not come through this " +
            "market. It is yours alone. It changes when the operator replaces the service's own signing secret."
        })
      ),
    HttpApiEndpoint.get("sla", "/api/v1/market/providers/:id/sla", {
      params: provider,
      success: Sla,
      error: problems(404)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How a provider did",
          description:
            "Thirty days of the proxy's own traffic, to the full hour. Calls that a provider made to itself, reported calls and " +
            "cancellations that were passed on are left out. Calls whose input the provider rejected (JSON-RPC -32602) leave " +
            "uptime and error rate up to 5% of all calls; the rest count as errors in both."
        })
      ),
    HttpApiEndpoint.get("toolSla", "/api/v1/market/tools/:id/sla", {
      params: { id: ToolIdOrName },
      success: ToolSla,
      error: problems(404)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How a tool did",
          description:
            "Thirty days (UTC) of the proxy's own traffic, today with them, by the rules of a provider's SLA. A tool that was " +
            "withdrawn keeps its figures."
        })
      ),
    HttpApiEndpoint.get("score", "/api/v1/market/providers/:id/trust", {
      params: provider,
      success: Trust,
      error: problems(404)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How far to trust a provider",
          description:
            "A score from 0 to 100 by a published formula, with everything that it was made of. Only consumers that paid the " +
            "provider at least $1 in 30 days, net of refunds, count; `scoring_guide` has the details."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Trust", description: "Who a provider is, how it does, and how far to trust it." })
  ) {}
