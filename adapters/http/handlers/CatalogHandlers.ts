/**
 * The catalogue, the price list and the market's figures over HTTP.
 */
import { DateTime, Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { CatalogEntry, CatalogSort } from "../../../domain/catalog/CatalogStore.ts"
import { MarketFigures, type ToolFigures } from "../../../domain/catalog/MarketFigures.ts"
import { formatDollars, formatPrice, Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { ProviderTrust } from "../../../domain/trust/ProviderTrust.ts"
import type { Standing } from "../../../domain/trust/SlaStore.ts"
import type { VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import { VerificationStore } from "../../../domain/trust/VerificationStore.ts"
import { CatalogApi } from "../api/CatalogApi.ts"
import { pageFields, pageRequest } from "../pipeline/Cursor.ts"
import { route } from "../pipeline/Route.ts"

const { endpoints } = CatalogApi

export const catalogRoutes = Effect.gen(function* () {
  const catalog = yield* Catalog
  const figures = yield* MarketFigures
  const accounts = yield* AccountStore
  const trust = yield* ProviderTrust
  const verification = yield* VerificationStore

  const search = route(
    endpoints.catalog,
    Effect.fnUntraced(function* ({ query }) {
      const sort: CatalogSort = query.sort ?? "name"
      const list = `catalog:${sort}`
      const page = yield* pageRequest(list, query)
      const found = yield* catalog.search({
        q: query.q,
        category: query.category,
        providerId: query.provider_id,
        maxPrice: query.max_price_microcents,
        sort,
        page
      })
      const stats = yield* figures.ofTools(found.items.map((entry) => entry.tool.id))
      const providers = [...new Set(found.items.map((entry) => entry.provider.id))]
      const standings = yield* trust.standings(providers)
      const levels = yield* verification.levels(providers)
      return {
        status: 200,
        body: {
          tools: found.items.map((entry) =>
            catalogTool(
              entry,
              stats.get(entry.tool.id),
              standings.get(entry.provider.id),
              levels.get(entry.provider.id)?.level ?? "unverified"
            )
          ),
          ...pageFields(list, page, found),
          categories: yield* catalog.categories,
          timestamp: format(yield* DateTime.now)
        }
      }
    })
  )

  const pricing = route(
    endpoints.pricing,
    Effect.fnUntraced(function* ({ query }) {
      const page = yield* pageRequest("pricing", query)
      const found = yield* catalog.search({
        q: undefined,
        category: undefined,
        providerId: undefined,
        sort: "name",
        page
      })
      const lines = found.items.map(priceLine)
      return {
        status: 200,
        body: {
          pricing: lines,
          tools: lines,
          ...pageFields("pricing", page, found),
          platform_fee: "10%" as const,
          platform_fee_bps: 1_000 as const,
          microcents_per_cent: 10_000 as const,
          timestamp: format(yield* DateTime.now)
        }
      }
    })
  )

  const stats = route(
    endpoints.stats,
    Effect.fnUntraced(function* () {
      const totals = yield* figures.totals
      const { providers } = yield* accounts.counts
      return {
        status: 200,
        body: {
          total_tool_invocations: totals.invocations,
          successful_calls: totals.successful,
          unique_agents: totals.uniqueAgents,
          unique_tools: totals.uniqueTools,
          tools_listed: yield* catalog.count,
          providers,
          total_revenue_microcents: Microcents.make(totals.revenueMicrocents),
          total_revenue_cents: toCents(totals.revenueMicrocents),
          total_revenue: formatDollars(totals.revenueMicrocents),
          avg_response_time_ms: totals.avgLatencyMs ?? null,
          free_tier_usage_pct:
            totals.invocations === 0 ? null : Math.round((totals.freeCalls / totals.invocations) * 10_000) / 100,
          last_invocation: totals.lastInvocation ?? null,
          timestamp: format(yield* DateTime.now)
        }
      }
    })
  )

  return [search, pricing, stats]
})

const catalogTool = (
  { tool, price, freeTierCalls, provider }: CatalogEntry,
  stats: ToolFigures | undefined,
  standing: Standing | undefined,
  level: VerificationLevel
) => ({
  id: tool.id,
  tool_name: tool.toolName,
  display_name: tool.displayName,
  description: tool.description,
  category: tool.category,
  input_schema: tool.inputSchema ?? null,
  provider: {
    id: provider.id,
    name: provider.name,
    verified: level !== "unverified",
    verification_level: level,
    badge: standing?.badge ?? ("unrated" as const),
    trust_score: standing?.score ?? null
  },
  pricing: {
    model: provider.pricingModel,
    price_cents: toCents(price),
    price_microcents: price,
    price: formatPrice(price),
    free_tier_calls: freeTierCalls
  },
  stats: {
    total_calls: stats?.totalCalls ?? 0,
    avg_latency_ms: stats?.avgLatencyMs ?? null,
    p95_latency_ms: standing?.p95OfTools.get(tool.id) ?? null,
    uptime_pct: stats?.uptimePct ?? null
  }
})

const priceLine = ({ tool, price, freeTierCalls, provider }: CatalogEntry) => ({
  tool_id: tool.id,
  tool_name: tool.toolName,
  display_name: tool.displayName,
  description: tool.description,
  category: tool.category,
  provider: provider.name,
  provider_id: provider.id,
  pricing: {
    model: provider.pricingModel,
    price_per_call_microcents: price,
    price_per_call_cents: toCents(price),
    price_per_call: formatPrice(price),
    free_tier_calls: freeTierCalls
  }
})
