/**
 * Usage over HTTP.
 */
import { DateTime, Effect } from "effect"
import type { KeyOwner } from "../../../domain/accounts/Authentication.ts"
import { resetsAt } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FreeTiers } from "../../../domain/metering/FreeTiers.ts"
import { Usage, type UsageCall, type UsageOfTool, type UsagePeriod } from "../../../domain/metering/Usage.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { formatDollars, Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { route } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { CallsApi } from "./CallsApi.ts"

// Usage and free calls as the API shows them.

const USAGE_PERIOD_DEFAULT: UsagePeriod = "30d"
const TOP_TOOLS_MAX = 10

export const usageViews = Effect.gen(function* () {
  const usage = yield* Usage
  const ledger = yield* Ledger
  const freeTiers = yield* FreeTiers

  const ownerOf = (caller: KeyOwner) =>
    Effect.map(
      caller.role === "consumer"
        ? Effect.map(ledger.wallet(caller.ownerId), (wallet) => wallet.credits - wallet.debits)
        : Effect.map(ledger.provider(caller.ownerId), (provider) => provider.balance),
      (balance) => ({ id: caller.ownerId, type: caller.role, name: caller.name, balance_cents: toCents(balance) })
    )

  const freeTiersOf = Effect.fnUntraced(function* (consumerId: ConsumerId) {
    const tiers = yield* freeTiers.list(consumerId)
    return {
      free_tiers: tiers.map(({ entry, left, used }) => ({
        tool_id: entry.tool.id,
        tool_name: entry.tool.toolName,
        provider_id: entry.provider.id,
        provider: entry.provider.name,
        free_tier_calls: entry.freeTierCalls,
        used,
        left
      })),
      total: tiers.length,
      resets_at: resetsAt("month", yield* DateTime.now)!
    }
  })

  const summaryOf = Effect.fnUntraced(function* (caller: KeyOwner, period: UsagePeriod = USAGE_PERIOD_DEFAULT) {
    const [owner, { totals, byTool, byDay }] = yield* Effect.all([ownerOf(caller), usage.summary(caller, period)], {
      concurrency: 2
    })
    return {
      owner,
      period,
      summary: {
        total_calls: totals.calls,
        successful_calls: totals.successes,
        error_rate: errorRate(totals),
        total_spend_cents: toCents(totals.spendMicrocents),
        total_spend_microcents: Microcents.make(totals.spendMicrocents),
        total_spend: formatDollars(totals.spendMicrocents),
        data_volume: fieldsOf(totals, "requestBytes", "responseBytes", "tokensInput", "tokensOutput")
      },
      total_calls: totals.calls,
      total_spend_cents: toCents(totals.spendMicrocents),
      total_spend: formatDollars(totals.spendMicrocents),
      top_tools: byTool.slice(0, TOP_TOOLS_MAX).map((tool) => ({
        tool: tool.toolName,
        tool_name: tool.toolName,
        tool_id: tool.toolId,
        calls: tool.calls,
        spend_cents: toCents(tool.spendMicrocents),
        spend_microcents: Microcents.make(tool.spendMicrocents),
        spend: formatDollars(tool.spendMicrocents)
      })),
      calls_by_tool: callsByName(byTool),
      calls_by_day: byDay.map((day) => ({
        date: day.date,
        calls: day.calls,
        spend_cents: toCents(day.spendMicrocents),
        spend_microcents: Microcents.make(day.spendMicrocents),
        errors: day.errors
      }))
    }
  })

  return { ownerOf, freeTiersOf, summaryOf }
})

/** Tools of several providers may share a name, and a tool may be named `constructor`. */
const callsByName = (tools: ReadonlyArray<UsageOfTool>): Readonly<Record<string, number>> => {
  const calls = new Map<string, number>()
  for (const tool of tools) calls.set(tool.toolName, (calls.get(tool.toolName) ?? 0) + tool.calls)
  return Object.fromEntries(calls)
}

const errorRate = ({ calls, successes }: { readonly calls: number; readonly successes: number }): number =>
  calls === 0 ? 0 : Math.round(((calls - successes) / calls) * 10_000) / 10_000

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
