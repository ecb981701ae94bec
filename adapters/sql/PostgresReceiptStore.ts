/**
 * Receipts in PostgreSQL, given back byte for byte as they were signed: times have milliseconds, signatures 32 bytes.
 */
import { Array as Arr, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Receipt } from "../../domain/receipts/Receipt.ts"
import { type ReceiptFilter, type ReceiptOwner, ReceiptStore } from "../../domain/receipts/ReceiptStore.ts"
import { ConsumerId, ProviderId, type ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { pageOf, type PageRequest } from "../../domain/shared/Page.ts"
import { receiptOfUuid, STATUS_CODE, uuidOfReceipt } from "./LedgerCodes.ts"
import { belongsTo, beyond, calledBefore, calledSince, STATUS_OF_CODE } from "./ReceiptQueries.ts"

interface ReceiptRow {
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

export const layer = Layer.effect(
  ReceiptStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(
      "r.receipt_id, r.tool_id, r.tool_name, r.consumer_id, r.provider_id, r.called_at, r.created_at, r.duration_ms, " +
        "r.cost, r.status, r.signature"
    )

    const find = Effect.fn("PostgresReceiptStore.find")(function* (id: ReceiptId) {
      const rows = yield* sql<ReceiptRow>`SELECT ${columns} FROM receipts r WHERE r.receipt_id = ${uuidOfReceipt(id)}`
      return Option.map(Arr.head(rows), toReceipt)
    }, Effect.orDie)

    const list = Effect.fn("PostgresReceiptStore.list")(function* (
      owner: ReceiptOwner,
      filter: ReceiptFilter,
      page: PageRequest
    ) {
      const asked = sql.and([
        belongsTo(sql, owner, "r"),
        ...(filter.toolId === undefined ? [] : [sql`r.tool_id = ${filter.toolId}`]),
        ...(filter.status === undefined ? [] : [sql`r.status = ${STATUS_CODE[filter.status]}`]),
        ...(filter.from === undefined ? [] : [calledSince(sql, DateTime.makeUnsafe(filter.from))]),
        ...(filter.to === undefined ? [] : [calledBefore(sql, DateTime.makeUnsafe(filter.to))])
      ])
      const [counted] = yield* sql<{ readonly total: bigint }>`
        SELECT count(*) AS total FROM receipts r WHERE ${asked}`.unprepared
      const rows = yield* sql<ReceiptRow>`
        SELECT ${columns} FROM receipts r WHERE ${sql.and([asked, ...beyond(sql, page.after)])}
        ORDER BY r.receipt_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared
      return pageOf(rows.map(toReceipt), page.limit, Number(counted!.total), (last) => ({
        key: "",
        id: last.receipt_id
      }))
    }, Effect.orDie)

    return ReceiptStore.of({ find, list })
  })
)

const toReceipt = (row: ReceiptRow): Receipt => ({
  receipt_id: receiptOfUuid(row.receipt_id),
  tool_id: ToolId.make(row.tool_id),
  tool_name: row.tool_name,
  agent_id: ConsumerId.make(row.consumer_id),
  provider_id: ProviderId.make(row.provider_id),
  timestamp: row.called_at.toISOString(),
  duration_ms: row.duration_ms,
  cost_microcents: Microcents.make(row.cost),
  status: STATUS_OF_CODE[row.status]!,
  signature: Buffer.from(row.signature).toString("hex"),
  created_at: row.created_at.toISOString()
})
