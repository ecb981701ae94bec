/**
 * The public receipt on the wire: the fields of the domain's receipt, described.
 */
import { Receipt } from "../../../domain/receipts/Receipt.ts"
import * as Field from "./Field.ts"
import * as shared from "./SharedFields.ts"

export const signature = Field.of(
  Receipt.fields.signature,
  "HMAC-SHA256 of the seven signed fields, in lowercase hex.",
  "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
)

export const ReceiptBody = Field.object(
  "Receipt",
  "The receipt of a call: exactly these eleven fields, seven of them signed.",
  {
    receipt_id: shared.receiptId,
    tool_id: shared.toolId,
    tool_name: shared.toolName,
    agent_id: shared.agentId,
    provider_id: shared.providerId,
    timestamp: Field.timestamp("Time of the call; signed and returned byte for byte."),
    duration_ms: shared.durationMs,
    cost_microcents: shared.costMicrocents,
    status: shared.receiptStatus,
    signature,
    created_at: shared.createdAt
  }
)
