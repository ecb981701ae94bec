/**
 * Receipts in PostgreSQL, returned byte for byte as signed: times have milliseconds, signatures 32 bytes.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import type { Month } from "../../../domain/invoices/Invoice.ts"
import { spanOf } from "../../../domain/invoices/Invoicing.ts"
import { REPORT_DAYS_MAX } from "../../../domain/metering/DirectMetering.ts"
import {
  type Receipt,
  ReceiptArchived,
  type ReceiptFilter,
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
import { pageOf, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import { causeOfCode, codesOfStatus, receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { type StoreSql, storeSql } from "../shared/StoreSql.ts"
import { ArchiveFolder, findArchived, type Line } from "./ReceiptArchive.ts"

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

export const STATUS_OF_CODE: Readonly<Record<number, ReceiptStatus>> = {
  1: "success",
  2: "error",
  3: "timeout",
  4: "rate_limited",
  // These have a cause: see `LedgerCodes`.
  5: "error",
  6: "error"
}

/** An id that was not issued here matches no row. */
export const hasReceiptId = (sql: StoreSql, column: string, id: ReceiptId): Statement.Fragment =>
  isIssuedReceiptId(id) ? sql`${sql.literal(column)} = ${uuidOfReceipt(id)}` : sql`false`

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

// Lists of receipts. Their ids are UUIDs of version 7, so their order is chronological and a period is a range of ids: one
// index serves owner, order and period.

/** An id may be older than its call's time: by the clock skew allowed for a reported time, plus a margin. */
const ID_SLACK_MS = 6 * 60_000
/** A call may be reported days after it was made: its id is younger by as much. */
const REPORTED_MS_MAX = REPORT_DAYS_MAX * 86_400_000 + ID_SLACK_MS
/** Of calls that were reported late: these have an index of their own. */
const IS_LATE = "r.created_at - r.called_at > interval '6 minutes'"

const smallestIdAt = (epochMs: number): string => {
  const hex = Math.min(Math.max(0, epochMs), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

/** Conditions for parts of a period that share no receipt. The time of a call is read only where its id could be of another. */
const partsOf = (sql: StoreSql, from = "-infinity", to = "infinity"): ReadonlyArray<Statement.Fragment> => {
  if (from === "-infinity" && to === "infinity") return [sql`true`]
  const fromMs = from === "-infinity" ? Number.NEGATIVE_INFINITY : Date.parse(from)
  const toMs = to === "infinity" ? Number.POSITIVE_INFINITY : Date.parse(to)
  const isCalledThen = sql`r.called_at >= ${from}::timestamptz AND r.called_at < ${to}::timestamptz`
  const [first, last, end] = [fromMs - ID_SLACK_MS, toMs - ID_SLACK_MS, toMs + 2 * ID_SLACK_MS]
  const parts: ReadonlyArray<readonly [startMs: number, stopMs: number, condition: Statement.Fragment]> = [
    [first, Math.min(fromMs + REPORTED_MS_MAX, last), isCalledThen],
    [fromMs + REPORTED_MS_MAX, last, sql`true`],
    [Math.max(first, last), end, isCalledThen],
    [Math.max(first, end), toMs + REPORTED_MS_MAX, sql`${isCalledThen} AND ${sql.literal(IS_LATE)}`]
  ]
  const uuid = (epochMs: number) => sql`${smallestIdAt(epochMs)}::uuid`
  const wanted = parts
    .filter(([startMs, stopMs]) => startMs < stopMs)
    .map(([startMs, stopMs, is]) => sql`r.receipt_id >= ${uuid(startMs)} AND r.receipt_id < ${uuid(stopMs)} AND ${is}`)
  return wanted.length === 0 ? [sql`false`] : wanted
}

/** The receipts of an account that match, newest first. */
export const receiptsOf = Effect.fnUntraced(function* (
  sql: StoreSql,
  owner: ReceiptOwner,
  { from, levelId, status, to, toolId }: ReceiptFilter
) {
  // The provider is named too: the few receipts of a small one are not looked for among all of a large consumer. Failed
  // calls are few, and their index has the tool.
  const [tool] =
    toolId === undefined || (status !== undefined && status !== "success")
      ? []
      : yield* sql<{ readonly provider_id: string }>`SELECT provider_id FROM tools WHERE id = ${toolId}`
  const where = sql.and([
    owner.role === "consumer" ? sql`r.consumer_id = ${owner.ownerId}` : sql`r.provider_id = ${owner.ownerId}`,
    ...(levelId === undefined ? [] : [sql`r.level_id = ${levelId}`]),
    ...(toolId === undefined ? [] : [sql`r.tool_id = ${toolId}`]),
    ...(tool === undefined ? [] : [sql`r.provider_id = ${tool.provider_id}`]),
    ...(status === undefined ? [] : [sql.in("r.status", codesOfStatus(status))])
  ])
  const parts = partsOf(sql, from, to)

  // In order, although a count needs none: for the first few rows the planner would read the table of all accounts.
  const ids = (condition: Statement.Fragment, limit: number, offset = 0) => {
    const page = sql`ORDER BY receipt_id DESC LIMIT ${limit} OFFSET ${offset}`
    const found = parts.map(
      (part) => sql`SELECT r.receipt_id FROM receipts r WHERE ${sql.and([where, part, condition])}`
    )
    if (found.length === 1) return sql`${found[0]} ${page}`
    const each = found.map((part) => sql`(${part} ORDER BY receipt_id DESC LIMIT ${limit + offset})`)
    return sql`SELECT receipt_id FROM (${each.reduce((all, part) => sql`${all} UNION ALL ${part}`)}) found ${page}`
  }

  return {
    count: (max: number) => sql`SELECT count(*) FROM (${ids(sql`true`, max)}) counted`.unprepared.number,
    /** One more than the page has. The position is found on ids alone, so that a deep page does not read all rows before it. */
    page: <Row extends object>(columns: string, { after, limit, offset }: PageRequest) =>
      sql<Row>`
        SELECT ${sql.literal(columns)} FROM (${ids(beyond(sql, after), limit + 1, offset)}) page
        JOIN receipts r ON r.receipt_id = page.receipt_id ORDER BY r.receipt_id DESC`.unprepared
  }
})

/** Rows after a position have smaller ids. A position that is not a receipt id ends the list. */
const beyond = (sql: StoreSql, after: Position | undefined): Statement.Fragment => {
  if (after === undefined) return sql`true`
  return isIssuedReceiptId(after.id) ? sql`r.receipt_id < ${uuidOfReceipt(after.id)}::uuid` : sql`false`
}

/** A receipt in a file. */
export const receiptOfLine = (line: Line): Receipt =>
  toReceipt({
    ...(line as unknown as ReceiptRow),
    called_at: DateTime.toDate(DateTime.makeUnsafe(line["called_at"]!)),
    created_at: DateTime.toDate(DateTime.makeUnsafe(line["created_at"]!)),
    duration_ms: Number(line["duration_ms"]),
    cost: BigInt(line["cost"]!),
    status: Number(line["status"]),
    signature: Buffer.from(line["signature"]!.slice(2), "hex")
  })

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
    const archives = Option.getOrUndefined(yield* Effect.serviceOption(ArchiveFolder))

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

      findArchived: Effect.fn("PostgresReceiptStore.findArchived")(function* (id) {
        const found = isIssuedReceiptId(id) ? yield* findArchived(sql, archives, uuidOfReceipt(id)) : undefined
        if (found?.month !== undefined) return yield* new ReceiptArchived({ receiptId: id, month: found.month })
        return found === undefined ? Option.none() : Option.some(receiptOfLine(found.line))
      }),

      archivedBefore: sql<{ readonly month: Month | null }>`SELECT max(month) AS month FROM receipt_archives`
        .one(({ month }) => (month === null ? undefined : DateTime.formatIso(spanOf(month).end)))
        .pipe(Effect.withSpan("PostgresReceiptStore.archivedBefore")),

      list: Effect.fn("PostgresReceiptStore.list")(function* (owner, filter, page) {
        const asked = yield* receiptsOf(sql, owner, filter)
        const total = yield* asked.count(receiptsCountedMax(filter))
        const rows = yield* asked.page<ReceiptRow>(RECEIPT_COLUMNS, page).all(toReceipt)
        return pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.receipt_id }))
      })
    })
  })
)
