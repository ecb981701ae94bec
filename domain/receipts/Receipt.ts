/**
 * The public receipt: exactly eleven fields, seven of them signed. What was signed is stored and returned byte for
 * byte.
 */
import { Schema } from "effect"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import { MicrocentsFromInt } from "../shared/Microcents.ts"
import { Timestamp } from "../shared/Time.ts"

/** How the call of a receipt ended. By default only `success` is charged. */
export const ReceiptStatus = Schema.Literals(["success", "error", "timeout", "rate_limited"])
export type ReceiptStatus = typeof ReceiptStatus.Type

/** In hex. */
export const SIGNATURE = /^[0-9a-f]{64}$/u

export const Receipt = Schema.Struct({
  receipt_id: ReceiptId,
  tool_id: ToolId,
  tool_name: Schema.String,
  agent_id: ConsumerId,
  provider_id: ProviderId,
  timestamp: Timestamp,
  duration_ms: Schema.Int,
  cost_microcents: MicrocentsFromInt,
  status: ReceiptStatus,
  signature: Schema.String.check(Schema.isPattern(SIGNATURE)),
  created_at: Timestamp
}).annotate({ identifier: "Receipt" })
export type Receipt = typeof Receipt.Type

export const RECEIPT_ALGORITHM = "HMAC-SHA256" as const

/** The signed fields, in the order in which they are joined. */
export const SIGNED_FIELDS = [
  "receipt_id",
  "tool_id",
  "agent_id",
  "provider_id",
  "timestamp",
  "cost_microcents",
  "status"
] as const

export type SignedFields = Pick<Receipt, (typeof SIGNED_FIELDS)[number]>

/** Joined by a single `|`: no spaces, no trailing separator, the amount in base 10. */
export const canonical = (r: {
  readonly receipt_id: string
  readonly tool_id: string
  readonly agent_id: string
  readonly provider_id: string
  readonly timestamp: string
  readonly cost_microcents: bigint | number
  readonly status: string
}): string =>
  `${r.receipt_id}|${r.tool_id}|${r.agent_id}|${r.provider_id}|${r.timestamp}|${r.cost_microcents}|${r.status}`
