/**
 * Trust in providers: verification, service levels, trust score.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, KeyAuth, publicRead, readBy } from "./Access.ts"
import { toolIdOrName } from "./InputSchemas.ts"
import { problems } from "./ProblemSchemas.ts"
import { providerId } from "./SharedFields.ts"
import { ProviderSla, ToolSla } from "./Sla.ts"
import { ProviderTrust } from "./TrustScore.ts"
import { ProviderVerification, SigningSecret, VerificationGuide, VerifyProvider } from "./Verification.ts"

export const VERIFY_PATH = "/api/v1/market/providers/verify"

export class TrustApi extends HttpApiGroup.make("trust")
  .add(
    HttpApiEndpoint.post("verify", VERIFY_PATH, {
      payload: VerifyProvider,
      success: ProviderVerification,
      error: problems(400, 401, 403, 413, 415, 422, 502)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "Verify your mailbox, domain or repository",
          "The first request returns a challenge: a token sent to your mailbox, or a record to publish. The same request again " +
            "checks it. Published records are checked every day: do not remove them."
        )
      ),
    HttpApiEndpoint.get("describeVerify", VERIFY_PATH, {
      success: VerificationGuide,
      error: problems()
    }).annotateMerge(
      about(
        publicRead,
        "Describe provider verification",
        "Returns the verification levels, the badges, and the JSON Schema of the request body."
      )
    ),
    HttpApiEndpoint.get("signingSecret", "/api/v1/market/providers/signing-secret", {
      success: SigningSecret,
      error: problems(401, 403)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "Retrieve your signing secret",
          "Returns the secret that signs every request to your server. Verify the signature and reject requests without a valid " +
            "one. The secret changes when the operator rotates the service's own signing secret."
        )
      ),
    HttpApiEndpoint.get("sla", "/api/v1/market/providers/:id/sla", {
      params: { id: providerId },
      success: ProviderSla,
      error: problems(404)
    }).annotateMerge(
      about(
        publicRead,
        "Retrieve the service level of a provider",
        "Covers proxied calls of 30 days, to the full hour, without the provider's own calls, reported calls and " +
          "cancellations passed to the provider. Calls whose input the provider rejected (JSON-RPC -32602) are left out of " +
          "uptime and error rate up to 5% of all calls; beyond that they count as errors."
      )
    ),
    HttpApiEndpoint.get("toolSla", "/api/v1/market/tools/:id/sla", {
      params: { id: toolIdOrName },
      success: ToolSla,
      error: problems(404)
    }).annotateMerge(
      about(
        publicRead,
        "Retrieve the service level of a tool",
        "Covers proxied calls of 30 days (UTC) including today, by the rules of the provider's service level. Also available " +
          "for withdrawn tools."
      )
    ),
    HttpApiEndpoint.get("score", "/api/v1/market/providers/:id/trust", {
      params: { id: providerId },
      success: ProviderTrust,
      error: problems(404)
    }).annotateMerge(
      about(
        publicRead,
        "Retrieve the trust score of a provider",
        "Returns a score from 0 to 100 by a published formula, with its evidence. Only consumers that paid the provider at " +
          "least $1 in 30 days, net of refunds, count: see `scoring_guide`."
      )
    )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Trust", description: "Verification, service levels and trust scores of providers." })
  ) {}
