/**
 * SLA figures, trust scores and their inputs, in PostgreSQL.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { ProviderId, type ToolId } from "../../../domain/shared/Ids.ts"
import { type CatalogScore, type Pair, type ScoreOfDay, SlaStore } from "../../../domain/trust/SlaStore.ts"
import { columnsOf, column, OID } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { addPaidDays, readPayers } from "./PaidCallRows.ts"
import { addHours, keepDays, readHours, readToolHours } from "./SlaHours.ts"
import { addToolFigures } from "./ToolFigures.ts"
import { prune } from "../shared/Prune.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toCatalogScore = rowReader<CatalogScore>(
  { tool_p95_ms: "p95OfTools" },
  { tool_p95_ms: (text: string) => new Map(JSON.parse(text) as ReadonlyArray<readonly [ToolId, number]>) }
)

export const layer = Layer.effect(
  SlaStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const touchAll = (providerIds: ReadonlyArray<ProviderId>) => sql`
      INSERT INTO provider_standings AS s (provider_id, changed)
      SELECT id, true FROM unnest(${column(providerIds, OID.uuid)}) AS id
      ON CONFLICT (provider_id) DO UPDATE SET changed = true WHERE NOT s.changed`

    const catalogScores = Effect.fn("PostgresSlaStore.catalogScores")(function* (ids: ReadonlyArray<ProviderId>) {
      if (ids.length === 0) return new Map<ProviderId, CatalogScore>()
      const scores = yield* sql`
        SELECT provider_id, score, badge, tool_p95_ms FROM provider_standings
        WHERE provider_id = ANY (${column(ids, OID.uuid)}) AND settled_on IS NOT NULL`.all(toCatalogScore)
      return new Map(scores.map((one) => [one.providerId, one]))
    })

    return SlaStore.of({
      add: Effect.fn("PostgresSlaStore.add")(function* (followed) {
        const { days, hours } = followed
        if (hours.length > 0) yield* addHours(sql, hours)
        if (days.length > 0) yield* addPaidDays(sql, days)
        yield* addToolFigures(sql, followed)
        if (hours.length > 0) yield* touchAll([...new Set(hours.map((one) => one.providerId))])
      }),

      selfDealing: Effect.fn("PostgresSlaStore.selfDealing")((pairs) =>
        sql`
          SELECT a.provider_id, a.consumer_id FROM unnest(
            ${columnsOf(pairs).uuid((one) => one.providerId)}, ${columnsOf(pairs).uuid((one) => one.consumerId)})
            AS a (provider_id, consumer_id)
          LEFT JOIN providers p ON p.id = a.provider_id
          LEFT JOIN consumers c ON c.id = a.consumer_id
          WHERE a.provider_id = a.consumer_id OR lower(p.email) = lower(c.email)`.all(rowReader<Pair>())
      ),

      hours: (providerId, since) => readHours(sql, providerId, since),
      keepDays: (days) => keepDays(sql, days),
      toolDays: (providerId, since) => readToolHours(sql, providerId, since),
      daysOfTool: (providerId, toolId, since) => readToolHours(sql, providerId, since, toolId),
      payers: (providerId, sinceDate) => readPayers(sql, providerId, sinceDate),

      takeChanged: Effect.fn("PostgresSlaStore.takeChanged")((today, limit) =>
        sql<{ readonly provider_id: string }>`
          WITH marked AS (
            UPDATE provider_standings SET changed = false WHERE provider_id IN (
              SELECT provider_id FROM provider_standings WHERE changed ORDER BY provider_id LIMIT ${limit}
              FOR UPDATE SKIP LOCKED) RETURNING provider_id
          )
          SELECT provider_id FROM marked
          UNION (SELECT provider_id FROM provider_standings WHERE settled_on < ${today}::text::date
            LIMIT ${limit})`.all((row) => ProviderId.make(row.provider_id))
      ),

      touch: (providerId) => Effect.asVoid(touchAll([providerId])),

      settle: Effect.fn("PostgresSlaStore.settle")(function* ({ badge, p95OfTools, providerId, score }, date) {
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

      history: Effect.fn("PostgresSlaStore.history")(
        (providerId, sinceDate) => sql<ScoreOfDay>`
          SELECT to_char(day, 'YYYY-MM-DD') AS date, score FROM provider_scores
          WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date ORDER BY day`
      ),

      prune: Effect.fn("PostgresSlaStore.prune")(function* (beforeDay, limit) {
        const date = sql`${DateTime.formatIsoDateUtc(beforeDay)}::text::date`
        const counts = [
          yield* prune(sql, "sla_hourly", sql`hour < ${toDate(beforeDay)}`, limit),
          yield* prune(sql, "sla_daily", sql`day < ${toDate(beforeDay)}`, limit),
          yield* prune(sql, "provider_scores", sql`day < ${date}`, limit),
          yield* prune(sql, "trust_daily", sql`day < ${date}`, limit)
        ]
        return counts.reduce((total, count) => total + count, 0)
      })
    })
  })
)
