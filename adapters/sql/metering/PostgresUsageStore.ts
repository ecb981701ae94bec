/**
 * Usage in PostgreSQL: totals from the view `usage_totals`, single calls from the receipts.
 */
import { DateTime, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import {
  type UsageCall,
  type UsageFilter,
  type UsageOfToolDay,
  UsageStore,
  type UsageTotals
} from "../../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import { receiptOfUuid } from "../ledger/LedgerCodes.ts"
import { addEarnings } from "../ledger/PostgresLedgerStore.ts"
import { belongsTo, beyond, calledSince, hasStatus, STATUS_OF_CODE } from "../receipts/PostgresReceiptStore.ts"
import { rowReader } from "../shared/Rows.ts"
import { type StoreSql, storeSql, type StoreStatement } from "../shared/StoreSql.ts"

const TOTALS = [
  "calls",
  "successes",
  "timeouts",
  "spend",
  "fee",
  "latency_ms",
  "request_bytes",
  "response_bytes",
  "tokens_input",
  "tokens_output"
]
const KEY = "consumer_id, hour, tool_id, provider_id"

/** Adds rows with the columns of `usage_hourly`, in the order of their keys, in which other nodes lock them too. */
const addUsage = (sql: StoreSql, rows: Statement.Fragment, hour = "hour"): StoreStatement<object> => sql`
  INSERT INTO usage_hourly AS u (${sql.literal(`${KEY}, ${TOTALS.join(", ")}`)})
  SELECT consumer_id, ${sql.literal(hour)}, tool_id, provider_id,
    ${sql.literal(TOTALS.map((column) => `sum(${column})`).join(", "))}
  FROM ${rows} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (${sql.literal(KEY)}) DO UPDATE SET
    ${sql.literal(TOTALS.map((column) => `${column} = u.${column} + excluded.${column}`).join(", "))}`

// Rows of `receipts_unlogged`: each has the receipts of calls that were closed together, which wait for the log.

/** The keys of whole rows that have `limit` receipts together, or of all rows. */
export const waitingRows = (
  sql: StoreSql,
  limit: number,
  isWanted: Statement.Fragment = sql`true`,
  lock: Statement.Fragment = sql``
): StoreStatement<object> => sql`
  SELECT first_receipt FROM (
    SELECT first_receipt, sum(receipts) OVER (ROWS UNBOUNDED PRECEDING) - receipts AS receipts_before FROM (
      SELECT first_receipt, cardinality(receipt_ids) AS receipts FROM receipts_unlogged
      WHERE ${isWanted} LIMIT ${limit} ${lock}) w
  ) n WHERE receipts_before < ${limit}`

/** Queries of a WITH that count the receipts of the rows `w`, once: in the usage, and in the balances of those who earned. */
export const counting = (sql: StoreSql, rows: Statement.Fragment): Statement.Fragment => sql`
  counted AS MATERIALIZED (
    SELECT u.* FROM ${rows} CROSS JOIN LATERAL usage_of(w.receipt_ids) u WHERE NOT w.counted
  ), counted_usage AS (
    ${addUsage(sql, sql`counted`)}
  ), counted_earnings AS (
    ${addEarnings(sql, sql`counted c CROSS JOIN LATERAL earnings_of(c.provider_id, c.settled_on, c.spend, c.fee)`)}
  )`

interface SumsRow {
  readonly calls: bigint
  readonly successes: bigint
  readonly spend: bigint
  readonly fee: bigint
  readonly latency_ms: bigint
  readonly request_bytes: bigint
  readonly response_bytes: bigint
  readonly tokens_input: bigint
  readonly tokens_output: bigint
}

interface ToolDayRow extends SumsRow {
  readonly tool_id: string
  readonly tool_name: string | null
  readonly day: string
}

interface MatchingRow {
  readonly matching_calls: bigint
  readonly matching_successes: bigint
}

const toCall = rowReader<UsageCall>(
  { cost: "costMicrocents" },
  {
    receipt_id: receiptOfUuid,
    status: (code: number) => STATUS_OF_CODE[code],
    called_at: (at: Date) => at.toISOString()
  }
)

export const layer = Layer.effect(
  UsageStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const hours = (owner: ReceiptOwner, since: DateTime.Utc): Statement.Fragment =>
      sql`usage_totals h WHERE ${belongsTo(sql, owner, "h")} AND h.hour >= ${DateTime.toDate(since)}`

    const totalsOf =
      sql.literal(`coalesce(sum(h.calls), 0)::int8 AS calls, coalesce(sum(h.successes), 0)::int8 AS successes,
      coalesce(sum(h.spend), 0)::int8 AS spend, coalesce(sum(h.fee), 0)::int8 AS fee,
      coalesce(sum(h.latency_ms), 0)::int8 AS latency_ms,
      coalesce(sum(h.request_bytes), 0)::int8 AS request_bytes, coalesce(sum(h.response_bytes), 0)::int8 AS response_bytes,
      coalesce(sum(h.tokens_input), 0)::int8 AS tokens_input, coalesce(sum(h.tokens_output), 0)::int8 AS tokens_output`)

    /** The rollups have the total of most lists, so that a long list is not read to its end. */
    const matching = Effect.fnUntraced(function* (filter: UsageFilter, summed: MatchingRow, where: Statement.Fragment) {
      if (filter.status === undefined) return Number(summed.matching_calls)
      if (filter.status === "success") return Number(summed.matching_successes)
      return yield* sql`SELECT count(*) FROM receipts r WHERE ${where}`.unprepared.number
    })

    return UsageStore.of({
      /** Groups by midnight instead of by formatted date: two thirds of the time for tens of thousands of hours. */
      byToolAndDay: Effect.fn("PostgresUsageStore.byToolAndDay")((owner, since) =>
        sql<ToolDayRow>`
            SELECT s.*, (s.midnight AT TIME ZONE 'UTC')::date::text AS day, t.tool_name FROM (
              SELECT h.tool_id, date_bin('1 day', h.hour, '2000-01-01 00:00Z') AS midnight, ${totalsOf}
              FROM ${hours(owner, since)} GROUP BY 1, 2
            ) s LEFT JOIN tools t ON t.id = s.tool_id`.unprepared.all((row): UsageOfToolDay => ({
          ...toSums(row),
          toolId: ToolId.make(row.tool_id),
          toolName: row.tool_name ?? row.tool_id,
          date: row.day
        }))
      ),

      recent: Effect.fn("PostgresUsageStore.recent")(function* (owner, filter, page) {
        const ofTool = filter.toolId === undefined ? sql`true` : sql`h.tool_id = ${filter.toolId}`
        const where = sql.and([
          belongsTo(sql, owner, "r"),
          calledSince(sql, filter.since),
          ...(filter.toolId === undefined ? [] : [sql`r.tool_id = ${filter.toolId}`]),
          ...(filter.status === undefined ? [] : [hasStatus(sql, filter.status)])
        ])
        const [summed] = yield* sql<SumsRow & MatchingRow>`
          SELECT ${totalsOf}, coalesce(sum(h.calls) FILTER (WHERE ${ofTool}), 0)::int8 AS matching_calls,
            coalesce(sum(h.successes) FILTER (WHERE ${ofTool}), 0)::int8 AS matching_successes
          FROM ${hours(owner, filter.since)}`.unprepared
        const rows = yield* sql`
          SELECT r.receipt_id, r.tool_id, r.tool_name, r.status, r.cost, r.duration_ms, r.called_at
          FROM receipts r WHERE ${sql.and([where, ...beyond(sql, page.after)])}
          ORDER BY r.receipt_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toCall)
        const total = yield* matching(filter, summed!, where)
        return {
          totals: toSums(summed!),
          calls: pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.receiptId }))
        }
      }),

      /** A day's row is the row of its first hour. If two nodes roll up at once, each hour is moved only once. */
      rollUp: Effect.fn("PostgresUsageStore.rollUp")(
        (beforeDay, limit) =>
          sql`
          WITH hours AS (
            DELETE FROM usage_hourly WHERE ctid = ANY (ARRAY(
              SELECT ctid FROM usage_hourly
              WHERE hour < ${DateTime.toDate(beforeDay)} AND hour <> date_trunc('day', hour, 'UTC') LIMIT ${limit}
            )) RETURNING *
          ), days AS (
            ${addUsage(sql, sql`hours`, "date_trunc('day', hour, 'UTC')")}
          )
          SELECT count(*) FROM hours`.number
      ),

      countWaiting: Effect.fn("PostgresUsageStore.countWaiting")(
        (limit) =>
          sql`
          WITH waiting AS (
            UPDATE receipts_unlogged SET counted = true WHERE first_receipt = ANY (ARRAY(
              ${waitingRows(sql, limit, sql`NOT counted`, sql`FOR UPDATE SKIP LOCKED`)}))
            RETURNING receipt_ids, false AS counted
          ), ${counting(sql, sql`waiting w`)}
          SELECT coalesce(sum(cardinality(receipt_ids)), 0)::int8 FROM waiting`.number
      )
    })
  })
)

const toSums = (row: SumsRow): UsageTotals => ({
  calls: Number(row.calls),
  successes: Number(row.successes),
  spendMicrocents: row.spend,
  feeMicrocents: row.fee,
  latencyMs: row.latency_ms,
  requestBytes: row.request_bytes,
  responseBytes: row.response_bytes,
  tokensInput: row.tokens_input,
  tokensOutput: row.tokens_output
})
