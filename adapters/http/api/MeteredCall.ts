/**
 * A call outside the proxy, as a consumer or a provider reports it.
 */
import { Schema } from "effect"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { Instant, IntBetween } from "./InputSchemas.ts"
import { takesOtherFields } from "./OtherFields.ts"
import { ReceiptBody } from "./ReceiptBody.ts"
import { BASE_URL } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

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
    examples: [{ tool_name: "ada-tools/search", success: true, duration_ms: 42 }]
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

export const Metered = Field.object("Metered", "The recorded call and its receipt.", {
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
      ...ReceiptBody.fields,
      verify_url: Field.string("URL for verifying the receipt.", `${BASE_URL}/api/v1/verify`)
    }),
    "The receipt, and where to verify it."
  )
})
