/**
 * Reports of calls outside the proxy, and the grants that permit providers to bill them.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readBy, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { GiveGrant, grantId, GrantList, OneGrant, RevokedGrant } from "./GrantBodies.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { Metered, MeteredCall, MeteredEvent } from "./MeteredCall.ts"
import { describing } from "./SelfDescription.ts"

export class MeteringApi extends HttpApiGroup.make("metering")
  .add(
    Endpoint.post("meter", "/api/v1/market/meter", {
      access: readBy("consumer", "provider"),
      summary: "Report a call",
      description:
        "Records a call outside the proxy. A consumer reports its own call and is billed as by the proxy. A provider reports " +
        "a call of its own tool and can bill a consumer only within a grant; without `agent_id` it is a test call.",
      headers: idempotencyHeader,
      payload: Schema.Union([MeteredEvent, MeteredCall]).annotate({
        examples: [{ tool_name: "ada-tools/search", success: true }]
      }),
      success: Metered.pipe(HttpApiSchema.status(201)),
      problems: [402, 404, 409, 410]
    }),
    describing("describeMeter", "/api/v1/market/meter"),
    Endpoint.get("listGrants", "/api/v1/market/grants", {
      access: readBy("consumer"),
      summary: "List your grants",
      description: "Newest first, including revoked and expired grants.",
      success: GrantList
    }),
    Endpoint.post("giveGrant", "/api/v1/market/grants", {
      access: writeBy("consumer"),
      summary: "Create a grant",
      description:
        "Permits a provider to bill you for calls outside the proxy, up to a limit, until the grant expires or is revoked.",
      payload: GiveGrant,
      success: OneGrant.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.delete("revokeGrant", "/api/v1/market/grants/:grant_id", {
      access: writeBy("consumer"),
      summary: "Revoke a grant",
      description: "The provider can no longer bill under the grant. Calls billed before stay billed.",
      params: { grant_id: grantId },
      success: RevokedGrant
    }),
    Endpoint.delete("revokeGrantByQuery", "/api/v1/market/grants", {
      access: writeBy("consumer"),
      summary: "Revoke a grant by query parameter",
      description: "Same as `DELETE /api/v1/market/grants/{grant_id}`, for clients that send IDs in the query.",
      query: { grant_id: grantId },
      success: RevokedGrant,
      problems: [404]
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Metering",
      description: "Calls outside the proxy, and the grants that permit providers to bill them."
    })
  ) {}
