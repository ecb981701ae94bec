/**
 * Usage in PostgreSQL: totals from `usage_hourly`, single calls from the receipts.
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
import { belongsTo, beyond, calledSince, hasStatus, STATUS_OF_CODE } from "../receipts/PostgresReceiptStore.ts"
import { rowReader } from "../shared/Rows.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { ReceiptCounter } from "../ledger/ReceiptCounter.ts"

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
    const counter = yield* ReceiptCounter

    const hours = (owner: ReceiptOwner, since: DateTime.Utc): Statement.Fragment =>
      sql`usage_hourly h WHERE ${belongsTo(sql, owner, "h")} AND h.hour >= ${DateTime.toDate(since)}`

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
      byToolAndDay: Effect.fn("PostgresUsageStore.byToolAndDay")(function* (owner, since) {
        yield* counter.count
        return yield* sql<ToolDayRow>`
          SELECT s.*, (s.midnight AT TIME ZONE 'UTC')::date::text AS day, t.tool_name FROM (
            SELECT h.tool_id, date_bin('1 day', h.hour, '2000-01-01 00:00Z') AS midnight, ${totalsOf}
            FROM ${hours(owner, since)} GROUP BY 1, 2
          ) s LEFT JOIN tools t ON t.id = s.tool_id`.unprepared.all((row): UsageOfToolDay => ({
          ...toSums(row),
          toolId: ToolId.make(row.tool_id),
          toolName: row.tool_name ?? row.tool_id,
          date: row.day
        }))
      }),

      recent: Effect.fn("PostgresUsageStore.recent")(function* (owner, filter, page) {
        const ofTool = filter.toolId === undefined ? sql`true` : sql`h.tool_id = ${filter.toolId}`
        const where = sql.and([
          belongsTo(sql, owner, "r"),
          calledSince(sql, filter.since),
          ...(filter.toolId === undefined ? [] : [sql`r.tool_id = ${filter.toolId}`]),
          ...(filter.status === undefined ? [] : [hasStatus(sql, filter.status)])
        ])
        yield* counter.count
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

      rollUp: Effect.fn("PostgresUsageStore.rollUp")(
        (beforeDay, limit) => sql`SELECT roll_up_usage(${DateTime.toDate(beforeDay)}, ${limit})`.number
      ),

      countWaiting: counter.count.pipe(Effect.withSpan("PostgresUsageStore.countWaiting"))
    })
  })
).pipe(Layer.provide(ReceiptCounter.layer))

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
