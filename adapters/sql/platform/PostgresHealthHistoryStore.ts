/**
 * The history of health checks in PostgreSQL. Rows are updated in key order, so that nodes that write at the same
 * moment cannot deadlock.
 */
import { Effect, Layer } from "effect"
import { HealthHistoryStore, type HealthSamples, totalsOf } from "../../../domain/platform/HealthHistory.ts"
import { columnsOf } from "../shared/Columns.ts"
import { prune } from "../shared/Prune.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toSamples = rowReader<HealthSamples>({ check_name: "check" }, { ok: Number, degraded: Number, down: Number })

export const layer = Layer.effect(
  HealthHistoryStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return HealthHistoryStore.of({
      add: Effect.fn("PostgresHealthHistoryStore.add")(function* (samples) {
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

      since: Effect.fn("PostgresHealthHistoryStore.since")((date) =>
        sql`
          SELECT to_char(day, 'YYYY-MM-DD') AS date, check_name, ok, degraded, down FROM health_history
          WHERE day >= ${date}::text::date ORDER BY day, check_name`.all(toSamples)
      ),

      prune: Effect.fn("PostgresHealthHistoryStore.prune")((before, limit) =>
        prune(sql, "health_history", sql`day < ${before}::text::date`, limit)
      )
    })
  })
)
