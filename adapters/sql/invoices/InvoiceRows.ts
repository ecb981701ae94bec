/** Maps rows of a month's totals to lines and movements of a document. */
import type { InvoiceLine, InvoiceOwner, Movement } from "../../../domain/invoices/Invoice.ts"
import { TRANSFER_CODE, wordOf } from "../ledger/LedgerCodes.ts"
import { rowReader } from "../shared/RowReader.ts"

export const ROLE = { consumer: 1, provider: 2 } as const

export interface OwnerRow {
  readonly role: number
  readonly owner_id: string
  readonly name: string
  readonly email: string
}

/** With the columns of `InvoiceLine`. */
export interface LineRow {
  readonly role: number
  readonly owner_id: string
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

const toLine = rowReader<InvoiceLine>(
  {},
  { calls: Number, billed_calls: Number, free_calls: Number, failed_calls: Number }
)

export const linesOf = (rows: ReadonlyArray<LineRow>): ReadonlyArray<InvoiceLine> =>
  rows.map(({ owner_id: _, role: __, ...line }) => toLine(line))

export const movementsOf = (rows: ReadonlyArray<MovementRow>): ReadonlyArray<Movement> =>
  rows.map((row) => ({ kind: wordOf(TRANSFER_CODE, row.kind) as Movement["kind"], amount: row.amount }))
