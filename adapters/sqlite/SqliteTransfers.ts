/**
 * Rows of transfers in SQLite.
 */
import { DateTime } from "effect"
import {
  type AccountKind,
  type Posting,
  type Transfer,
  TransferId,
  type TransferKind
} from "../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import type { Statements } from "./SqliteConnection.ts"

interface TransferRow {
  readonly transfer_id: string
  readonly leg: bigint
  readonly reference: string
  readonly kind: TransferKind
  readonly debit: AccountKind
  readonly credit: AccountKind
  readonly amount: bigint
  readonly consumer_id: string | null
  readonly provider_id: string | null
  readonly lot: string | null
  readonly effective_ms: bigint
  readonly recorded_ms: bigint
}

export const insertTransfers = (sql: Statements, posting: Posting): void => {
  const { legs, reference, transferId } = posting
  const [effectiveMs, recordedMs] = [posting.effectiveAt, posting.recordedAt].map(DateTime.toEpochMillis)
  for (const [i, { amount, consumerId, credit, debit, kind, lot, providerId }] of legs.entries()) {
    const owners = [consumerId ?? null, providerId ?? null, lot ?? null]
    sql.all(INSERT, transferId, i + 1, reference, kind, debit, credit, amount, ...owners, effectiveMs!, recordedMs!)
  }
}

const INSERT = `INSERT INTO transfers (transfer_id, leg, reference, kind, debit, credit, amount, consumer_id,
  provider_id, lot, effective_ms, recorded_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** In the order of the legs. */
export const transfersBy = (
  sql: Statements,
  column: "transfer_id" | "reference",
  value: string
): ReadonlyArray<Transfer> =>
  sql.all<TransferRow>(`SELECT * FROM transfers WHERE ${column} = ? ORDER BY leg`, value).map(toTransfer)

export const everyTransfer = function* (sql: Statements): Generator<Transfer> {
  for (const row of sql.each<TransferRow>("SELECT * FROM transfers")) yield toTransfer(row)
}

const toTransfer = (row: TransferRow): Transfer => ({
  transferId: TransferId.make(row.transfer_id),
  leg: Number(row.leg),
  reference: row.reference,
  kind: row.kind,
  debit: row.debit,
  credit: row.credit,
  amount: Microcents.make(row.amount),
  consumerId: row.consumer_id === null ? undefined : ConsumerId.make(row.consumer_id),
  providerId: row.provider_id === null ? undefined : ProviderId.make(row.provider_id),
  lot: row.lot ?? undefined,
  effectiveAt: DateTime.makeUnsafe(Number(row.effective_ms)),
  recordedAt: DateTime.makeUnsafe(Number(row.recorded_ms))
})
