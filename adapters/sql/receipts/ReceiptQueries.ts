/**
 * Conditions over receipts that several stores share. Receipt ids are UUIDs of version 7, so their order is
 * chronological and a period is a range of ids: one index serves owner, order and period.
 */
import { DateTime } from "effect"
import type { Statement } from "effect/sql"
import type { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import { isIssuedReceiptId, type ReceiptId } from "../../../domain/shared/Ids.ts"
import type { Position } from "../../../domain/shared/Page.ts"
import { codesOfStatus, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

export const STATUS_OF_CODE: Readonly<Record<number, ReceiptStatus>> = {
  1: "success",
  2: "error",
  3: "timeout",
  4: "rate_limited",
  // With a cause: see `LedgerCodes`.
  5: "error",
  6: "error"
}

/** An id may be older than its call's time: by the clock skew allowed for a reported time, plus a margin. */
const ID_SLACK_MS = 6 * 60_000

export const belongsTo = (sql: StoreSql, owner: ReceiptOwner, table: "r" | "h"): Statement.Fragment =>
  owner.role === "consumer"
    ? sql`${sql.literal(table)}.consumer_id = ${owner.ownerId}`
    : sql`${sql.literal(table)}.provider_id = ${owner.ownerId}`

export const calledSince = (sql: StoreSql, since: DateTime.Utc): Statement.Fragment =>
  sql`(r.receipt_id >= ${smallestIdAt(since.epochMilliseconds - ID_SLACK_MS)}::uuid
    AND r.called_at >= ${DateTime.toDate(since)})`

export const hasStatus = (sql: StoreSql, status: ReceiptStatus): Statement.Fragment =>
  sql.in("r.status", codesOfStatus(status))

/** By time only: a metered call may be reported later than it was made. */
export const calledBefore = (sql: StoreSql, until: DateTime.Utc): Statement.Fragment =>
  sql`r.called_at < ${DateTime.toDate(until)}`

/** Newest first: rows after a position have smaller ids. A position that is not a receipt id ends the list. */
export const beyond = (sql: StoreSql, after: Position | undefined): ReadonlyArray<Statement.Fragment> => {
  if (after === undefined) return []
  return isIssuedReceiptId(after.id) ? [sql`r.receipt_id < ${uuidOfReceipt(after.id)}::uuid`] : [sql`false`]
}

/** An id that was not issued here matches no row. */
export const hasReceiptId = (sql: StoreSql, column: string, id: ReceiptId): Statement.Fragment =>
  isIssuedReceiptId(id) ? sql`${sql.literal(column)} = ${uuidOfReceipt(id)}` : sql`false`

const smallestIdAt = (epochMs: number): string => {
  const hex = Math.max(0, epochMs).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
