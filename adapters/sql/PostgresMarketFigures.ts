/**
 * Figures of the market from the hourly rollups that every settlement keeps; never from the calls one by one.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MarketFigures, type MarketTotals, type ToolFigures } from "../../domain/catalog/MarketFigures.ts"
import type { ToolId } from "../../domain/shared/Ids.ts"

interface TotalsRow {
  readonly invocations: bigint
  readonly successful: bigint
  readonly agents: bigint
  readonly tools: bigint
  readonly revenue: bigint
  readonly latency_ms: bigint
  readonly free_calls: bigint
  readonly last_call: Date | null
}

interface ToolRow {
  readonly tool_id: ToolId
  readonly calls: bigint
  readonly successes: bigint
  readonly latency_ms: bigint
}

export const layer = Layer.effect(
  MarketFigures,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const totals = Effect.gen(function* () {
      const [row] = yield* sql<TotalsRow>`
        SELECT coalesce(sum(calls), 0)::int8 AS invocations, coalesce(sum(successes), 0)::int8 AS successful,
          count(DISTINCT consumer_id) AS agents, count(DISTINCT tool_id) AS tools,
          coalesce(sum(spend), 0)::int8 AS revenue, coalesce(sum(latency_ms), 0)::int8 AS latency_ms,
          (SELECT coalesce(sum(used), 0)::int8 FROM free_tier_usage) AS free_calls,
          (SELECT called_at FROM receipts ORDER BY receipt_id DESC LIMIT 1) AS last_call
        FROM usage_hourly`
      return totalsOf(row!)
    }).pipe(Effect.orDie)

    const ofTools = Effect.fnUntraced(function* (ids: ReadonlyArray<ToolId>) {
      if (ids.length === 0) return new Map<ToolId, ToolFigures>()
      const rows = yield* sql<ToolRow>`
        SELECT u.tool_id, sum(u.calls)::int8 AS calls, sum(u.successes)::int8 AS successes,
          sum(u.latency_ms)::int8 AS latency_ms
        FROM tools t JOIN usage_hourly u ON u.provider_id = t.provider_id AND u.tool_id = t.id
        WHERE t.id = ANY (${ids}::uuid[])
        GROUP BY u.tool_id`
      return new Map(rows.map((row) => [row.tool_id, figuresOf(row)]))
    }, Effect.orDie)

    return MarketFigures.of({ totals, ofTools })
  })
)

const totalsOf = (row: TotalsRow): MarketTotals => ({
  invocations: Number(row.invocations),
  successful: Number(row.successful),
  uniqueAgents: Number(row.agents),
  uniqueTools: Number(row.tools),
  revenueMicrocents: row.revenue,
  avgLatencyMs: row.invocations === 0n ? undefined : Number(row.latency_ms / row.invocations),
  freeCalls: Number(row.free_calls),
  lastInvocation: row.last_call?.toISOString()
})

const figuresOf = (row: ToolRow): ToolFigures => ({
  totalCalls: Number(row.calls),
  avgLatencyMs: Number(row.latency_ms / row.calls),
  uptimePct: Math.round((Number(row.successes) / Number(row.calls)) * 10_000) / 100
})
