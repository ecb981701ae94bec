/**
 * Trust in providers: verification, service levels, trust score.
 */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { publicRead, readBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { toolIdOrName } from "./InputSchemas.ts"
import { providerId } from "./SharedFields.ts"
import { ProviderSla, ToolSla } from "./SlaBodies.ts"
import { ProviderTrust } from "./TrustScoreBody.ts"
import { ProviderVerification, SigningSecret, VerificationGuide, VerifyProvider } from "./VerificationBodies.ts"

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
  .annotateMerge(
    OpenApi.annotations({ title: "Trust", description: "Verification, service levels and trust scores of providers." })
  ) {}
