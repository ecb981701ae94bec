/**
 * Trust in providers: verification, service levels, trust score.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { publicRead, readBy } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Bounded, Line, toolIdOrName } from "../contract/InputSchemas.ts"
import { PROVIDER_ID } from "../contract/SampleValues.ts"
import { message, providerId } from "../contract/SharedFields.ts"
import { ProviderSla, ProviderTrust, ToolSla, verificationLevel } from "./TrustBodies.ts"

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

export const VERIFY_PATH = "/api/v1/market/providers/verify"

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
      problems: [502]
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
