/**
 * Calls that did not pass through the proxy, and the grants under which a provider may report them.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { GRANT_TOOLS_MAX } from "../../../domain/metering/Grants.ts"
import { Receipt, ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ConsumerId, GrantId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, publicRead, readBy, writeBy } from "./Access.ts"
import { Instant } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { takesOtherFields } from "./OtherFields.ts"
import { problems } from "./Problem.ts"
import { SelfDescription } from "./SelfDescription.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(1_000_000_000))

export const MeteredCall = Schema.Struct({
  tool_id: Schema.optionalKey(ToolId),
  tool_name: Schema.optionalKey(ToolNameSent),
  provider_id: Schema.optionalKey(ProviderId),
  agent_id: Schema.optionalKey(ConsumerId),
  consumer_id: Schema.optionalKey(ConsumerId),
  status: Schema.optionalKey(ReceiptStatus),
  success: Schema.optionalKey(Schema.Boolean),
  duration_ms: Schema.optionalKey(Count),
  input_tokens: Schema.optionalKey(Count),
  output_tokens: Schema.optionalKey(Count),
  tokens_used: Schema.optionalKey(Count),
  cost_microcents: Schema.optionalKey(MicrocentsFromInt),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  timestamp: Schema.optionalKey(Instant)
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
    examples: [{ tool_name: "ada-tools/search", success: true, duration_ms: 42 }]
  })

const EventText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** Attributes that we do not read, and extensions: CloudEvents 1.0 names them in lowercase letters and digits. */
const CLOUDEVENTS_ATTRIBUTE = /^[a-z0-9]+$/u

export const MeteredEvent = Schema.Struct({
  specversion: Schema.Literal("1.0"),
  id: EventText,
  source: EventText,
  type: EventText,
  data: MeteredCall
}).annotate({
  identifier: "MeteredEvent",
  ...takesOtherFields(CLOUDEVENTS_ATTRIBUTE),
  description: "A CloudEvents 1.0 envelope; source and id are its idempotency key."
})

const Metered = Schema.Struct({
  metered: Schema.Literal(true),
  recorded: Schema.Literal(true),
  invocation_id: ReceiptId,
  tool_id: ToolId,
  tool_name: Schema.String,
  agent_id: ConsumerId,
  provider_id: ProviderId,
  cost_microcents: MicrocentsFromInt,
  cost_cents: Schema.Int,
  status: ReceiptStatus,
  timestamp: Timestamp,
  receipt: Schema.Struct({ ...Receipt.fields, verify_url: Schema.String })
}).annotate({ identifier: "Metered" })

export const GiveGrant = Schema.Struct({
  provider_id: ProviderId,
  tool_ids: Schema.optionalKey(Schema.Array(ToolId).check(Schema.isMaxLength(GRANT_TOOLS_MAX))),
  cap_microcents: MicrocentsFromInt,
  period: Schema.optionalKey(Schema.Literals(["day", "month", "total"])),
  expires_at: Schema.optionalKey(Instant)
}).annotate({ identifier: "GiveGrant" })

const Grant = Schema.Struct({
  grant_id: GrantId,
  provider_id: ProviderId,
  tool_ids: Schema.Array(ToolId),
  cap_microcents: MicrocentsFromInt,
  spent_microcents: MicrocentsFromInt,
  period: Schema.Literals(["day", "month", "total"]),
  status: Schema.Literals(["active", "expired", "revoked"]),
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Grant" })

const OneGrant = Schema.Struct({ grant: Grant }).annotate({ identifier: "OneGrant" })
const RevokedGrant = Schema.Struct({ revoked: Schema.Literal(true), grant: Grant }).annotate({
  identifier: "RevokedGrant"
})

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
      .annotate(Access, readBy("consumer", "provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Report a call that was made elsewhere",
          description:
            "A consumer reports its own call and is billed as the proxy would bill it. A provider reports a call " +
            "of its own tool, and bills a consumer only within a grant of that consumer; without agent_id it is a test call."
        })
      ),
    HttpApiEndpoint.get("describeMeter", "/api/v1/market/meter", { success: SelfDescription, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How to use POST /api/v1/market/meter",
          description: "The same path describes itself: what POST does, and the JSON Schema of its body."
        })
      ),
    HttpApiEndpoint.get("listGrants", "/api/v1/market/grants", {
      success: Schema.Struct({ grants: Schema.Array(Grant), total: Schema.Int }).annotate({ identifier: "Grants" }),
      error: problems(401, 403)
    })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the grants that you gave",
          description: "Newest first, the revoked and expired ones too."
        })
      ),
    HttpApiEndpoint.post("giveGrant", "/api/v1/market/grants", {
      headers: idempotencyHeader,
      payload: GiveGrant,
      success: OneGrant.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Let a provider bill you for calls outside the proxy",
          description: "For the tools that you name, up to a cap, until it ends or you take it back."
        })
      ),
    HttpApiEndpoint.delete("revokeGrant", "/api/v1/market/grants/:grant_id", {
      headers: idempotencyHeader,
      params: { grant_id: GrantId },
      success: RevokedGrant,
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Take a grant back",
          description: "The provider cannot bill under it from now on. What it billed before stays billed."
        })
      ),
    HttpApiEndpoint.delete("revokeGrantByQuery", "/api/v1/market/grants", {
      headers: idempotencyHeader,
      query: { grant_id: GrantId },
      success: RevokedGrant,
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Take a grant back, named in the query",
          description: "The same as `DELETE /api/v1/market/grants/{grant_id}`, for clients that put ids into the query."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Metering",
      description: "Calls that did not pass through the proxy, and the grants that allow a provider to bill them."
    })
  ) {}
