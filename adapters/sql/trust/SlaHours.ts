/**
 * Calls per hour in PostgreSQL, for each provider and each of its tools. For the provider as a whole, `tool_id` is the
 * provider's own id. One sequencer at a time adds to them, so rows are read, added to and written back.
 */
import { type DateTime, Effect } from "effect"
import type { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { bounded } from "../../../domain/trust/Latencies.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import { columnsOf } from "../shared/Columns.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

interface CountsRow {
  readonly hour: Date
  readonly calls: bigint
  readonly successes: bigint
  readonly timeouts: bigint
  readonly input_rejected: bigint
  readonly latency_ms: bigint
  readonly latencies: Uint8Array
}

interface HourRow extends CountsRow {
  readonly provider_id: string
  readonly tool_id: string
}

/** `hours` contains each hour of a tool at most once. */
export const addHours = Effect.fnUntraced(function* (sql: StoreSql, hours: ReadonlyArray<SlaHour>) {
  const known = yield* sql<HourRow>`
    SELECT h.* FROM sla_hourly h JOIN unnest(${keysOf(sql, hours)}) AS k (provider_id, hour, tool_id)
      USING (provider_id, hour, tool_id)`
  const before = new Map(known.map(toHour).map((one) => [keyOf(one), one]))
  const totals = hours.map((one) => {
    const old = before.get(keyOf(one))
    return old === undefined ? one : added(old, one)
  })
  yield* sql`
    INSERT INTO sla_hourly (provider_id, hour, tool_id, calls, successes, timeouts, input_rejected, latency_ms, latencies)
    SELECT * FROM unnest(${keysOf(sql, totals)}, ${countsOf(sql, totals)})
    ON CONFLICT (provider_id, tool_id, hour) DO UPDATE SET calls = excluded.calls, successes = excluded.successes,
      timeouts = excluded.timeouts, input_rejected = excluded.input_rejected, latency_ms = excluded.latency_ms,
      latencies = excluded.latencies`
})

/** Stores totals of whole days. A day with more calls is not replaced by one with fewer. */
export const keepDays = Effect.fnUntraced(function* (sql: StoreSql, days: ReadonlyArray<SlaHour>) {
  if (days.length === 0) return
  const { timestamptz, uuid } = columnsOf(days)
  yield* sql`
    INSERT INTO sla_daily AS d (provider_id, day, calls, successes, timeouts, input_rejected, latency_ms, latencies)
    SELECT * FROM unnest(${uuid((one) => one.providerId)}, ${timestamptz((one) => toDate(one.hour))},
      ${countsOf(sql, days)})
    ON CONFLICT (provider_id, day) DO UPDATE SET calls = excluded.calls, successes = excluded.successes,
      timeouts = excluded.timeouts, input_rejected = excluded.input_rejected, latency_ms = excluded.latency_ms,
      latencies = excluded.latencies
    WHERE excluded.calls > d.calls`
})

/**
 * Of the provider as a whole: stored days where they are complete, hours elsewhere. One statement, because round trips
 * would cost more than its work. `MATERIALIZED` and `OFFSET 0` prevent the planner from joining its parts: it chooses a
 * bad plan on tables that have just grown.
 */
export const readHours = Effect.fnUntraced(function* (sql: StoreSql, providerId: ProviderId, since: DateTime.Utc) {
  const ofProvider = sql`provider_id = ${providerId}`
  const hours = sql`${ofProvider} AND tool_id = ${providerId} AND hour >= ${toDate(since)}`
  const rows = yield* sql<CountsRow>`
    WITH counted AS MATERIALIZED (
      SELECT date_bin('1 day', hour, 'epoch') AS day, sum(calls)::int8 AS calls FROM sla_hourly WHERE ${hours} GROUP BY 1
    ), whole AS MATERIALIZED (
      SELECT day, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM sla_daily
      WHERE ${ofProvider} AND day >= ${toDate(since)} AND (day, calls) IN (SELECT day, calls FROM counted)
    )
    SELECT day AS hour, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM whole
    UNION ALL
    SELECT h.* FROM counted c CROSS JOIN LATERAL (
      SELECT hour, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM sla_hourly
      WHERE ${hours} AND hour >= c.day AND hour < c.day + interval '1 day' OFFSET 0) h
    WHERE c.day NOT IN (SELECT day FROM whole)`
  return rows.map((row) => toCounts(row, providerId, undefined))
})

/** Of one tool, or of all tools of the provider. */
export const readToolHours = Effect.fnUntraced(function* (
  sql: StoreSql,
  providerId: ProviderId,
  since: DateTime.Utc,
  toolId?: ToolId
) {
  const tools = toolId === undefined ? sql`tool_id <> ${providerId}` : sql`tool_id = ${toolId}`
  const rows = yield* sql<HourRow>`
    SELECT * FROM sla_hourly WHERE provider_id = ${providerId} AND ${tools} AND hour >= ${toDate(since)}`
  return rows.map(toHour)
})

const keysOf = (sql: StoreSql, hours: ReadonlyArray<SlaHour>) => {
  const { timestamptz, uuid } = columnsOf(hours)
  return sql`${uuid((one) => one.providerId)}, ${timestamptz((one) => toDate(one.hour))},
    ${uuid((one) => one.toolId ?? one.providerId)}`
}

const countsOf = (sql: StoreSql, hours: ReadonlyArray<SlaHour>) => {
  const { bytea, int8 } = columnsOf(hours)
  return sql`${int8((one) => one.calls)}, ${int8((one) => one.successes)}, ${int8((one) => one.timeouts)},
    ${int8((one) => one.inputRejected)}, ${int8((one) => one.latencyMs)}, ${bytea((one) => bounded(one.latencies))}`
}

const keyOf = (one: SlaHour): string => `${one.providerId} ${one.toolId} ${one.hour.epochMilliseconds}`

/** The column types are as strict as the brands. The rows are not validated again, because there are too many. */
const toHour = (row: HourRow): SlaHour =>
  toCounts(row, row.provider_id as ProviderId, row.tool_id === row.provider_id ? undefined : (row.tool_id as ToolId))

const toCounts = (row: CountsRow, providerId: ProviderId, toolId: ToolId | undefined): SlaHour => ({
  providerId,
  toolId,
  hour: toInstant(row.hour),
  calls: Number(row.calls),
  successes: Number(row.successes),
  timeouts: Number(row.timeouts),
  inputRejected: Number(row.input_rejected),
  latencyMs: Number(row.latency_ms),
  latencies: row.latencies
})
