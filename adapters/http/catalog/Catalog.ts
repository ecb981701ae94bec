/**
 * The catalog, the price list, and the market's statistics and health over HTTP.
 */
import { DateTime, Duration, Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { type CatalogEntry, type CatalogSort, MarketFigures } from "../../../domain/catalog/CatalogStore.ts"
import { priceText } from "../../../domain/catalog/Terms.ts"
import { basisPointsAt, DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { giveUpAfter } from "../../../domain/shared/Deadlines.ts"
import { formatDollars, Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { routesWith } from "../pipeline/Route.ts"
import { CatalogApi } from "./CatalogApi.ts"
import { catalogProblems, defaultFeeView, makeToolViews, namedTool, pricingView } from "./ToolViews.ts"

const { replyRoute, route } = routesWith(catalogProblems)

const { endpoints } = CatalogApi

const HEALTH_TIMEOUT = Duration.seconds(2)

export const catalogRoutes = Effect.gen(function* () {
  const catalog = yield* Catalog
  const figures = yield* MarketFigures
  const accounts = yield* AccountStore
  const views = yield* makeToolViews
  const defaultFee = yield* DefaultFeeBasisPoints
  const startedAt = yield* DateTime.now

  return [
    route(endpoints.catalog, function* ({ query }) {
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
      return {
        tools: yield* views.listed(found.items),
        ...pageFields(list, page, found),
        categories: yield* catalog.categories,
        timestamp: format(yield* DateTime.now)
      }
    }),
    route(endpoints.tool, function* ({ params }) {
      return yield* views.whole(yield* namedTool(catalog, params.id))
    }),
    route(endpoints.pricing, function* ({ query }) {
      const page = yield* pageRequest("pricing", query)
      const found = yield* catalog.search({
        q: undefined,
        category: undefined,
        providerId: undefined,
        sort: "name",
        page
      })
      const now = yield* DateTime.now
      const lines = found.items.map((entry) =>
        priceLine(entry, basisPointsAt(entry.provider.fee, defaultFee, now.epochMilliseconds))
      )
      return {
        pricing: lines,
        tools: lines,
        ...pageFields("pricing", page, found),
        ...defaultFeeView(defaultFee),
        microcents_per_cent: 10_000 as const,
        timestamp: format(now)
      }
    }),
    route(endpoints.stats, function* () {
      const totals = yield* figures.totals
      const { providers } = yield* accounts.counts
      return {
        total_tool_invocations: totals.invocations,
        successful_calls: totals.successful,
        reported_calls: totals.reported,
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
    }),
    replyRoute(endpoints.health, function* () {
      const now = yield* DateTime.now
      const counted = yield* Effect.all([accounts.counts, catalog.count], { concurrency: 2 }).pipe(
        giveUpAfter(HEALTH_TIMEOUT),
        Effect.tapCause((cause) => Effect.logWarning("The health check failed", cause)),
        Effect.catchCause(() => Effect.undefined)
      )
      return {
        status: counted === undefined ? 503 : 200,
        body: {
          status: counted === undefined ? ("degraded" as const) : ("ok" as const),
          provider_count: counted?.[0].providers ?? null,
          tool_count: counted?.[1] ?? null,
          uptime_seconds: Math.floor((now.epochMilliseconds - startedAt.epochMilliseconds) / 1_000),
          timestamp: format(now)
        }
      }
    })
  ]
})

const priceLine = (entry: CatalogEntry, feeBasisPoints: number) => {
  const { price, provider, tool } = entry
  return {
    tool_id: tool.id,
    tool_name: tool.toolName,
    qualified_name: qualifiedName(provider.handle, tool.toolName),
    display_name: tool.displayName,
    description: tool.description,
    category: tool.category,
    provider: provider.name,
    provider_id: provider.id,
    provider_handle: provider.handle,
    pricing: {
      ...pricingView(entry),
      price_per_call_microcents: price,
      price_per_call_cents: toCents(price),
      price_per_call: priceText(entry)
    },
    price_cents: toCents(price),
    price: priceText(entry),
    platform_fee_bps: feeBasisPoints,
    free_tier_limit: entry.freeTierCalls,
    free_tier_remaining: entry.freeTierCalls
  }
}
