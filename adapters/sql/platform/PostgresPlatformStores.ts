/**
 * Health history, figures, submissions and the waitlist in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { HealthHistoryStore, type HealthSamples, totalsOf } from "../../../domain/platform/HealthHistory.ts"
import { type MarketCounts, PlatformFigures } from "../../../domain/platform/PlatformStats.ts"
import {
  type Submission,
  SubmissionStore,
  type WaitlistEntry,
  WaitlistStore
} from "../../../domain/platform/Submissions.ts"
import { columnsOf } from "../shared/Columns.ts"
import { ReceiptCounter } from "../ledger/ReceiptCounter.ts"
import { rowReader, toDate } from "../shared/Rows.ts"
import { prune, storeSql, storeLayer, tracedStore } from "../shared/StoreSql.ts"

const toSamples = rowReader<HealthSamples>({ check_name: "check" }, { ok: Number, degraded: Number, down: Number })

const healthHistoryStore = storeLayer(HealthHistoryStore, (sql) => ({
  add: Effect.fnUntraced(function* (samples) {
    const rows = totalsOf(samples)
    if (rows.length === 0) return
    const { int8, text } = columnsOf(rows)
    yield* sql`
      INSERT INTO health_history AS known (day, check_name, ok, degraded, down)
      SELECT day::date, check_name, ok, degraded, down FROM unnest(${text(({ date }) => date)},
        ${text(({ check }) => check)}, ${int8(({ ok }) => ok)}, ${int8(({ degraded }) => degraded)},
        ${int8(({ down }) => down)}) AS given (day, check_name, ok, degraded, down)
      ON CONFLICT (day, check_name) DO UPDATE SET ok = known.ok + excluded.ok,
        degraded = known.degraded + excluded.degraded, down = known.down + excluded.down`
  }),

  since: (date) =>
    sql`
      SELECT to_char(day, 'YYYY-MM-DD') AS date, check_name, ok, degraded, down FROM health_history
      WHERE day >= ${date}::text::date ORDER BY day, check_name`.all(toSamples),

  prune: (before, limit) => prune(sql, "health_history", sql`day < ${before}::text::date`, limit)
}))

// Counts over the whole platform, in PostgreSQL. Every call has one place in the log, or waits for it; those of a day are
// counted from hourly totals.

const toCounts = rowReader<MarketCounts>(
  {},
  { providers: Number, consumers: Number, tools: Number, invocations: Number }
)

export const platformFigures = Layer.effect(
  PlatformFigures,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const counter = yield* ReceiptCounter

    const all = sql`SELECT (SELECT count(*) FROM providers) AS providers, (SELECT count(*) FROM consumers) AS consumers,
      (SELECT coalesce(sum(tools), 0)::int8 FROM catalog_tallies) - (
        SELECT count(*) FROM tools WHERE withdrawn_at IS NULL
          AND provider_id IN (SELECT id FROM providers WHERE frozen_at IS NOT NULL)
      ) AS tools,
      (SELECT coalesce(sum(size), 0)::int8 FROM receipt_logs)
        + (SELECT coalesce(sum(cardinality(receipt_ids)), 0)::int8 FROM receipts_unlogged) AS invocations`

    const since = (from: Date) => sql`
      SELECT (SELECT count(*) FROM providers WHERE created_at >= ${from}) AS providers,
        (SELECT count(*) FROM consumers WHERE created_at >= ${from}) AS consumers,
        (SELECT count(*) FROM tools WHERE created_at >= ${from}) AS tools,
        (SELECT coalesce(sum(calls), 0)::int8 FROM usage_hourly WHERE hour >= ${from}) AS invocations`

    return tracedStore(PlatformFigures, {
      count: (sinceHour) =>
        Effect.andThen(counter.count, (sinceHour === undefined ? all : since(toDate(sinceHour))).one(toCounts))
    })
  })
).pipe(Layer.provide(ReceiptCounter.layer))

const submissionStore = storeLayer(SubmissionStore, (sql) => ({
  add: ({ content, id, kind, submittedAt }) =>
    sql`
      INSERT INTO submissions (id, kind, content, submitted_at)
      VALUES (${id}, ${kind}, ${JSON.stringify(content)}::text::json, ${toDate(submittedAt)})`.done,

  recent: (kind, limit) =>
    sql`
      SELECT * FROM submissions WHERE kind = ${kind}
      ORDER BY submitted_at DESC, id DESC LIMIT ${limit}`.all(rowReader<Submission>()),

  eraseOf: (contact) =>
    sql`
      UPDATE submissions SET content = '{}'
      WHERE lower(btrim(content ->> 'contact')) = lower(${contact}) RETURNING id`.count,

  count: (kind, since) =>
    sql`
      SELECT count(*) FROM submissions
      WHERE kind = ${kind} ${since === undefined ? sql`` : sql`AND submitted_at >= ${toDate(since)}`}`.number
}))

const waitlistStore = storeLayer(WaitlistStore, (sql) => ({
  add: ({ email, id, joinedAt, source }) =>
    sql`
      INSERT INTO waitlist (id, email, source, joined_at)
      VALUES (${id}, ${email}, ${source}, ${toDate(joinedAt)})
      ON CONFLICT (email) DO NOTHING RETURNING id`.hasRows,

  find: (email) => sql`SELECT * FROM waitlist WHERE email = ${email}`.first(rowReader<WaitlistEntry>()),

  erase: (email) =>
    sql`
      UPDATE waitlist SET email = 'erased+' || id || '@erased.invalid', source = '' WHERE email = ${email}
      RETURNING id`.hasRows,

  count: (since) =>
    sql`SELECT count(*) FROM waitlist ${since === undefined ? sql`` : sql`WHERE joined_at >= ${toDate(since)}`}`.number
}))

export const layer = Layer.mergeAll(healthHistoryStore, platformFigures, submissionStore, waitlistStore)
