/**
 * Receipts in PostgreSQL, returned byte for byte as signed: times have milliseconds, signatures 32 bytes.
 */
import { DateTime, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { REPORT_DAYS_MAX } from "../../../domain/metering/DirectMetering.ts"
import {
  type Receipt,
  receiptsCountedMax,
  type ReceiptOwner,
  type ReceiptStatus,
  ReceiptStore
} from "../../../domain/receipts/Receipts.ts"
import {
  type ConsumerId,
  isIssuedReceiptId,
  type ProviderId,
  type ReceiptId,
  type ToolId
} from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { pageOf, type Position } from "../../../domain/shared/Page.ts"
import { causeOfCode, codesOfStatus, receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { type StoreSql, storeSql } from "../shared/StoreSql.ts"

// IDs of requests in `receipts.request_id`: generated ones, which are most, take 17 bytes instead of 36.

/** A byte that no ID contains, and the 16 bytes of the UUID. Any other ID is its own characters. */
const UUID_MARK = 1
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

/** The text is one that PostgreSQL reads as a bytea. */
export const packedRequestId = (id: string): string =>
  UUID.test(id) ? `\\x01${id.replaceAll("-", "")}` : `\\x${Buffer.from(id, "latin1").toString("hex")}`

const requestIdOf = (packed: Uint8Array): string => {
  const bytes = Buffer.from(packed)
  if (bytes[0] !== UUID_MARK) return bytes.toString("latin1")
  const hex = bytes.toString("hex", 1)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

// Conditions over receipts that several stores share. Receipt ids are UUIDs of version 7, so their order is
// chronological and a period is a range of ids: one index serves owner, order and period.

export const STATUS_OF_CODE: Readonly<Record<number, ReceiptStatus>> = {
  1: "success",
  2: "error",
  3: "timeout",
  4: "rate_limited",
  // These have a cause: see `LedgerCodes`.
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

/** A call may be reported days after it was made: its id is younger by as much. */
const calledBefore = (sql: StoreSql, until: DateTime.Utc): Statement.Fragment =>
  sql`(r.receipt_id < ${smallestIdAt(DateTime.add(until, { days: REPORT_DAYS_MAX }).epochMilliseconds + ID_SLACK_MS)}::uuid
    AND r.called_at < ${DateTime.toDate(until)})`

/** Newest first: rows after a position have smaller ids. A position that is not a receipt id ends the list. */
export const beyond = (sql: StoreSql, after: Position | undefined): ReadonlyArray<Statement.Fragment> => {
  if (after === undefined) return []
  return isIssuedReceiptId(after.id) ? [sql`r.receipt_id < ${uuidOfReceipt(after.id)}::uuid`] : [sql`false`]
}

/** An id that was not issued here matches no row. */
export const hasReceiptId = (sql: StoreSql, column: string, id: ReceiptId): Statement.Fragment =>
  isIssuedReceiptId(id) ? sql`${sql.literal(column)} = ${uuidOfReceipt(id)}` : sql`false`

const smallestIdAt = (epochMs: number): string => {
  const hex = Math.min(Math.max(0, epochMs), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

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

/** The table is `receipts r`. */
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

interface SettledRow {
  readonly status: number
  readonly fee_bps: number
  readonly fee: bigint
  readonly request_id: Uint8Array | null
  readonly hold_ms: number | null
}

export const layer = Layer.effect(
  ReceiptStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(RECEIPT_COLUMNS)

    return ReceiptStore.of({
      find: Effect.fn("PostgresReceiptStore.find")((id) =>
        sql<ReceiptRow>`
          SELECT ${columns} FROM receipts r WHERE ${hasReceiptId(sql, "r.receipt_id", id)}`.first(toReceipt)
      ),

      settledOf: Effect.fn("PostgresReceiptStore.settledOf")((id) =>
        sql<SettledRow>`
          SELECT status, fee_bps, fee, request_id, hold_ms FROM receipts WHERE ${hasReceiptId(sql, "receipt_id", id)}`.first(
          ({ fee, fee_bps, hold_ms, request_id, status }) => ({
            cause: causeOfCode(status),
            feeBasisPoints: fee_bps,
            fee: Microcents.make(fee),
            requestId: request_id === null ? undefined : requestIdOf(request_id),
            holdMs: hold_ms ?? undefined
          })
        )
      ),

      list: Effect.fn("PostgresReceiptStore.list")(function* (owner, filter, page) {
        // The provider is named too: the few receipts of a small one are not looked for among all of a large consumer. Failed
        // calls are few, and their index has the tool.
        const [tool] =
          filter.toolId === undefined || (filter.status !== undefined && filter.status !== "success")
            ? []
            : yield* sql<{ readonly provider_id: string }>`SELECT provider_id FROM tools WHERE id = ${filter.toolId}`
        const where = sql.and([
          belongsTo(sql, owner, "r"),
          ...(filter.toolId === undefined ? [] : [sql`r.tool_id = ${filter.toolId}`]),
          ...(tool === undefined ? [] : [sql`r.provider_id = ${tool.provider_id}`]),
          ...(filter.status === undefined ? [] : [hasStatus(sql, filter.status)]),
          ...(filter.from === undefined ? [] : [calledSince(sql, DateTime.makeUnsafe(filter.from))]),
          ...(filter.to === undefined ? [] : [calledBefore(sql, DateTime.makeUnsafe(filter.to))])
        ])
        // In order, although a count needs none: for the first few rows the planner would read the table of all accounts.
        const total = yield* sql`
          SELECT count(*) FROM (SELECT 1 FROM receipts r WHERE ${where}
            ORDER BY r.receipt_id DESC LIMIT ${receiptsCountedMax(filter)}) counted`.unprepared.number
        // The position is found on ids alone, so that a deep page does not read all rows before it.
        const rows = yield* sql<ReceiptRow>`
          SELECT ${columns} FROM (
            SELECT r.receipt_id FROM receipts r WHERE ${sql.and([where, ...beyond(sql, page.after)])}
            ORDER BY r.receipt_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}
          ) page JOIN receipts r ON r.receipt_id = page.receipt_id
          ORDER BY r.receipt_id DESC`.unprepared.all(toReceipt)
        return pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.receipt_id }))
      })
    })
  })
)
