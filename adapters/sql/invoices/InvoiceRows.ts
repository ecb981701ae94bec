/** Maps rows of a month's totals to lines and movements of a document. */
import type { InvoiceLine, InvoiceOwner, Movement } from "../../../domain/invoices/Invoice.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { TRANSFER_CODE, wordOf } from "../ledger/LedgerCodes.ts"

export const ROLE = { consumer: 1, provider: 2 } as const

export interface OwnerRow {
  readonly role: number
  readonly owner_id: string
  readonly name: string
  readonly email: string
}

export interface LineRow {
  readonly role: number
  readonly owner_id: string
  readonly tool_id: string
  readonly tool_name: string
  readonly provider: string
  readonly price_version: number
  readonly unit_price: bigint
  readonly calls: bigint
  readonly billed: bigint
  readonly free: bigint
  readonly failed: bigint
  readonly amount: bigint
  readonly fee: bigint
}

export interface MovementRow {
  readonly role: number
  readonly owner_id: string
  readonly kind: number
  readonly amount: bigint
}

export const ownerOf = (row: OwnerRow): InvoiceOwner => ({
  role: row.role === ROLE.consumer ? "consumer" : "provider",
  id: row.owner_id,
  name: row.name,
  email: row.email
})

export const linesOf = (rows: ReadonlyArray<LineRow>): ReadonlyArray<InvoiceLine> =>
  rows.map((row) => ({
    toolId: ToolId.make(row.tool_id),
    toolName: row.tool_name,
    provider: row.provider,
    priceVersion: row.price_version,
    unitPrice: row.unit_price,
    calls: Number(row.calls),
    billedCalls: Number(row.billed),
    freeCalls: Number(row.free),
    failedCalls: Number(row.failed),
    amount: row.amount,
    fee: row.fee
  }))

export const movementsOf = (rows: ReadonlyArray<MovementRow>): ReadonlyArray<Movement> =>
  rows.map((row) => ({ kind: wordOf(TRANSFER_CODE, row.kind) as Movement["kind"], amount: row.amount }))
