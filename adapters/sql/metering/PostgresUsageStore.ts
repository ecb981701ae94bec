/**
 * Usage in PostgreSQL: totals from `usage_hourly`, those of a provider's whole days from `provider_usage`, single calls from
 * the receipts.
 */
import { DateTime, Effect, Layer } from "effect"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import { type UsageCall, type UsageOfToolDay, UsageStore, type UsageTotals } from "../../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import { receiptOfUuid } from "../ledger/LedgerCodes.ts"
import { receiptsOf, STATUS_OF_CODE } from "../receipts/PostgresReceiptStore.ts"
import { rowReader } from "../shared/Rows.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { ReceiptCounter } from "../ledger/ReceiptCounter.ts"

const SUMMED = [
  "calls",
  "successes",
  "spend",
  "fee",
  "latency_ms",
  "request_bytes",
  "response_bytes",
  "tokens_input",
  "tokens_output"
] as const

type SumsRow = Readonly<Record<(typeof SUMMED)[number], bigint>>

interface ToolDayRow extends SumsRow {
  readonly tool_id: string
  readonly tool_name: string | null
  readonly day: string
}

interface MatchingRow {
  readonly matching_calls: bigint
  readonly matching_successes: bigint
}

const CALL_COLUMNS = "r.receipt_id, r.tool_id, r.tool_name, r.status, r.cost, r.duration_ms, r.called_at"

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

    const columns = sql.literal(SUMMED.join(", "))
    const totalsOf = sql.literal(SUMMED.map((name) => `coalesce(sum(h.${name}), 0)::int8 AS ${name}`).join(", "))

    /** Planned for a known day: a row of a provider stands for hundreds of rows of its consumers. */
    const hours = Effect.fnUntraced(function* ({ ownerId, role }: ReceiptOwner, since: DateTime.Utc) {
      const from = DateTime.toDate(since)
      if (role === "consumer") return sql`usage_hourly h WHERE h.consumer_id = ${ownerId} AND h.hour >= ${from}`
      const midnight = DateTime.startOf(DateTime.add(since, { days: 1, milliseconds: -1 }), "day")
      const [known] = yield* sql<{ readonly day: string }>`
        SELECT greatest(day, ${DateTime.toDate(midnight)})::text AS day FROM provider_usage WHERE provider_id = ${MARKET_OWNER}`
      return sql`(
        SELECT tool_id, hour, ${columns} FROM usage_hourly
        WHERE provider_id = ${ownerId} AND hour >= ${from} AND hour < ${known!.day}::timestamptz
        UNION ALL
        SELECT tool_id, day, ${columns} FROM provider_usage
        WHERE provider_id = ${ownerId} AND day >= ${known!.day}::timestamptz
      ) h`
    })

    return UsageStore.of({
      /** Groups by midnight instead of by formatted date: two thirds of the time for tens of thousands of hours. */
      byToolAndDay: Effect.fn("PostgresUsageStore.byToolAndDay")(function* (owner, since) {
        yield* counter.count
        return yield* sql<ToolDayRow>`
          SELECT s.*, (s.midnight AT TIME ZONE 'UTC')::date::text AS day, t.tool_name FROM (
            SELECT h.tool_id, date_bin('1 day', h.hour, '2000-01-01 00:00Z') AS midnight, ${totalsOf}
            FROM ${yield* hours(owner, since)} GROUP BY 1, 2
          ) s LEFT JOIN tools t ON t.id = s.tool_id`.unprepared.all((row): UsageOfToolDay => ({
          ...toSums(row),
          toolId: ToolId.make(row.tool_id),
          toolName: row.tool_name ?? row.tool_id,
          date: row.day
        }))
      }),

      recent: Effect.fn("PostgresUsageStore.recent")(function* (owner, filter, page) {
        const ofTool = filter.toolId === undefined ? sql`true` : sql`h.tool_id = ${filter.toolId}`
        yield* counter.count
        const [summed] = yield* sql<SumsRow & MatchingRow>`
          SELECT ${totalsOf}, coalesce(sum(h.calls) FILTER (WHERE ${ofTool}), 0)::int8 AS matching_calls,
            coalesce(sum(h.successes) FILTER (WHERE ${ofTool}), 0)::int8 AS matching_successes
          FROM ${yield* hours(owner, filter.since)}`.unprepared
        const asked = yield* receiptsOf(sql, owner, {
          ...filter,
          from: DateTime.formatIso(filter.since),
          to: undefined
        })
        const rows = yield* asked.page(CALL_COLUMNS, page).all(toCall)
        // The rollups have the total of most lists, so that a long list is not read to its end.
        const total =
          filter.status === undefined
            ? Number(summed!.matching_calls)
            : filter.status === "success"
              ? Number(summed!.matching_successes)
              : yield* asked.count(Number.MAX_SAFE_INTEGER)
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
