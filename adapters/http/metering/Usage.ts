/**
 * Usage over HTTP.
 */
import { Effect } from "effect"
import { Usage, type UsageCall } from "../../../domain/metering/Usage.ts"
import { formatDollars, Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { CallsApi } from "./CallsApi.ts"
import { pageFields, pageRequest } from "../pipeline/Cursor.ts"
import { route } from "../pipeline/Route.ts"
import { errorRate, USAGE_PERIOD_DEFAULT, usageViews } from "./UsageViews.ts"

const { endpoints } = CallsApi

export const usageRoutes = Effect.gen(function* () {
  const usage = yield* Usage
  const { freeTiersOf, ownerOf, summaryOf } = yield* usageViews

  return [
    route(endpoints.freeTiers, ({ as }) => freeTiersOf(as("consumer").ownerId)),
    ...[endpoints.usage, endpoints.usageV1].map((endpoint) =>
      route(endpoint, function* ({ as, query }) {
        const caller = as("consumer", "provider")
        const period = query.period ?? USAGE_PERIOD_DEFAULT
        const page = yield* pageRequest("usage", query)
        const [owner, { totals, calls }] = yield* Effect.all(
          [ownerOf(caller), usage.recent(caller, period, { toolId: query.tool_id, status: query.status }, page)],
          { concurrency: 2 }
        )
        const shown = calls.items.map(usageCall)
        return {
          owner,
          period,
          summary: {
            total_calls: totals.calls,
            successful_calls: totals.successes,
            error_rate: errorRate(totals),
            total_cost_cents: toCents(totals.spendMicrocents),
            total_cost_microcents: Microcents.make(totals.spendMicrocents),
            total_cost: formatDollars(totals.spendMicrocents),
            avg_latency_ms: totals.calls === 0 ? null : Math.round(Number(totals.latencyMs) / totals.calls)
          },
          recent_calls: shown,
          records: shown,
          ...pageFields("usage", page, calls)
        }
      })
    ),
    ...[endpoints.usageSummary, endpoints.usageSummaryV1].map((endpoint) =>
      route(endpoint, ({ as, query }) => summaryOf(as("consumer", "provider"), query.period))
    )
  ]
})

const usageCall = (call: UsageCall) => ({
  id: call.receiptId,
  receipt_id: call.receiptId,
  tool: call.toolName,
  tool_name: call.toolName,
  tool_id: call.toolId,
  status: call.status,
  success: call.status === "success",
  cost_cents: toCents(call.costMicrocents),
  cost_microcents: Microcents.make(call.costMicrocents),
  latency_ms: call.durationMs,
  duration_ms: call.durationMs,
  created_at: call.calledAt
})
