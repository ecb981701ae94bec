/**
 * SLA figures, trust scores and their inputs, in PostgreSQL.
 */
import { DateTime, Effect, Option } from "effect"
import { type ConsumerId, ProviderId, type ToolId } from "../../../domain/shared/Ids.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { bounded } from "../../../domain/trust/Latencies.ts"
import {
  PAID_CONSUMER_MICROCENTS_MIN,
  PAID_CONSUMERS_READ_MAX,
  type PaidCalls,
  type PaidDay
} from "../../../domain/trust/PaidCalls.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import {
  type CatalogScore,
  type Followed,
  type Pair,
  type ScoreOfDay,
  SlaStore
} from "../../../domain/trust/SlaStore.ts"
import { column, columnsOf, OID } from "../shared/Columns.ts"
import { rowReader, toDate, toInstant } from "../shared/Rows.ts"
import { prune, type StoreSql, type StoreStatement, storeLayer } from "../shared/StoreSql.ts"

// Days of paid calls in PostgreSQL, by provider and consumer.

interface PaidCallsRow {
  readonly consumer_id: string
  readonly paid: bigint
  readonly paid_calls: bigint
  readonly failed_calls: bigint
  readonly input_rejected: bigint
  readonly up_to: ReadonlyArray<bigint>
  readonly longest_ms: number
}

/** One statement reads a day's row, adds to it and writes it back: only one sequencer runs at a time. */
const addPaidDays = (sql: StoreSql, days: ReadonlyArray<PaidDay>): StoreStatement<object> => {
  const { int8, text, uuid } = columnsOf(days)
  return sql`
    INSERT INTO trust_daily AS t (provider_id, consumer_id, day, paid, paid_calls, failed_calls, input_rejected,
      up_to_200_ms, up_to_500_ms, up_to_1000_ms, up_to_2000_ms, up_to_5000_ms, longest_ms)
    SELECT provider_id, consumer_id, d.day::date, paid, paid_calls, failed_calls, input_rejected, a, b, c, e, f, longest
    FROM unnest(${uuid((day) => day.providerId)}, ${uuid((day) => day.consumerId)}, ${text((day) => day.date)}, ${int8((day) => day.paidMicrocents)}, ${int8((day) => day.paidCalls)}, ${int8((day) => day.failedCalls)}, ${int8((day) => day.inputRejected)},
      ${int8((day) => day.upTo[0]!)}, ${int8((day) => day.upTo[1]!)}, ${int8((day) => day.upTo[2]!)},
      ${int8((day) => day.upTo[3]!)}, ${int8((day) => day.upTo[4]!)}, ${int8((day) => day.longestMs)})
      AS d (provider_id, consumer_id, day, paid, paid_calls, failed_calls, input_rejected, a, b, c, e, f, longest)
    ON CONFLICT (provider_id, day, consumer_id) DO UPDATE SET paid = t.paid + excluded.paid,
      paid_calls = t.paid_calls + excluded.paid_calls, failed_calls = t.failed_calls + excluded.failed_calls,
      input_rejected = t.input_rejected + excluded.input_rejected,
      up_to_200_ms = t.up_to_200_ms + excluded.up_to_200_ms, up_to_500_ms = t.up_to_500_ms + excluded.up_to_500_ms,
      up_to_1000_ms = t.up_to_1000_ms + excluded.up_to_1000_ms, up_to_2000_ms = t.up_to_2000_ms + excluded.up_to_2000_ms,
      up_to_5000_ms = t.up_to_5000_ms + excluded.up_to_5000_ms, longest_ms = greatest(t.longest_ms, excluded.longest_ms)`
}

export const readPayers = (
  sql: StoreSql,
  providerId: ProviderId,
  sinceDate: string
): Effect.Effect<ReadonlyArray<PaidCalls>, StoreUnavailable> =>
  sql<PaidCallsRow>`
    SELECT consumer_id, sum(paid)::int8 AS paid, sum(paid_calls)::int8 AS paid_calls,
      sum(failed_calls)::int8 AS failed_calls, sum(input_rejected)::int8 AS input_rejected,
      ARRAY[sum(up_to_200_ms), sum(up_to_500_ms), sum(up_to_1000_ms), sum(up_to_2000_ms), sum(up_to_5000_ms)]::int8[]
        AS up_to,
      max(longest_ms) AS longest_ms
    FROM trust_daily WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date
    GROUP BY consumer_id HAVING sum(paid) >= ${PAID_CONSUMER_MICROCENTS_MIN}
    ORDER BY sum(paid) DESC, consumer_id LIMIT ${PAID_CONSUMERS_READ_MAX}`.all(toPaidCalls)

/** A `rowReader` would cost too much for thousands of rows. */
const toPaidCalls = (row: PaidCallsRow): PaidCalls => ({
  consumerId: row.consumer_id as ConsumerId,
  paidMicrocents: row.paid,
  paidCalls: Number(row.paid_calls),
  failedCalls: Number(row.failed_calls),
  inputRejected: Number(row.input_rejected),
  upTo: row.up_to.map(Number),
  longestMs: row.longest_ms
})

// Calls per hour in PostgreSQL, for each provider and each of its tools. For the provider as a whole, `tool_id` is the
// provider's own id. One sequencer at a time adds to them, so rows are read, added to and written back.

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
const addHours = Effect.fnUntraced(function* (sql: StoreSql, hours: ReadonlyArray<SlaHour>) {
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
const keepDays = Effect.fnUntraced(function* (sql: StoreSql, days: ReadonlyArray<SlaHour>) {
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
 * Reads the hours of the provider as a whole: stored days where they are complete, hours elsewhere. One statement, because round trips
 * would cost more than its work. `MATERIALIZED` and `OFFSET 0` prevent the planner from joining its parts: it chooses a
 * bad plan on tables that have just grown.
 */
const readHours = Effect.fnUntraced(function* (sql: StoreSql, providerId: ProviderId, since: DateTime.Utc) {
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

/** Reads one tool, or all tools of the provider. */
const readToolHours = Effect.fnUntraced(function* (
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

// Lifetime figures of tools, and which consumers ever called through the proxy, in PostgreSQL. Hours and days are
// pruned; these rows stay.

const addToolFigures = (sql: StoreSql, { consumers, hours, tools }: Followed): StoreStatement<object> => {
  const { int8, timestamptz, uuid } = columnsOf([
    ...hours.flatMap((hour) => (hour.toolId === undefined ? [] : [{ ...NO_CALLS, ...hour, toolId: hour.toolId }])),
    ...tools.map((tool) => ({ ...NO_CALLS, ...tool }))
  ])
  return sql`
    WITH seen AS (
      INSERT INTO proxied_consumers SELECT id FROM unnest(${column(consumers, OID.uuid)}) AS id ORDER BY id
      ON CONFLICT DO NOTHING
    )
    INSERT INTO tool_figures AS t (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls,
      last_called_at)
    SELECT tool_id, sum(calls), sum(successes), sum(input_rejected), sum(latency_ms), sum(reported), sum(free_calls),
      max(last_called_at)
    FROM unnest(${uuid((one) => one.toolId)}, ${int8((one) => one.calls)}, ${int8((one) => one.successes)},
      ${int8((one) => one.inputRejected)}, ${int8((one) => one.latencyMs)}, ${int8((one) => one.reported)},
      ${int8((one) => one.freeCalls)},
      ${timestamptz(({ lastCalledAt }) => (lastCalledAt === undefined ? null : Date.parse(lastCalledAt)))})
      AS d (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls, last_called_at)
    GROUP BY tool_id ORDER BY tool_id
    ON CONFLICT (tool_id) DO UPDATE SET calls = t.calls + excluded.calls,
      successes = t.successes + excluded.successes, input_rejected = t.input_rejected + excluded.input_rejected,
      latency_ms = t.latency_ms + excluded.latency_ms, reported = t.reported + excluded.reported,
      free_calls = t.free_calls + excluded.free_calls,
      last_called_at = greatest(t.last_called_at, excluded.last_called_at)`
}

const NO_CALLS = {
  calls: 0,
  successes: 0,
  inputRejected: 0,
  latencyMs: 0,
  reported: 0,
  freeCalls: 0,
  lastCalledAt: undefined as string | undefined
}

const toCatalogScore = rowReader<CatalogScore>(
  { tool_p95_ms: "p95OfTools" },
  { tool_p95_ms: (text: string) => new Map(JSON.parse(text) as ReadonlyArray<readonly [ToolId, number]>) }
)

export const layer = storeLayer(SlaStore, (sql) => {
  const touchAll = (providerIds: ReadonlyArray<ProviderId>) => sql`
    INSERT INTO provider_standings AS s (provider_id, changed)
    SELECT id, true FROM unnest(${column(providerIds, OID.uuid)}) AS id
    ON CONFLICT (provider_id) DO UPDATE SET changed = true WHERE NOT s.changed`

  const catalogScores = Effect.fnUntraced(function* (ids: ReadonlyArray<ProviderId>) {
    if (ids.length === 0) return new Map<ProviderId, CatalogScore>()
    const scores = yield* sql`
      SELECT provider_id, score, badge, tool_p95_ms FROM provider_standings
      WHERE provider_id = ANY (${column(ids, OID.uuid)}) AND settled_on IS NOT NULL`.all(toCatalogScore)
    return new Map(scores.map((one) => [one.providerId, one]))
  })

  return {
    add: Effect.fnUntraced(function* (followed: Followed) {
      const { days, hours } = followed
      if (hours.length > 0) yield* addHours(sql, hours)
      if (days.length > 0) yield* addPaidDays(sql, days)
      yield* addToolFigures(sql, followed)
      if (hours.length > 0) yield* touchAll([...new Set(hours.map((one) => one.providerId))])
    }),

    selfDealing: (pairs) =>
      sql`
        SELECT a.provider_id, a.consumer_id FROM unnest(
          ${columnsOf(pairs).uuid((one) => one.providerId)}, ${columnsOf(pairs).uuid((one) => one.consumerId)})
          AS a (provider_id, consumer_id)
        LEFT JOIN providers p ON p.id = a.provider_id
        LEFT JOIN consumers c ON c.id = a.consumer_id
        WHERE a.provider_id = a.consumer_id OR lower(p.email) = lower(c.email)`.all(rowReader<Pair>()),

    hours: (providerId, since) => readHours(sql, providerId, since),
    keepDays: (days) => keepDays(sql, days),
    toolDays: (providerId, since) => readToolHours(sql, providerId, since),
    daysOfTool: (providerId, toolId, since) => readToolHours(sql, providerId, since, toolId),
    payers: (providerId, sinceDate) => readPayers(sql, providerId, sinceDate),

    takeChanged: (today, limit) =>
      sql<{ readonly provider_id: string }>`
        WITH marked AS (
          UPDATE provider_standings SET changed = false WHERE provider_id IN (
            SELECT provider_id FROM provider_standings WHERE changed ORDER BY provider_id LIMIT ${limit}
            FOR UPDATE SKIP LOCKED) RETURNING provider_id
        )
        SELECT provider_id FROM marked
        UNION (SELECT provider_id FROM provider_standings WHERE settled_on < ${today}::text::date
          LIMIT ${limit})`.all((row) => ProviderId.make(row.provider_id)),

    touch: (providerId) => Effect.asVoid(touchAll([providerId])),

    settle: Effect.fnUntraced(function* ({ badge, p95OfTools, providerId, score }, date) {
      yield* sql`
        INSERT INTO provider_standings (provider_id, changed, score, badge, tool_p95_ms, settled_on)
        VALUES (${providerId}, false, ${score}, ${badge}, ${JSON.stringify([...p95OfTools])}, ${date}::text::date)
        ON CONFLICT (provider_id) DO UPDATE SET score = excluded.score, badge = excluded.badge,
          tool_p95_ms = excluded.tool_p95_ms, settled_on = excluded.settled_on`
      yield* sql`
        INSERT INTO provider_scores (provider_id, day, score) VALUES (${providerId}, ${date}::text::date, ${score})
        ON CONFLICT (provider_id, day) DO UPDATE SET score = excluded.score`
    }),

    catalogScore: (providerId) =>
      Effect.map(catalogScores([providerId]), (all) => Option.fromUndefinedOr(all.get(providerId))),

    catalogScores,

    history: (providerId, sinceDate) => sql<ScoreOfDay>`
      SELECT to_char(day, 'YYYY-MM-DD') AS date, score FROM provider_scores
      WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date ORDER BY day`,

    prune: Effect.fnUntraced(function* (beforeDay, limit) {
      const date = sql`${DateTime.formatIsoDateUtc(beforeDay)}::text::date`
      const counts = [
        yield* prune(sql, "sla_hourly", sql`hour < ${toDate(beforeDay)}`, limit),
        yield* prune(sql, "sla_daily", sql`day < ${toDate(beforeDay)}`, limit),
        yield* prune(sql, "provider_scores", sql`day < ${date}`, limit),
        yield* prune(sql, "trust_daily", sql`day < ${date}`, limit)
      ]
      return counts.reduce((total, count) => total + count, 0)
    })
  }
})
