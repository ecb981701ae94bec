/**
 * Hours of tools in PostgreSQL. One sequencer at a time adds to them, so a row is read, added to and written back.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { ConsumerId, ProviderId, type ToolId } from "../../../domain/shared/Ids.ts"
import { bounded } from "../../../domain/trust/Latencies.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import { type Followed, type Pair, SlaStore, type Standing, type ToolCalls } from "../../../domain/trust/SlaStore.ts"
import type { Badge } from "../../../domain/trust/TrustScore.ts"
import { column, OID } from "../shared/Columns.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { addPaidDays, readPayers } from "./PaidCallRows.ts"

interface HourRow extends CountsRow {
  readonly provider_id: string
  readonly tool_id: string
}

interface CountsRow {
  readonly hour: Date
  readonly calls: bigint
  readonly successes: bigint
  readonly timeouts: bigint
  readonly input_rejected: bigint
  readonly latency_ms: bigint
  readonly latencies: Uint8Array
}

interface StandingRow {
  readonly provider_id: string
  readonly score: number
  readonly badge: string
  readonly tool_p95_ms: string
}

export const layer = Layer.effect(
  SlaStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const keysOf = (hours: ReadonlyArray<SlaHour>) =>
      [
        column(
          hours.map((one) => one.providerId),
          OID.uuid
        ),
        column(
          hours.map((one) => toDate(one.hour)),
          OID.timestamptz
        ),
        column(
          hours.map((one) => one.toolId ?? one.providerId),
          OID.uuid
        )
      ] as const

    /** From the calls on. */
    const countsOf = (hours: ReadonlyArray<SlaHour>) => {
      const whole = (of: (one: SlaHour) => number) =>
        column(
          hours.map((one) => BigInt(of(one))),
          OID.int8
        )
      return sql`${whole((one) => one.calls)}, ${whole((one) => one.successes)}, ${whole((one) => one.timeouts)},
        ${whole((one) => one.inputRejected)}, ${whole((one) => one.latencyMs)}, ${column(
          hours.map((one) => bounded(one.latencies)),
          OID.bytea
        )}`
    }

    const addHours = Effect.fnUntraced(function* (hours: ReadonlyArray<SlaHour>) {
      const [providers, at, tools] = keysOf(hours)
      const known = yield* sql<HourRow>`
        SELECT h.* FROM sla_hourly h JOIN unnest(${providers}, ${at}, ${tools}) AS k (provider_id, hour, tool_id)
          USING (provider_id, hour, tool_id)`
      const before = new Map(known.map(toHour).map((one) => [keyOf(one), one]))
      const sums = hours.map((one) => {
        const old = before.get(keyOf(one))
        return old === undefined ? one : added(old, one)
      })
      const [sumProviders, sumAt, sumTools] = keysOf(sums)
      yield* sql`
        INSERT INTO sla_hourly (provider_id, hour, tool_id, calls, successes, timeouts, input_rejected, latency_ms,
          latencies)
        SELECT * FROM unnest(${sumProviders}, ${sumAt}, ${sumTools}, ${countsOf(sums)})
        ON CONFLICT (provider_id, tool_id, hour) DO UPDATE SET calls = excluded.calls, successes = excluded.successes,
          timeouts = excluded.timeouts, input_rejected = excluded.input_rejected, latency_ms = excluded.latency_ms,
          latencies = excluded.latencies`
    })

    /** All that is known of tools and their consumers, however long ago: hours and days are forgotten. */
    const addFigures = ({ consumers, hours, tools }: Followed) => {
      const days = hours.filter((one) => one.toolId !== undefined)
      const both = <A>(ofDay: (one: SlaHour) => A, ofTool: (one: ToolCalls) => A, oid: number) =>
        column([...days.map(ofDay), ...tools.map(ofTool)], oid)
      const ofDays = (of: (one: SlaHour) => number) =>
        both(
          (one) => BigInt(of(one)),
          () => 0n,
          OID.int8
        )
      const ofTools = (of: (one: ToolCalls) => number) =>
        both(
          () => 0n,
          (one) => BigInt(of(one)),
          OID.int8
        )
      const ids = both(
        (one) => one.toolId!,
        (one) => one.toolId,
        OID.uuid
      )
      const lastCalls = both(
        () => null,
        ({ lastCalledAt }) => (lastCalledAt === undefined ? null : Date.parse(lastCalledAt)),
        OID.timestamptz
      )
      return sql`
        WITH seen AS (
          INSERT INTO proxied_consumers SELECT id FROM unnest(${column(consumers, OID.uuid)}) AS id ORDER BY id
          ON CONFLICT DO NOTHING
        )
        INSERT INTO tool_figures AS t (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls,
          last_called_at)
        SELECT tool_id, sum(calls), sum(successes), sum(input_rejected), sum(latency_ms), sum(reported), sum(free_calls),
          max(last_called_at)
        FROM unnest(${ids}, ${ofDays((one) => one.calls)}, ${ofDays((one) => one.successes)},
          ${ofDays((one) => one.inputRejected)}, ${ofDays((one) => one.latencyMs)},
          ${ofTools((one) => one.reported)}, ${ofTools((one) => one.freeCalls)}, ${lastCalls})
          AS d (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls, last_called_at)
        GROUP BY tool_id ORDER BY tool_id
        ON CONFLICT (tool_id) DO UPDATE SET calls = t.calls + excluded.calls,
          successes = t.successes + excluded.successes, input_rejected = t.input_rejected + excluded.input_rejected,
          latency_ms = t.latency_ms + excluded.latency_ms, reported = t.reported + excluded.reported,
          free_calls = t.free_calls + excluded.free_calls,
          last_called_at = greatest(t.last_called_at, excluded.last_called_at)`
    }

    const add = Effect.fn("PostgresSlaStore.add")(function* (followed: Followed) {
      const { days, hours } = followed
      if (hours.length > 0) yield* addHours(hours)
      if (days.length > 0) yield* addPaidDays(sql, days)
      yield* addFigures(followed)
      if (hours.length > 0) yield* touchAll([...new Set(hours.map((one) => one.providerId))])
    }, Effect.orDie)

    const touchAll = (providerIds: ReadonlyArray<ProviderId>) => sql`
      INSERT INTO provider_standings AS s (provider_id, changed)
      SELECT id, true FROM unnest(${column(providerIds, OID.uuid)}) AS id
      ON CONFLICT (provider_id) DO UPDATE SET changed = true WHERE NOT s.changed`

    const selfDealing = Effect.fn("PostgresSlaStore.selfDealing")(function* (pairs: ReadonlyArray<Pair>) {
      const rows = yield* sql<{ readonly provider_id: string; readonly consumer_id: string }>`
        SELECT a.provider_id, a.consumer_id FROM unnest(
          ${column(
            pairs.map((one) => one.providerId),
            OID.uuid
          )}, ${column(
            pairs.map((one) => one.consumerId),
            OID.uuid
          )})
          AS a (provider_id, consumer_id)
        LEFT JOIN providers p ON p.id = a.provider_id
        LEFT JOIN consumers c ON c.id = a.consumer_id
        WHERE a.provider_id = a.consumer_id OR lower(p.email) = lower(c.email)`
      return rows.map((row) => ({
        providerId: ProviderId.make(row.provider_id),
        consumerId: ConsumerId.make(row.consumer_id)
      }))
    }, Effect.orDie)

    /**
     * One statement, for its round trips would cost more than its work; in parts that the planner cannot join, for it falls
     * for tables that have just grown.
     */
    const hours = Effect.fn("PostgresSlaStore.hours")(function* (providerId: ProviderId, since: DateTime.Utc) {
      const ofProvider = sql`provider_id = ${providerId}`
      const asked = sql`${ofProvider} AND tool_id = ${providerId} AND hour >= ${toDate(since)}`
      const rows = yield* sql<CountsRow>`
        WITH counted AS MATERIALIZED (
          SELECT date_bin('1 day', hour, 'epoch') AS day, sum(calls)::int8 AS calls FROM sla_hourly WHERE ${asked} GROUP BY 1
        ), whole AS MATERIALIZED (
          SELECT day, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM sla_daily
          WHERE ${ofProvider} AND day >= ${toDate(since)} AND (day, calls) IN (SELECT day, calls FROM counted)
        )
        SELECT day AS hour, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM whole
        UNION ALL
        SELECT h.* FROM counted c CROSS JOIN LATERAL (
          SELECT hour, calls, successes, timeouts, input_rejected, latency_ms, latencies FROM sla_hourly
          WHERE ${asked} AND hour >= c.day AND hour < c.day + interval '1 day' OFFSET 0) h
        WHERE c.day NOT IN (SELECT day FROM whole)`
      return rows.map((row) => toCounts(row, providerId, undefined))
    }, Effect.orDie)

    const keepDays = Effect.fn("PostgresSlaStore.keepDays")(function* (days: ReadonlyArray<SlaHour>) {
      if (days.length === 0) return
      const [providers, at] = keysOf(days)
      yield* sql`
        INSERT INTO sla_daily AS d (provider_id, day, calls, successes, timeouts, input_rejected, latency_ms, latencies)
        SELECT * FROM unnest(${providers}, ${at}, ${countsOf(days)})
        ON CONFLICT (provider_id, day) DO UPDATE SET calls = excluded.calls, successes = excluded.successes,
          timeouts = excluded.timeouts, input_rejected = excluded.input_rejected, latency_ms = excluded.latency_ms,
          latencies = excluded.latencies
        WHERE excluded.calls > d.calls`
    }, Effect.orDie)

    const toolDays = Effect.fn("PostgresSlaStore.toolDays")(function* (providerId: ProviderId, since: DateTime.Utc) {
      const rows = yield* sql<HourRow>`
        SELECT * FROM sla_hourly
        WHERE provider_id = ${providerId} AND tool_id <> ${providerId} AND hour >= ${toDate(since)}`
      return rows.map(toHour)
    }, Effect.orDie)

    const daysOfTool = Effect.fn("PostgresSlaStore.daysOfTool")(function* (
      providerId: ProviderId,
      toolId: ToolId,
      since: DateTime.Utc
    ) {
      const rows = yield* sql<HourRow>`
        SELECT * FROM sla_hourly WHERE provider_id = ${providerId} AND tool_id = ${toolId} AND hour >= ${toDate(since)}`
      return rows.map(toHour)
    }, Effect.orDie)

    const takeChanged = Effect.fn("PostgresSlaStore.takeChanged")(function* (today: string, limit: number) {
      const rows = yield* sql<{ readonly provider_id: string }>`
        WITH marked AS (
          UPDATE provider_standings SET changed = false WHERE provider_id IN (
            SELECT provider_id FROM provider_standings WHERE changed ORDER BY provider_id LIMIT ${limit}
            FOR UPDATE SKIP LOCKED) RETURNING provider_id
        )
        SELECT provider_id FROM marked
        UNION (SELECT provider_id FROM provider_standings WHERE settled_on < ${today}::text::date LIMIT ${limit})`
      return rows.map((row) => ProviderId.make(row.provider_id))
    }, Effect.orDie)

    const settle = Effect.fn("PostgresSlaStore.settle")(function* (standing: Standing, date: string) {
      const p95 = JSON.stringify([...standing.p95OfTools])
      yield* sql`
        INSERT INTO provider_standings (provider_id, changed, score, badge, tool_p95_ms, settled_on)
        VALUES (${standing.providerId}, false, ${standing.score}, ${standing.badge}, ${p95}, ${date}::text::date)
        ON CONFLICT (provider_id) DO UPDATE SET score = excluded.score, badge = excluded.badge,
          tool_p95_ms = excluded.tool_p95_ms, settled_on = excluded.settled_on`
      yield* sql`
        INSERT INTO provider_scores (provider_id, day, score)
        VALUES (${standing.providerId}, ${date}::text::date, ${standing.score})
        ON CONFLICT (provider_id, day) DO UPDATE SET score = excluded.score`
    }, Effect.orDie)

    const standings = Effect.fn("PostgresSlaStore.standings")(function* (ids: ReadonlyArray<ProviderId>) {
      if (ids.length === 0) return new Map<ProviderId, Standing>()
      const rows = yield* sql<StandingRow>`
        SELECT provider_id, score, badge, tool_p95_ms FROM provider_standings
        WHERE provider_id = ANY (${column(ids, OID.uuid)}) AND settled_on IS NOT NULL`
      return new Map(rows.map(toStanding).map((one) => [one.providerId, one]))
    }, Effect.orDie)

    const history = Effect.fn("PostgresSlaStore.history")(function* (providerId: ProviderId, sinceDate: string) {
      return yield* sql<{ readonly date: string; readonly score: number }>`
        SELECT to_char(day, 'YYYY-MM-DD') AS date, score FROM provider_scores
        WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date ORDER BY day`
    }, Effect.orDie)

    const prune = Effect.fn("PostgresSlaStore.prune")(function* (beforeDay: DateTime.Utc, limit: number) {
      const day = toDate(beforeDay)
      const date = DateTime.formatIsoDateUtc(beforeDay)
      const counts = [
        yield* gone(sql`sla_hourly`, sql`hour < ${day}`, limit),
        yield* gone(sql`sla_daily`, sql`day < ${day}`, limit),
        yield* gone(sql`provider_scores`, sql`day < ${date}::text::date`, limit),
        yield* gone(sql`trust_daily`, sql`day < ${date}::text::date`, limit)
      ]
      return counts.reduce((sum, count) => sum + count, 0)
    }, Effect.orDie)

    const gone = Effect.fnUntraced(function* (table: Statement.Fragment, old: Statement.Fragment, limit: number) {
      const [row] = yield* sql<{ readonly gone: bigint }>`
        WITH gone AS (
          DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${old} LIMIT ${limit}))
          RETURNING 1
        ) SELECT count(*) AS gone FROM gone`
      return Number(row!.gone)
    })

    return SlaStore.of({
      add,
      selfDealing,
      hours,
      keepDays,
      toolDays,
      daysOfTool,
      payers: (providerId, sinceDate) => Effect.orDie(readPayers(sql, providerId, sinceDate)),
      takeChanged,
      touch: (providerId) => Effect.orDie(Effect.asVoid(touchAll([providerId]))),
      settle,
      standing: (providerId) =>
        Effect.map(standings([providerId]), (all) => Option.fromUndefinedOr(all.get(providerId))),
      standings,
      history,
      prune
    })
  })
)

const keyOf = (one: SlaHour): string => `${one.providerId} ${one.toolId} ${one.hour.epochMilliseconds}`

/** The columns' types are as strict as the brands: nothing is checked again, for there are many. */
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

const toStanding = (row: StandingRow): Standing => ({
  providerId: ProviderId.make(row.provider_id),
  score: row.score,
  badge: row.badge as Badge,
  p95OfTools: new Map(JSON.parse(row.tool_p95_ms) as ReadonlyArray<readonly [ToolId, number]>)
})
