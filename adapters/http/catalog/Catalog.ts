/**
 * The catalog, the price list, and the market's statistics and health over HTTP; and the tools that a provider registers, each
 * validated separately, and withdraws.
 */
import { DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { type CatalogEntry, type CatalogSort, MarketFigures } from "../../../domain/catalog/CatalogStore.ts"
import { EndpointProbe, type EndpointReport, unlistedReason } from "../../../domain/catalog/EndpointProbe.ts"
import { priceText } from "../../../domain/catalog/Terms.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import { ToolImport } from "../../../domain/catalog/ToolImport.ts"
import type { RejectedTool } from "../../../domain/catalog/ToolUpserts.ts"
import { basisPointsAt, DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { giveUpAfter } from "../../../domain/shared/Deadlines.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { formatDollars, Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { makePause } from "../../../domain/shared/OwnTurn.ts"
import { format } from "../../../domain/shared/Time.ts"
import { pageFields, pageRequest, payloadDecoder } from "../pipeline/Decoding.ts"
import { Fault, FAULTS_MAX } from "../pipeline/Failures.ts"
import type { ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { CatalogApi, RegisterToolsLenient } from "./CatalogApi.ts"
import { endpointView } from "./Import.ts"
import { toChange, ToolBody } from "./ToolBody.ts"
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
      const found = yield* catalog.search({ page })
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

/** All tools of a request were rejected: nothing was changed. */
class NoToolRegistered extends Schema.TaggedError<NoToolRegistered>()("NoToolRegistered", {
  tools: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      tool_name: Schema.String,
      error: Schema.String,
      /** The invalid fields of a tool that could not be decoded, with their faults. */
      faults: Schema.optionalKey(Schema.Array(Fault))
    })
  )
}) {
  override get message() {
    return `No tool was registered: ${this.tools.map((tool) => `${tool.tool_name}: ${tool.error}`).join("; ")}`
  }
}

const faultsOfTool = ({ error, faults, index, tool_name: name }: NoToolRegistered["tools"][number]) =>
  faults === undefined
    ? [{ path: ["tools", index], message: `${name}: ${error}` }]
    : faults.map(({ message, path }) => ({ path: ["tools", index, ...path], message }))

const toolsProblems = {
  ...catalogProblems,
  NoToolRegistered: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.flatMap(faultsOfTool).slice(0, FAULTS_MAX),
    extra: {
      registered: 0,
      errors: e.tools.length,
      tools: [],
      tool_errors: e.tools.map(({ tool_name, error }) => ({ tool_name, error }))
    }
  })
} satisfies ProblemsOf<Catalog, NoToolRegistered>

const { preparedRoute, route: toolRoute } = routesWith(toolsProblems)

const OWN_TOOLS = "tools"

export const toolsRoutes = Effect.gen(function* () {
  const catalog = yield* Catalog
  const accounts = yield* AccountStore
  const imports = yield* ToolImport
  const { probe } = yield* EndpointProbe
  const views = yield* makeToolViews

  /** Rejects tools that are not in the market and that the server does not list. */
  const withoutUnlisted = Effect.fnUntraced(function* (
    ownerId: ProviderId,
    { changes, indexes, rejected, unlisted }: ValidTools,
    endpoint: EndpointReport
  ) {
    const refused = new Map<number, string>()
    for (const [i, { toolName }] of changes.entries()) {
      const reason = unlisted.includes(toolName) ? undefined : unlistedReason(endpoint, toolName)
      if (reason === undefined) continue
      const known = yield* catalog.findOf(ownerId, toolName)
      if (Option.isSome(known) && known.value.tool.withdrawnAt === undefined) continue
      refused.set(i, reason)
    }
    const isKept = (_: unknown, i: number): boolean => !refused.has(i)
    return {
      changes: changes.filter(isKept),
      indexes: indexes.filter(isKept),
      rejected: [
        ...rejected,
        ...[...refused].map(([i, error]) => ({ index: indexes[i]!, tool_name: changes[i]!.toolName, error }))
      ]
    }
  })

  return [
    preparedRoute(
      CatalogApi.endpoints.registerTools,
      Effect.fnUntraced(function* ({ as, payload }) {
        const { endpointUrl, id } = Option.getOrThrow(yield* accounts.findProvider(as("provider").ownerId))
        const valid = yield* validateTools(payload.tools)
        yield* catalog.checkSchemas(id, valid.changes)
        return { valid, endpoint: yield* probe({ providerId: id, endpointUrl }, payload.tools.map(nameOf)) }
      }),
      function* ({ as }, { endpoint, valid }) {
        const { ownerId } = as("provider")
        const { changes, indexes, rejected } = yield* withoutUnlisted(ownerId, valid, endpoint)
        const result = yield* catalog.upsert(ownerId, changes)
        const kept = new Set(valid.unlisted)
        const stored = result.stored.filter((tool) => kept.has(tool.toolName))
        yield* imports.keepUnlisted(
          ownerId,
          stored.map((tool) => tool.toolName)
        )
        const errors = [
          ...rejected,
          ...result.rejected.map((tool) => ({ ...tool, index: indexes[tool.index]! }))
        ].toSorted((a, b) => a.index - b.index)
        if (result.stored.length === 0) return yield* new NoToolRegistered({ tools: errors })
        const { handle } = Option.getOrThrow(yield* accounts.findProvider(ownerId))
        return {
          registered: result.stored.length,
          errors: errors.length,
          tools: result.stored.map((tool) => ({
            id: tool.id,
            tool_name: tool.toolName,
            qualified_name: qualifiedName(handle, tool.toolName),
            action: tool.action
          })),
          tool_errors: errors.map(({ tool_name, error }) => ({ tool_name, error })),
          endpoint: endpointView(endpoint),
          message:
            errors.length === 0
              ? `${result.stored.length} registered.`
              : `${result.stored.length} registered, ${errors.length} rejected: see tool_errors.`
        }
      },
      { lenientPayload: RegisterToolsLenient }
    ),
    toolRoute(CatalogApi.endpoints.ownTools, function* ({ as, query }) {
      const { ownerId } = as("provider")
      const page = yield* pageRequest(OWN_TOOLS, query)
      const found = yield* catalog.search({ providerId: ownerId, state: query.state ?? "any", own: true, page })
      return { tools: yield* views.listed(found.items), ...pageFields(OWN_TOOLS, page, found) }
    }),
    toolRoute(CatalogApi.endpoints.withdrawTool, function* ({ as, params }) {
      const { ownerId } = as("provider")
      const dismissed = Option.getOrUndefined(yield* imports.dismiss(ownerId, params.id))
      if (dismissed !== undefined) {
        return {
          withdrawn: true as const,
          tool_id: params.id,
          tool_name: dismissed,
          withdrawn_at: format(yield* DateTime.now),
          message: `The draft ${dismissed} is dismissed. It comes back when your MCP server changes the tool.`
        }
      }
      const { entry, since } = yield* catalog.withdraw(ownerId, params.id)
      const { toolName } = entry.tool
      return {
        withdrawn: true as const,
        tool_id: entry.tool.id,
        tool_name: toolName,
        withdrawn_at: format(since),
        message: `${toolName} is withdrawn and cannot be called. POST /api/market/tools lists it again.`
      }
    })
  ]
})

const decodeTool = payloadDecoder(ToolBody)
/** Faults listed per tool. */
const SENTENCES_MAX = 5

/** The valid tools, with their index in the request, and the reasons for rejecting the others. */
const validateTools = Effect.fnUntraced(function* (tools: ReadonlyArray<unknown>) {
  const changes: Array<ToolChange> = []
  const indexes: Array<number> = []
  const unlisted: Array<string> = []
  const rejected: Array<RejectedTool & { readonly faults?: ReadonlyArray<Fault> }> = []
  const pause = yield* makePause
  for (const [index, tool] of tools.entries()) {
    yield* pause
    const result = yield* Effect.result(decodeTool(tool))
    if (Result.isSuccess(result)) {
      const body = result.success as ToolBody
      changes.push(toChange(body))
      indexes.push(index)
      if (body.unlisted === true) unlisted.push(body.tool_name)
    } else {
      const { faults } = result.failure
      rejected.push({ index, tool_name: nameOf(tool), error: sentences(faults), faults })
    }
  }
  return { changes, indexes, rejected, unlisted }
})

type ValidTools = Effect.Success<ReturnType<typeof validateTools>>

const nameOf = (tool: unknown): string =>
  typeof tool === "object" && tool !== null && "tool_name" in tool && typeof tool.tool_name === "string"
    ? tool.tool_name.slice(0, 128)
    : ""

const sentences = (faults: ReadonlyArray<Fault>): string => {
  const messages = faults.slice(0, SENTENCES_MAX).map(({ message }) => message)
  return faults.length > SENTENCES_MAX
    ? `${messages.join(" ")} (${faults.length - SENTENCES_MAX} more.)`
    : messages.join(" ")
}
