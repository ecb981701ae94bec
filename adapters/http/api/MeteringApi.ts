/**
 * Reports of calls outside the proxy, and the grants that permit providers to bill them.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, KeyAuth, readBy, writeBy } from "./Access.ts"
import { GiveGrant, grantId, GrantList, OneGrant, RevokedGrant } from "./Grants.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { Metered, MeteredCall, MeteredEvent } from "./MeteredCall.ts"
import { problems } from "./ProblemSchemas.ts"
import { describing } from "./SelfDescription.ts"

const revocation = { headers: idempotencyHeader, success: RevokedGrant, error: problems(400, 401, 403, 404, 409) }

export class MeteringApi extends HttpApiGroup.make("metering")
  .add(
    HttpApiEndpoint.post("meter", "/api/v1/market/meter", {
      headers: idempotencyHeader,
      payload: Schema.Union([MeteredEvent, MeteredCall]).annotate({
        examples: [{ tool_name: "ada-tools/search", success: true }]
      }),
      success: Metered.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 402, 403, 404, 409, 410, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer", "provider"),
          "Report a call",
          "Records a call outside the proxy. A consumer reports its own call and is billed as by the proxy. A provider reports " +
            "a call of its own tool and can bill a consumer only within a grant; without `agent_id` it is a test call."
        )
      ),
    describing("describeMeter", "/api/v1/market/meter"),
    HttpApiEndpoint.get("listGrants", "/api/v1/market/grants", { success: GrantList, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(readBy("consumer"), "List your grants", "Newest first, including revoked and expired grants.")
      ),
    HttpApiEndpoint.post("giveGrant", "/api/v1/market/grants", {
      headers: idempotencyHeader,
      payload: GiveGrant,
      success: OneGrant.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Create a grant",
          "Permits a provider to bill you for calls outside the proxy, up to a limit, until the grant expires or is revoked."
        )
      ),
    HttpApiEndpoint.delete("revokeGrant", "/api/v1/market/grants/:grant_id", {
      params: { grant_id: grantId },
      ...revocation
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Revoke a grant",
          "The provider can no longer bill under the grant. Calls billed before stay billed."
        )
      ),
    HttpApiEndpoint.delete("revokeGrantByQuery", "/api/v1/market/grants", {
      query: { grant_id: grantId },
      ...revocation
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Revoke a grant by query parameter",
          "Same as `DELETE /api/v1/market/grants/{grant_id}`, for clients that send IDs in the query."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Metering",
      description: "Calls outside the proxy, and the grants that permit providers to bill them."
    })
  ) {}
