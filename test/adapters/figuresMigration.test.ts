/**
 * Migration 0021 takes over the calls that were followed before it: from the receipts, by the rules that hold from now on.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresSlaStore from "../../adapters/sql/PostgresSlaStore.ts"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import { MarketFigures } from "../../domain/catalog/MarketFigures.ts"
import { format } from "../../domain/shared/Timestamp.ts"
import { SlaStore } from "../../domain/trust/SlaStore.ts"
import figures from "../../migrations/0021_figures.ts"
import { aConsumerId, consumerWith, money } from "../contracts/ledgerSamples.ts"
import { postgresMetering } from "../contracts/meteringPorts.ts"
import { aListedTool, called } from "../contracts/meteringSamples.ts"
import { aConsumer, aProvider } from "../contracts/samples.ts"

const ports = PostgresSlaStore.layer.pipe(Layer.provideMerge(postgresMetering))
const PRICE = 600_000

it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })("Migration 0021", (it) => {
  it.effect("counts what the log has followed, and leaves the rest to the sequencer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const provider = yield* aProvider()
      const tool = yield* aListedTool(provider, "a")
      const payer = yield* consumerWith(10_000_000)
      const twin = { ...(yield* aConsumer()), id: yield* aConsumerId, email: provider.email.toUpperCase() }
      yield* (yield* AccountStore).insertConsumer(twin)
      const now = yield* DateTime.now
      const daysAgo = (days: number) => format(DateTime.subtract(now, { days }))
      const paid = { holdAmount: money(PRICE) }
      yield* called(payer, tool, daysAgo(40), {}, paid)
      yield* called(payer, tool, daysAgo(2), {}, paid)
      yield* called(payer, tool, daysAgo(1), {}, paid)
      yield* called(payer, tool, daysAgo(1), { cost: 0, status: "timeout" }, paid)
      yield* called(payer, tool, daysAgo(1), { cost: 0, status: "error", cause: "input_rejected" }, paid)
      yield* called(payer, tool, daysAgo(1), { cost: 0, status: "error", cause: "canceled" }, paid)
      yield* called(payer, tool, daysAgo(1), {}, { ...paid, origin: "meter" })
      yield* called(twin.id, tool, daysAgo(1), { cost: 0 }, { holdAmount: money(0) })
      yield* sql`DELETE FROM receipts_unlogged`
      yield* called(payer, tool, daysAgo(1), {}, paid)

      yield* sql`DROP TABLE tool_figures, trust_daily`
      for (const table of ["sla_hourly", "sla_daily"]) yield* sql`ALTER TABLE ${sql(table)} DROP COLUMN input_rejected`
      yield* sql`CREATE TABLE provider_consumers (provider_id uuid)`
      yield* figures

      const [kept] = yield* sql`SELECT calls, successes, input_rejected, latency_ms, reported FROM tool_figures`
      assert.deepStrictEqual(
        { ...kept },
        { calls: 5n, successes: 3n, input_rejected: 1n, latency_ms: 4n * 123n, reported: 1n }
      )
      // With the one that waits: 5 of 6, and the rejected one is forgiven.
      const ofTools = yield* (yield* MarketFigures).ofTools([tool.toolId])
      assert.deepStrictEqual(ofTools.get(tool.toolId), {
        totalCalls: 6,
        reportedCalls: 1,
        avgLatencyMs: 123,
        uptimePct: 80
      })
      assert.deepStrictEqual(yield* (yield* SlaStore).payers(provider.id, daysAgo(30).slice(0, 10)), [
        {
          consumerId: payer,
          paidMicrocents: BigInt(2 * PRICE),
          paidCalls: 2,
          failedCalls: 1,
          inputRejected: 1,
          upTo: [2, 2, 2, 2, 2],
          longestMs: 123
        }
      ])
    })
  )
})
