/**
 * Migrations 0021 and 0033 take over the calls that were followed before them: from the receipts, by the rules that hold
 * from now on.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresSlaStore from "../../adapters/sql/trust/PostgresSlaStore.ts"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import { MarketFigures } from "../../domain/catalog/MarketFigures.ts"
import { format } from "../../domain/shared/Timestamp.ts"
import { SlaStore } from "../../domain/trust/SlaStore.ts"
import figures from "../../migrations/0021_figures.ts"
import marketFigures from "../../migrations/0033_market_figures.ts"
import { aConsumerId, consumerWith, money } from "../contracts/ledgerSamples.ts"
import { postgresMetering } from "../contracts/meteringPorts.ts"
import { aListedTool, called } from "../contracts/meteringSamples.ts"
import { aConsumer, aProvider } from "../contracts/samples.ts"

const ports = PostgresSlaStore.layer.pipe(Layer.provideMerge(postgresMetering))
const PRICE = 600_000

it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })("Migrations 0021 and 0033", (it) => {
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

      yield* sql`DROP TABLE tool_figures, trust_daily, proxied_consumers`
      for (const table of ["sla_hourly", "sla_daily"]) yield* sql`ALTER TABLE ${sql(table)} DROP COLUMN input_rejected`
      yield* sql`CREATE TABLE provider_consumers (provider_id uuid)`
      yield* figures
      yield* marketFigures

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

  it.effect("count free calls, consumers and the newest call of what was proxied, but not what was reported", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = yield* (yield* MarketFigures).totals
      const provider = yield* aProvider()
      const [tool, reportedOnly] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
      const [caller, reporting] = [yield* consumerWith(10_000), yield* consumerWith(10_000)]
      const newest = format(DateTime.add(yield* DateTime.now, { days: 1 }))
      const later = format(DateTime.add(yield* DateTime.now, { days: 2 }))
      const free = { freeTierCalls: 1 }
      yield* called(caller, tool, newest, { cost: 0 }, free)
      yield* called(caller, tool, newest, {})
      yield* called(caller, tool, newest, { cost: 0, status: "error" })
      yield* called(reporting, reportedOnly, later, { cost: 0 }, { ...free, origin: "meter" })
      yield* sql`ALTER TABLE receipts DISABLE TRIGGER append_only`
      yield* sql`UPDATE receipts SET origin = 1 WHERE origin = 3`
      yield* sql`ALTER TABLE receipts ENABLE TRIGGER append_only`
      yield* sql`DELETE FROM receipts_unlogged`
      yield* sql`INSERT INTO tool_figures VALUES (${tool.toolId}, 3, 2, 0, 369, 0), (${reportedOnly.toolId}, 0, 0, 0, 0, 1)`

      yield* sql`DROP TABLE IF EXISTS proxied_consumers`
      yield* sql`ALTER TABLE tool_figures DROP COLUMN IF EXISTS free_calls, DROP COLUMN IF EXISTS last_called_at`
      yield* marketFigures

      const { freeCalls, lastInvocation, uniqueAgents, uniqueTools } = yield* (yield* MarketFigures).totals
      assert.deepStrictEqual(
        { freeCalls, lastInvocation, uniqueAgents, uniqueTools },
        {
          freeCalls: before.freeCalls + 1,
          lastInvocation: newest,
          uniqueAgents: before.uniqueAgents + 1,
          uniqueTools: before.uniqueTools + 1
        }
      )
    })
  )
})
