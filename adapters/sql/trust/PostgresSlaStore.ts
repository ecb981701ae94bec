/**
 * SLA figures, trust scores and their inputs, in PostgreSQL.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { ConsumerId, ProviderId, type ToolId } from "../../../domain/shared/Ids.ts"
import { type Followed, type Pair, SlaStore, type CatalogScore } from "../../../domain/trust/SlaStore.ts"
import type { Badge } from "../../../domain/trust/TrustScore.ts"
import { columnsOf, column, OID } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { addPaidDays, readPayers } from "./PaidCallRows.ts"
import { addHours, keepDays, readHours, readToolHours } from "./SlaHours.ts"
import { addToolFigures } from "./ToolFigures.ts"
import { prune } from "../shared/Prune.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface CatalogScoreRow {
  readonly provider_id: string
  readonly score: number
  readonly badge: string
  readonly tool_p95_ms: string
}

export const layer = Layer.effect(
  SlaStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const add = Effect.fn("PostgresSlaStore.add")(function* (followed: Followed) {
      const { days, hours } = followed
      if (hours.length > 0) yield* addHours(sql, hours)
      if (days.length > 0) yield* addPaidDays(sql, days)
      yield* addToolFigures(sql, followed)
      if (hours.length > 0) yield* touchAll([...new Set(hours.map((one) => one.providerId))])
    })

    const touchAll = (providerIds: ReadonlyArray<ProviderId>) => sql`
      INSERT INTO provider_standings AS s (provider_id, changed)
      SELECT id, true FROM unnest(${column(providerIds, OID.uuid)}) AS id
      ON CONFLICT (provider_id) DO UPDATE SET changed = true WHERE NOT s.changed`

    const selfDealing = Effect.fn("PostgresSlaStore.selfDealing")(function* (pairs: ReadonlyArray<Pair>) {
      const rows = yield* sql<{ readonly provider_id: string; readonly consumer_id: string }>`
        SELECT a.provider_id, a.consumer_id FROM unnest(
          ${columnsOf(pairs).uuid((one) => one.providerId)}, ${columnsOf(pairs).uuid((one) => one.consumerId)})
          AS a (provider_id, consumer_id)
        LEFT JOIN providers p ON p.id = a.provider_id
        LEFT JOIN consumers c ON c.id = a.consumer_id
        WHERE a.provider_id = a.consumer_id OR lower(p.email) = lower(c.email)`
      return rows.map((row) => ({
        providerId: ProviderId.make(row.provider_id),
        consumerId: ConsumerId.make(row.consumer_id)
      }))
    })

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
    })

    const settle = Effect.fn("PostgresSlaStore.settle")(function* (catalogScore: CatalogScore, date: string) {
      const p95 = JSON.stringify([...catalogScore.p95OfTools])
      yield* sql`
        INSERT INTO provider_standings (provider_id, changed, score, badge, tool_p95_ms, settled_on)
        VALUES (${catalogScore.providerId}, false, ${catalogScore.score}, ${catalogScore.badge}, ${p95}, ${date}::text::date)
        ON CONFLICT (provider_id) DO UPDATE SET score = excluded.score, badge = excluded.badge,
          tool_p95_ms = excluded.tool_p95_ms, settled_on = excluded.settled_on`
      yield* sql`
        INSERT INTO provider_scores (provider_id, day, score)
        VALUES (${catalogScore.providerId}, ${date}::text::date, ${catalogScore.score})
        ON CONFLICT (provider_id, day) DO UPDATE SET score = excluded.score`
    })

    const catalogScores = Effect.fn("PostgresSlaStore.catalogScores")(function* (ids: ReadonlyArray<ProviderId>) {
      if (ids.length === 0) return new Map<ProviderId, CatalogScore>()
      const rows = yield* sql<CatalogScoreRow>`
        SELECT provider_id, score, badge, tool_p95_ms FROM provider_standings
        WHERE provider_id = ANY (${column(ids, OID.uuid)}) AND settled_on IS NOT NULL`
      return new Map(rows.map(toCatalogScore).map((one) => [one.providerId, one]))
    })

    const history = Effect.fn("PostgresSlaStore.history")(function* (providerId: ProviderId, sinceDate: string) {
      return yield* sql<{ readonly date: string; readonly score: number }>`
        SELECT to_char(day, 'YYYY-MM-DD') AS date, score FROM provider_scores
        WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date ORDER BY day`
    })

    const pruneAll = Effect.fn("PostgresSlaStore.prune")(function* (beforeDay: DateTime.Utc, limit: number) {
      const date = sql`${DateTime.formatIsoDateUtc(beforeDay)}::text::date`
      const counts = [
        yield* prune(sql, "sla_hourly", sql`hour < ${toDate(beforeDay)}`, limit),
        yield* prune(sql, "sla_daily", sql`day < ${toDate(beforeDay)}`, limit),
        yield* prune(sql, "provider_scores", sql`day < ${date}`, limit),
        yield* prune(sql, "trust_daily", sql`day < ${date}`, limit)
      ]
      return counts.reduce((total, count) => total + count, 0)
    })

    return SlaStore.of({
      add,
      selfDealing,
      hours: (providerId, since) => readHours(sql, providerId, since),
      keepDays: (days) => keepDays(sql, days),
      toolDays: (providerId, since) => readToolHours(sql, providerId, since),
      daysOfTool: (providerId, toolId, since) => readToolHours(sql, providerId, since, toolId),
      payers: (providerId, sinceDate) => readPayers(sql, providerId, sinceDate),
      takeChanged,
      touch: (providerId) => Effect.asVoid(touchAll([providerId])),
      settle,
      catalogScore: (providerId) =>
        Effect.map(catalogScores([providerId]), (all) => Option.fromUndefinedOr(all.get(providerId))),
      catalogScores,
      history,
      prune: pruneAll
    })
  })
)

const toCatalogScore = (row: CatalogScoreRow): CatalogScore => ({
  providerId: ProviderId.make(row.provider_id),
  score: row.score,
  badge: row.badge as Badge,
  p95OfTools: new Map(JSON.parse(row.tool_p95_ms) as ReadonlyArray<readonly [ToolId, number]>)
})
