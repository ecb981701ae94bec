/**
 * docs/retention.md names every table, with the days in the code; and rollups shrink old data.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import { MARKET_OWNER } from "../../domain/ledger/Transfer.ts"
import { UNFIT_DAYS_KEPT } from "../../domain/metering/Settlement.ts"
import { Usage, USAGE_DAYS_BY_HOUR } from "../../domain/metering/Usage.ts"
import { HISTORY_DAYS_KEPT } from "../../domain/platform/HealthHistory.ts"
import { PAYMENT_EVENT_DAYS_KEPT } from "../../domain/processor/PaymentEvents.ts"
import { IDEMPOTENCY_DAYS_KEPT } from "../../domain/shared/Idempotency.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { MEASURED_DAYS_KEPT } from "../../domain/trust/ProviderTrust.ts"
import { MAILED_DAYS_KEPT } from "../../domain/trust/Verification.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"

/** By table: what it holds, what it grows with, how long rows are kept, what removes them. */
const rows = new Map(
  readFileSync(join(import.meta.dirname, "../../docs/retention.md"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [table, ...cells] = line.split("|").slice(1, -1)
      const name = /^ `(\w+)` *$/u.exec(table ?? "")?.[1]
      return name === undefined ? [] : [[name, cells.map((cell) => cell.trim())] as const]
    })
)

const PRUNED: Readonly<Record<string, number>> = {
  idempotency_keys: IDEMPOTENCY_DAYS_KEPT,
  call_idempotency: IDEMPOTENCY_DAYS_KEPT,
  meter_keys: IDEMPOTENCY_DAYS_KEPT,
  unfit_outputs: UNFIT_DAYS_KEPT,
  payment_events: PAYMENT_EVENT_DAYS_KEPT,
  usage_hourly: USAGE_DAYS_BY_HOUR,
  sla_hourly: MEASURED_DAYS_KEPT,
  sla_daily: MEASURED_DAYS_KEPT,
  trust_daily: MEASURED_DAYS_KEPT,
  provider_scores: MEASURED_DAYS_KEPT,
  health_history: HISTORY_DAYS_KEPT,
  mailed_addresses: MAILED_DAYS_KEPT
}

const usage = Usage.layer.pipe(Layer.provide(PostgresUsageStore.layer), Layer.provideMerge(PostgresTest.layer))

it.layer(usage, { timeout: "60 seconds", excludeTestServices: true })("Retention", (it) => {
  it.effect("is documented for every table of the schema, and for no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* sql<{ readonly name: string }>`
        SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'`
      assert.deepStrictEqual([...rows.keys()].toSorted(), tables.map(({ name }) => name).toSorted())
      for (const [name, cells] of rows) {
        assert.lengthOf(cells, 4, name)
        assert.notInclude(cells, "", name)
      }
    })
  )

  it("states the number of days in the code for whatever is pruned", () => {
    for (const [name, days] of Object.entries(PRUNED)) {
      const [, , kept, by] = rows.get(name) ?? []
      assert.match(kept ?? "", new RegExp(`\\b${days} days?\\b`, "u"), name)
      assert.strictEqual(by, "`prune`", name)
    }
    const said = [...rows].filter(([, cells]) => cells.at(-1) === "`prune`").map(([name]) => name)
    assert.deepStrictEqual(said.toSorted(), Object.keys(PRUNED).toSorted())
  })

  it.effect("merges older usage into one row a day, and keeps the hours of the last 90 days", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ids = [randomUUID(), randomUUID(), randomUUID()] as const
      const today = DateTime.startOf(yield* DateTime.now, "day")
      const firstByHour = DateTime.subtract(today, { days: USAGE_DAYS_BY_HOUR })
      const lastByDay = DateTime.subtract(firstByHour, { days: 1 })
      for (const day of [firstByHour, lastByDay]) {
        for (const hour of [0, 1, 23]) {
          const at = DateTime.toDate(DateTime.add(day, { hours: hour }))
          yield* sql`INSERT INTO usage_hourly VALUES
            (${ids[0]}, ${at}, ${ids[1]}, ${ids[2]}, 2, 1, 1, 30, 4, 50, 60, 70, 80, 90)`
        }
      }
      const { rollUp } = yield* Usage
      assert.deepStrictEqual([yield* rollUp, yield* rollUp], [2, 0])
      const left = yield* sql<{ readonly at: Date; readonly figures: string }>`
        SELECT hour AS at, concat_ws(' ', calls, successes, timeouts, spend, fee, latency_ms, request_bytes,
          response_bytes, tokens_input, tokens_output) AS figures FROM usage_hourly ORDER BY hour`
      const one = "2 1 1 30 4 50 60 70 80 90"
      assert.deepStrictEqual(
        left.map(({ at, figures }) => [at.toISOString(), figures]),
        [
          [DateTime.formatIso(lastByDay), "6 3 3 90 12 150 180 210 240 270"],
          ...[0, 1, 23].map((hours) => [DateTime.formatIso(DateTime.add(firstByHour, { hours })), one])
        ]
      )
    })
  )

  it.effect("adds a provider's usage from before to its days, one at a time, and shows the same meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { rollUp, summary } = yield* Usage
      const [tool, provider] = [randomUUID(), ProviderId.make(randomUUID())]
      const today = DateTime.startOf(yield* DateTime.now, "day")
      const figures = sql.literal("3, 2, 1, 40, 4, 50, 60, 70, 80, 90")
      for (const [daysAgo, hour] of [
        [0, 0],
        [1, 0],
        [1, 23],
        [3, 5]
      ] as const) {
        const at = DateTime.toDate(DateTime.add(today, { days: -daysAgo, hours: hour }))
        for (const consumer of [randomUUID(), randomUUID()])
          yield* sql`INSERT INTO usage_hourly VALUES (${consumer}, ${at}, ${tool}, ${provider}, ${figures})`
      }
      // What was counted of yesterday since the migration, and the day that the migration leaves.
      const yesterday = DateTime.toDate(DateTime.subtract(today, { days: 1 }))
      yield* sql`INSERT INTO provider_usage VALUES (${provider}, ${yesterday}, ${tool}, ${figures})`
      yield* sql`UPDATE provider_usage SET day = 'infinity' WHERE provider_id = ${MARKET_OWNER}`

      const seen = Effect.map(summary({ role: "provider", ownerId: provider }, "7d"), ({ totals, byDay }) => ({
        totals,
        byDay
      }))
      const before = yield* seen
      assert.strictEqual(before.totals.calls, 24)
      let rounds = 0
      while ((yield* rollUp) > 0) {
        rounds++
        assert.deepStrictEqual(yield* seen, before)
      }
      assert.strictEqual(rounds, USAGE_DAYS_BY_HOUR + 2)
      yield* sql`DELETE FROM usage_hourly WHERE provider_id = ${provider}`
      assert.deepStrictEqual(yield* seen, before)
    })
  )
})
