/**
 * Creates the receipt of a call, the same way for proxied and reported calls.
 */
import type { DateTime } from "effect"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { format } from "../shared/Timestamp.ts"
import { canonical, type Receipt, type ReceiptStatus } from "./Receipt.ts"

export interface FinishedCall {
  readonly invocationId: ReceiptId
  readonly toolId: ToolId
  readonly toolName: string
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly calledAt: DateTime.Utc
  readonly durationMs: number
  readonly cost: Microcents
  readonly status: ReceiptStatus
}

export const issueReceipt = (
  call: FinishedCall,
  issuedAt: DateTime.Utc,
  sign: (canonical: string) => string
): Receipt => {
  const signed = {
    receipt_id: call.invocationId,
    tool_id: call.toolId,
    agent_id: call.consumerId,
    provider_id: call.providerId,
    timestamp: format(call.calledAt),
    cost_microcents: call.cost,
    status: call.status
  }
  return {
    ...signed,
    tool_name: call.toolName,
    duration_ms: call.durationMs,
    signature: sign(canonical(signed)),
    created_at: format(issuedAt)
  }
}
