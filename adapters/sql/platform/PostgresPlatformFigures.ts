/**
 * Counts over the whole platform, in PostgreSQL. Calls are counted from hourly totals, never one by one.
 */
import { Effect, Layer } from "effect"
import { type MarketCounts, PlatformFigures } from "../../../domain/platform/PlatformStats.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toCounts = rowReader<MarketCounts>(
  {},
  { providers: Number, consumers: Number, tools: Number, invocations: Number }
)

export const layer = Layer.effect(
  PlatformFigures,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const all = sql`SELECT (SELECT count(*) FROM providers) AS providers, (SELECT count(*) FROM consumers) AS consumers,
      (SELECT coalesce(sum(tools), 0)::int8 FROM catalog_tallies) - (
        SELECT count(*) FROM tools WHERE withdrawn_at IS NULL
          AND provider_id IN (SELECT id FROM providers WHERE frozen_at IS NOT NULL)
      ) AS tools,
      (SELECT coalesce(sum(calls), 0)::int8 FROM usage_totals) AS invocations`

    const since = (from: Date) => sql`
      SELECT (SELECT count(*) FROM providers WHERE created_at >= ${from}) AS providers,
        (SELECT count(*) FROM consumers WHERE created_at >= ${from}) AS consumers,
        (SELECT count(*) FROM tools WHERE created_at >= ${from}) AS tools,
        (SELECT coalesce(sum(calls), 0)::int8 FROM usage_totals WHERE hour >= ${from}) AS invocations`

    return PlatformFigures.of({
      count: Effect.fn("PostgresPlatformFigures.count")((sinceHour) =>
        (sinceHour === undefined ? all : since(toDate(sinceHour))).one(toCounts)
      )
    })
  })
)
