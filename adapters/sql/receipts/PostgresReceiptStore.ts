/**
 * Receipts in PostgreSQL, returned byte for byte as signed: times have milliseconds, signatures 32 bytes.
 */
import { DateTime, Effect, Layer } from "effect"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import { causeOfCode } from "../ledger/LedgerCodes.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { belongsTo, beyond, calledBefore, calledSince, hasReceiptId, hasStatus } from "./ReceiptQueries.ts"
import { RECEIPT_COLUMNS, type ReceiptRow, toReceipt } from "./ReceiptRows.ts"
import { requestIdOf } from "./RequestIds.ts"

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
        const where = sql.and([
          belongsTo(sql, owner, "r"),
          ...(filter.toolId === undefined ? [] : [sql`r.tool_id = ${filter.toolId}`]),
          ...(filter.status === undefined ? [] : [hasStatus(sql, filter.status)]),
          ...(filter.from === undefined ? [] : [calledSince(sql, DateTime.makeUnsafe(filter.from))]),
          ...(filter.to === undefined ? [] : [calledBefore(sql, DateTime.makeUnsafe(filter.to))])
        ])
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM receipts r WHERE ${where}`.unprepared.one((row) => Number(row.total))
        const rows = yield* sql<ReceiptRow>`
          SELECT ${columns} FROM receipts r WHERE ${sql.and([where, ...beyond(sql, page.after)])}
          ORDER BY r.receipt_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toReceipt)
        return pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.receipt_id }))
      })
    })
  })
)
