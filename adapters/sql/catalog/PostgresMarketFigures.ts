/**
 * Market figures. Proxied and reported calls are counted from `tool_figures` and `proxied_consumers`, which the
 * sequencer maintains, and from the calls that still wait for it. Revenue is what calls credited to providers and platform.
 * No figure reads all calls.
 */
import { Effect, Layer } from "effect"
import { MarketFigures, type MarketTotals, type ToolFigures } from "../../../domain/catalog/CatalogStore.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { type CallCounts, figuresOf } from "../../../domain/trust/Sla.ts"
import { CAUSE_CODE, FREE_PROXY_CODE, ORIGIN_CODE, STATUS_CODE } from "../ledger/LedgerCodes.ts"
import { rowReader } from "../shared/Rows.ts"
import { ReceiptCounter } from "../ledger/ReceiptCounter.ts"
import { storeSql } from "../shared/StoreSql.ts"

/**
 * These calls are looked up one by one. The limit keeps a read cheap under load; the rest is counted a second later.
 */
const WAITING_READ_MAX = 1_000

const toCounts = rowReader<CallCounts>(
  {},
  { calls: Number, successes: Number, input_rejected: Number, latency_ms: Number, reported: Number }
)

/** The row has the columns of `CallCounts`, too. */
interface TotalsRow {
  readonly agents: bigint
  readonly tools: bigint
  readonly revenue: bigint
  readonly free_calls: bigint
  readonly last_call: Date | null
}

export const layer = Layer.effect(
  MarketFigures,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const counter = yield* ReceiptCounter

    const callTotals = sql.literal(
      "coalesce(sum(calls), 0)::int8 AS calls, coalesce(sum(successes), 0)::int8 AS successes, " +
        "coalesce(sum(input_rejected), 0)::int8 AS input_rejected, coalesce(sum(latency_ms), 0)::int8 AS latency_ms, " +
        "coalesce(sum(reported), 0)::int8 AS reported"
    )

    const isProxied = sql`r.origin <> ${ORIGIN_CODE.meter}`

    /** The receipts that wait for the log. */
    const unlogged = sql`unlogged AS MATERIALIZED (
      SELECT receipt_id, tool_id, status, origin, duration_ms, called_at, consumer_id, provider_id FROM receipts
      WHERE receipt_id = ANY (ARRAY(SELECT unnest(receipt_ids) FROM receipts_unlogged LIMIT ${WAITING_READ_MAX})))`

    /** Rows like those of `tool_figures`. A receipt leaves `receipts_unlogged` in the transaction that counts it there. */
    const waiting = sql`
      SELECT r.tool_id, (${isProxied})::int AS calls, (${isProxied} AND r.status = ${STATUS_CODE.success})::int AS successes,
        (${isProxied} AND r.status = ${CAUSE_CODE.input_rejected})::int AS input_rejected,
        CASE WHEN ${isProxied} AND r.status <> ${CAUSE_CODE.input_rejected} THEN r.duration_ms ELSE 0 END AS latency_ms,
        (NOT (${isProxied}))::int AS reported, (r.origin = ${FREE_PROXY_CODE})::int AS free_calls,
        CASE WHEN ${isProxied} THEN r.called_at END AS last_called_at, CASE WHEN ${isProxied} THEN r.consumer_id END AS consumer_id
      FROM unlogged r WHERE NOT (${isProxied}) OR (r.status <> ${CAUSE_CODE.canceled} AND r.provider_id <> r.consumer_id
        AND ((SELECT lower(email) FROM providers WHERE id = r.provider_id)
          = (SELECT lower(email) FROM consumers WHERE id = r.consumer_id)) IS NOT TRUE)`

    const totals = sql<TotalsRow>`
      WITH ${unlogged}, waiting AS MATERIALIZED (${waiting}),
        counted AS (
          SELECT tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls, last_called_at
          FROM tool_figures
          UNION ALL
          SELECT tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls, last_called_at FROM waiting)
      SELECT ${callTotals}, count(DISTINCT tool_id) FILTER (WHERE calls > 0) AS tools,
        coalesce(sum(free_calls), 0)::int8 AS free_calls, max(last_called_at) AS last_call,
        (SELECT count(*) FROM proxied_consumers) + (SELECT count(DISTINCT w.consumer_id) FROM waiting w
          WHERE NOT EXISTS (SELECT 1 FROM proxied_consumers p WHERE p.consumer_id = w.consumer_id)) AS agents,
        (SELECT coalesce(sum(credits), 0)::int8 FROM account_balances WHERE lane = 1) AS revenue
      FROM counted`.one(totalsOf)

    const ofTools = Effect.fnUntraced(function* (ids: ReadonlyArray<ToolId>) {
      if (ids.length === 0) return new Map<ToolId, ToolFigures>()
      const rows = yield* sql<{ readonly tool_id: ToolId }>`
        WITH ${unlogged}
        SELECT tool_id, ${callTotals} FROM (
          SELECT tool_id, calls, successes, input_rejected, latency_ms, reported FROM tool_figures
          WHERE tool_id = ANY (${ids}::uuid[])
          UNION ALL
          SELECT tool_id, calls, successes, input_rejected, latency_ms, reported FROM (${waiting}) w
          WHERE tool_id = ANY (${ids}::uuid[])) a
        GROUP BY tool_id`
      return new Map(rows.map(({ tool_id, ...counts }) => [tool_id, figuresOf(toCounts(counts))]))
    })

    return MarketFigures.of({ totals: Effect.andThen(counter.count, totals), ofTools })
  })
).pipe(Layer.provide(ReceiptCounter.layer))

const totalsOf = ({ agents, free_calls, last_call, revenue, tools, ...row }: TotalsRow): MarketTotals => {
  const counts = toCounts(row)
  const figures = figuresOf(counts)
  return {
    invocations: counts.calls,
    successful: counts.successes,
    successPct: figures.uptimePct,
    reported: counts.reported,
    uniqueAgents: Number(agents),
    uniqueTools: Number(tools),
    revenueMicrocents: revenue,
    avgLatencyMs: figures.avgLatencyMs,
    freeCalls: Number(free_calls),
    lastInvocation: last_call?.toISOString()
  }
}
