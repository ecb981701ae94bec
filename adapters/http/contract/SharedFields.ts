/**
 * Fields that several bodies have, described once.
 */
import { Schema } from "effect"
import { Receipt, ReceiptStatus } from "../../../domain/receipts/Receipts.ts"
import { FEE_BASIS_POINTS_MAX } from "../../../domain/ledger/PlatformFee.ts"
import { ConsumerId, KeyId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { IntBetween, Text } from "./InputSchemas.ts"
import { CONSUMER_ID, DEMO_TOOL, KEY_ID, NOW, PROVIDER_ID, RECEIPT_ID, TOOL_ID } from "./SampleValues.ts"

export const providerId = Field.of(ProviderId, "ID of the provider.", PROVIDER_ID)
export const consumerId = Field.of(ConsumerId, "ID of the consumer.", CONSUMER_ID)
/** The wire calls the consumer of a call its agent. */
export const agentId = Field.of(ConsumerId, "ID of the consumer whose agent called.", CONSUMER_ID)
export const sameAgentId = Field.of(ConsumerId, "Same as `consumer_id`.", CONSUMER_ID)
export const toolId = Field.of(ToolId, "ID of the tool.", TOOL_ID)
export const keyId = Field.of(KeyId, "ID of the API key.", KEY_ID)
export const receiptId = Field.of(ReceiptId, "ID of the receipt.", RECEIPT_ID)

export const toolName = Field.string("Name of the tool on its MCP server.", "search")
export const qualifiedName = Field.string("Qualified name of the tool: `handle/tool_name`.", DEMO_TOOL)
export const displayName = Field.string("Display name of the tool.", "Paper search")
export const providerName = Field.string("Name of the provider.", "Ada Tools")
export const handle = Field.string("Handle of the provider, the first part of its qualified tool names.", "ada-tools")

export const receiptStatus = Field.of(ReceiptStatus, "Outcome of the call.", "success")
export const latencyMs = Field.int("Time that the provider took, in milliseconds.", 86)
export const durationMs = Field.int("Duration of the call in milliseconds.", 86)

export const consumerName = Field.string("Name of the consumer.", "Research agent")
export const createdAt = Field.timestamp("Time of creation.")
export const answeredAt = Field.timestamp("Time of this response.")
export const date = Field.string("Day (UTC).", "2026-11-20")
export const message = (example: string) => Field.string("Result in one sentence.", example)
export const nextSteps = Field.strings("Suggested next steps.", "Find a tool in GET /api/market/catalog")
export const versionOf = Field.string(
  "What `version` refers to.",
  "the platform API under /api/v1, and the trust layer"
)

export const expiresAt = Field.nullableTimestamp("Time of expiry. `null`: never.")

export const pageFields = {
  total: Field.int("Number of items in the filtered list, over all pages.", 1),
  limit: Field.int("Maximum number of items per page.", 50),
  offset: Field.int("Number of items skipped before this page.", 0),
  next_cursor: Field.nullableString("Value of `cursor` for the next page. `null` on the last page.")
}

/** A page of items in the field `key`. */
export const pageOf = <const K extends string, S extends Schema.Top>(
  identifier: string,
  description: string,
  key: K,
  items: Schema.$Array<S>
) => Field.object(identifier, description, { ...({ [key]: items } as Record<K, Schema.$Array<S>>), ...pageFields })

export const rateLimitRpm = Field.int("Rate limit in requests per minute.", 60)
export const frozen = Field.boolean(
  "Whether the account is frozen. A frozen account cannot call tools, but can read and add funds.",
  false
)
export const frozenAt = Field.nullableTimestamp("Time since which the account is frozen. `null`: it is not.")
export const frozenReason = Field.nullableString("Reason for the freeze. `null` if the account is not frozen.")
export const toolDescription = Field.string("Description of the tool.", "Full-text search over public papers")
export const category = Field.string("Category of the tool.", "search")
export const invocationId = Field.of(ReceiptId, "Same as `receipt_id`.", RECEIPT_ID)
export const costCents = Field.cents("Cost of the call", 0)
export const costMicrocents = Field.microcents("Cost of the call", 500)

export const signature = Field.of(
  Receipt.fields.signature,
  "HMAC-SHA256 of the seven signed fields, in lowercase hex.",
  "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
)

const issuerId = Schema.String.check(Schema.isMinLength(1))
const dateTime = Schema.String.annotate({ format: "date-time" })

export const RECEIPT_SCHEMA_TITLE = "Billing v1 Public Receipt"
/** The path beside the specification's page. */
export const RECEIPT_SCHEMA_PATH = "/spec/receipt.schema.json"

/** The receipt of any issuer, by section 2.1 of the open specification: other issuers' ids are no UUIDs. */
export const ReceiptBody = Field.object(
  "Receipt",
  "The receipt of a call: exactly these eleven fields, seven of them signed.",
  {
    receipt_id: receiptId,
    tool_id: Field.of(issuerId, "ID of the tool.", TOOL_ID),
    tool_name: Field.nullable(Schema.String, "Name of the tool on its MCP server. `null`: unknown.", "search"),
    agent_id: Field.of(issuerId, "ID of the consumer whose agent called.", CONSUMER_ID),
    provider_id: Field.of(issuerId, "ID of the provider.", PROVIDER_ID),
    timestamp: Field.of(dateTime, "Time of the call; signed and returned byte for byte.", NOW),
    duration_ms: Field.nullable(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
      "Duration of the call in milliseconds. `null`: unknown.",
      86
    ),
    cost_microcents: costMicrocents,
    status: receiptStatus,
    signature,
    created_at: Field.of(dateTime, "Time of creation.", NOW)
  }
).annotate({ title: RECEIPT_SCHEMA_TITLE })

// The platform fee on the wire.

const FEE_REASON_CHARS_MAX = 500

const isDefault = Field.boolean("Whether it is the default fee of the service.")

/** `whose`: `Platform fee of the provider`. */
export const feeBps = (whose: string) => Field.int(`${whose} in basis points (1/100 of a percent).`, 1_000)

export const defaultFee = {
  platform_fee: Field.string("Default platform fee on each call, as display text.", "10%"),
  platform_fee_bps: feeBps("Default platform fee")
}

const UpcomingFee = Schema.Struct({
  platform_fee_bps: feeBps("Announced platform fee"),
  is_default: isDefault,
  effective_from: Field.timestamp("Time from which it applies to new calls.")
})

export const feeFields = {
  platform_fee_bps: feeBps("Platform fee of the provider"),
  is_default: isDefault,
  upcoming: Field.nullable(UpcomingFee, "Announced increase of the fee. `null`: none.")
}

const ownFee = (whose: string) => Field.nullableInt(`${whose} in basis points. \`null\`: the default fee.`, 750)

const FeeChange = Schema.Struct({
  changed_at: Field.timestamp("Time of the change."),
  changed_by: Field.string("The operator's session, `API key`, or `registration`.", "Ada"),
  reason: Field.nullableString("Reason for the change.", "Agreed for the first year."),
  platform_fee_bps: ownFee("Fee from then on"),
  upcoming: Field.nullable(
    Schema.Struct({
      platform_fee_bps: ownFee("Announced fee"),
      effective_from: Field.timestamp("Time from which it applies, unless a later change replaces it.")
    }),
    "Increase that was announced. `null`: none."
  )
})

export const feeChanges = {
  fee_changes: Field.list(FeeChange, "History of the provider's fee, newest first: at most 50 changes.")
}

export const PlatformFee = Field.object("PlatformFee", "The platform fee of a provider.", {
  provider_id: providerId,
  ...feeFields,
  ...feeChanges
})

export const SetPlatformFee = Field.object("SetPlatformFee", "The fee of a provider.", {
  platform_fee_bps: Field.nullable(
    IntBetween(0, FEE_BASIS_POINTS_MAX),
    "Platform fee of the provider in basis points (1/100 of a percent). `null`: the default fee.",
    750
  ),
  reason: Field.optional(Text(FEE_REASON_CHARS_MAX), "Reason, for the history of the fee and the audit trail.")
})
