/**
 * Reports of calls outside the proxy, and the grants that permit providers to bill them: bodies and endpoints.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { GRANT_TOOLS_MAX, GrantPeriod } from "../../../domain/metering/Grants.ts"
import { ReceiptStatus } from "../../../domain/receipts/Receipts.ts"
import { ConsumerId, GrantId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { callBy, readBy, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { idempotencyHeader, Instant, IntBetween, takesOtherFields } from "../contract/InputSchemas.ts"
import { BASE_URL, DEMO_TOOL, GRANT_ID, NOW, PROVIDER_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const Count = IntBetween(0, 1_000_000_000)

export const MeteredCall = Field.object("MeteredCall", "A call outside the proxy.", {
  tool_id: Field.optional(ToolId, "ID of the tool. Takes precedence over `tool_name`."),
  tool_name: Field.optional(
    ToolNameSent,
    "Qualified name of the tool (`handle/tool_name`), or its bare name. A consumer's bare name resolves as in the proxy; a " +
      "provider's bare name refers to its own tool."
  ),
  provider_id: Field.optional(
    ProviderId,
    "ID of the provider whose tool `tool_name` refers to. A provider can only send its own."
  ),
  agent_id: Field.optional(
    ConsumerId,
    "ID of the consumer to bill, if a provider reports. Without it, the report is a free test call of the provider."
  ),
  consumer_id: Field.optional(ConsumerId, "Same as `agent_id`."),
  status: Field.optional(ReceiptStatus, "Outcome of the call. Only a successful call is billed."),
  success: Field.optional(Schema.Boolean, "Whether the call was successful."),
  duration_ms: Field.optional(Count, "Duration of the call in milliseconds."),
  input_tokens: Field.optional(Count, "Number of input tokens."),
  output_tokens: Field.optional(Count, "Number of output tokens."),
  tokens_used: Field.optional(Count, "Total number of tokens."),
  cost_microcents: Field.optionalMicrocents("Cost of a call of a usage-priced tool"),
  metadata: Field.optional(Schema.Record(Schema.String, Schema.Json), "Data of your own to store with the call."),
  timestamp: Field.optional(Instant, "Time of the call in ISO 8601. Default: now.")
})
  .check(
    Schema.makeFilter((body) => {
      if (body.tool_id === undefined && body.tool_name === undefined) return "Send `tool_id` or `tool_name`."
      if (body.agent_id !== undefined && body.consumer_id !== undefined && body.agent_id !== body.consumer_id) {
        return "`agent_id` and `consumer_id` must name the same consumer."
      }
      return body.success !== undefined && body.status !== undefined && body.success !== (body.status === "success")
        ? "`success` and `status` contradict each other: send one of them."
        : undefined
    })
  )
  .annotate({
    identifier: "MeteredCall",
    examples: [{ tool_name: DEMO_TOOL, success: true, duration_ms: 42 }]
  })

const EventText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** Other attributes and extensions: CloudEvents 1.0 names them in lowercase letters and digits. */
const CLOUDEVENTS_ATTRIBUTE = /^[a-z0-9]+$/u

export const MeteredEvent = Schema.Struct({
  specversion: Field.always("1.0", "Version of CloudEvents."),
  id: Field.of(EventText, "ID of the event. With `source`, it is the idempotency key."),
  source: Field.of(EventText, "Source of the event."),
  type: Field.of(EventText, "Type of the event; any value."),
  data: Field.of(MeteredCall, "The call.")
}).annotate({
  identifier: "MeteredEvent",
  ...takesOtherFields(CLOUDEVENTS_ATTRIBUTE),
  description: "A call in a CloudEvents 1.0 envelope. `source` and `id` are its idempotency key."
})

const Metered = Field.object("Metered", "The recorded call and its receipt.", {
  metered: Field.always(true),
  recorded: Field.always(true),
  invocation_id: shared.invocationId,
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  agent_id: shared.agentId,
  provider_id: shared.providerId,
  cost_microcents: shared.costMicrocents,
  cost_cents: shared.costCents,
  status: shared.receiptStatus,
  timestamp: Field.timestamp("Time of the call."),
  receipt: Field.of(
    Schema.Struct({
      ...shared.ReceiptBody.fields,
      verify_url: Field.string("URL for verifying the receipt.", `${BASE_URL}/api/v1/verify`)
    }),
    "The receipt, and where to verify it."
  )
})

const capMicrocents = Field.microcents("Limit of what the provider can bill per period", 1_000_000)

const grantId = Field.of(GrantId, "ID of the grant.", GRANT_ID)

const GiveGrant = Field.object("GiveGrant", "The provider, its tools, and the limit.", {
  provider_id: shared.providerId,
  tool_ids: Field.optional(
    Schema.Array(ToolId).check(Schema.isMaxLength(GRANT_TOOLS_MAX)),
    "IDs of the tools. Default: all tools of the provider."
  ),
  cap_microcents: capMicrocents,
  period: Field.optional(GrantPeriod, "Period after which the limit resets; `total`: never. Default: `month`."),
  expires_at: Field.optional(Instant, "Time of expiry in ISO 8601. Default: never.")
})

const Grant = Field.object("Grant", "Permission for a provider to bill you for calls outside the proxy.", {
  grant_id: grantId,
  provider_id: shared.providerId,
  tool_ids: Field.list(ToolId, "IDs of the tools. Empty: all tools of the provider.", []),
  cap_microcents: capMicrocents,
  spent_microcents: Field.microcents("Amount billed in this period", 12_500),
  period: Field.of(GrantPeriod, "Period after which the limit resets; `total`: never.", "month"),
  status: Field.of(Schema.Literals(["active", "expired", "revoked"]), "Status of the grant."),
  created_at: shared.createdAt,
  expires_at: shared.expiresAt,
  revoked_at: Field.nullableTimestamp("Time of revocation. `null`: not revoked.")
})

const GrantList = Field.object("Grants", "Your grants, including revoked and expired ones.", {
  grants: Field.list(Grant, "Grants, newest first."),
  total: Field.int("Number of grants in the list.", 1)
})

const OneGrant = Field.object("OneGrant", "The new grant.", { grant: Field.of(Grant, "The grant.") })

const RevokedGrant = Field.object("RevokedGrant", "The grant is revoked.", {
  revoked: Field.always(true),
  grant: Field.of(Grant, "The revoked grant.", {
    grant_id: GRANT_ID,
    provider_id: PROVIDER_ID,
    tool_ids: [],
    cap_microcents: 1_000_000,
    spent_microcents: 12_500,
    period: "month",
    status: "revoked",
    created_at: NOW,
    expires_at: null,
    revoked_at: "2026-11-20T10:30:00.000Z"
  })
})

export class MeteringApi extends HttpApiGroup.make("metering")
  .add(
    Endpoint.post("meter", "/api/v1/market/meter", {
      access: callBy("consumer", "provider"),
      summary: "Report a call",
      description:
        "Records a call outside the proxy. A consumer reports its own call and is billed as by the proxy. A provider reports " +
        "a call of its own tool and can bill a consumer only within a grant; without `agent_id` it is a test call.",
      headers: idempotencyHeader,
      payload: Schema.Union([MeteredEvent, MeteredCall]).annotate({
        examples: [{ tool_name: DEMO_TOOL, success: true }]
      }),
      success: Metered.pipe(HttpApiSchema.status(201)),
      problems: [402, 404, 410, "ACCOUNT_FROZEN", "CALL_NOT_ALLOWED", "DUPLICATE", "IDEMPOTENCY_CONFLICT"]
    }),
    Endpoint.describing("describeMeter", "/api/v1/market/meter"),
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
    Endpoint.about("Metering", "Calls outside the proxy, and the grants that permit providers to bill them.")
  ) {}
