/**
 * Receipts as stored in PostgreSQL: times with milliseconds, signatures as 32 bytes, so that each is returned byte for
 * byte as signed.
 */
import type { Receipt } from "../../../domain/receipts/Receipt.ts"
import type { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import type { Microcents } from "../../../domain/shared/Microcents.ts"
import { receiptOfUuid } from "../ledger/LedgerCodes.ts"
import { STATUS_OF_CODE } from "./ReceiptQueries.ts"

export interface ReceiptRow {
  readonly receipt_id: string
  readonly tool_id: string
  readonly tool_name: string
  readonly consumer_id: string
  readonly provider_id: string
  readonly called_at: Date
  readonly created_at: Date
  readonly duration_ms: number
  readonly cost: bigint
  readonly status: number
  readonly signature: Uint8Array
}

/** For `receipts r`. */
export const RECEIPT_COLUMNS =
  "r.receipt_id, r.tool_id, r.tool_name, r.consumer_id, r.provider_id, r.called_at, r.created_at, r.duration_ms, " +
  "r.cost, r.status, r.signature"

/** The column types are as strict as the brands. The rows are not validated again, because there are many. */
export const toReceipt = (row: ReceiptRow): Receipt => ({
  receipt_id: receiptOfUuid(row.receipt_id),
  tool_id: row.tool_id as ToolId,
  tool_name: row.tool_name,
  agent_id: row.consumer_id as ConsumerId,
  provider_id: row.provider_id as ProviderId,
  timestamp: row.called_at.toISOString(),
  duration_ms: row.duration_ms,
  cost_microcents: row.cost as Microcents,
  status: STATUS_OF_CODE[row.status]!,
  signature: hexOf(row.signature),
  created_at: row.created_at.toISOString()
})

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")
