/**
 * The whole HTTP service as one function from requests to responses: every route with its handler, behind the pipeline.
 * Servers, tests and embedders call it.
 */
import { Effect, Layer } from "effect"
import { accountOverviewRoutes } from "./handlers/AccountOverviewHandlers.ts"
import { accountsRoutes } from "./handlers/AccountsHandlers.ts"
import { catalogRoutes } from "./handlers/CatalogHandlers.ts"
import { disputesRoutes } from "./handlers/DisputesHandlers.ts"
import { importRoutes } from "./handlers/ImportHandlers.ts"
import { indexRoutes } from "./handlers/IndexHandlers.ts"
import { invoicesRoutes } from "./handlers/InvoicesHandlers.ts"
import { logRoutes } from "./handlers/LogHandlers.ts"
import { meteringRoutes } from "./handlers/MeteringHandlers.ts"
import { metricsRoutes } from "./handlers/MetricsHandlers.ts"
import { moneyRoutes } from "./handlers/MoneyHandlers.ts"
import { operatorAccountsRoutes } from "./handlers/OperatorAccountsHandlers.ts"
import { operatorListsRoutes } from "./handlers/OperatorListsHandlers.ts"
import { operatorRoutes } from "./handlers/OperatorHandlers.ts"
import { operatorSessionRoutes } from "./handlers/OperatorSessionHandlers.ts"
import { operatorSummaryRoutes } from "./handlers/OperatorSummaryHandlers.ts"
import { payoutsRoutes } from "./handlers/PayoutsHandlers.ts"
import { platformRoutes, statusRoutes } from "./handlers/PlatformHandlers.ts"
import { proxyRoutes } from "./handlers/ProxyHandlers.ts"
import { receiptsRoutes } from "./handlers/ReceiptsHandlers.ts"
import { selfDescriptionRoutes } from "./handlers/SelfDescriptions.ts"
import { submissionsRoutes } from "./handlers/SubmissionsHandlers.ts"
import { toolboxRoutes } from "./handlers/ToolboxHandlers.ts"
import { toolsRoutes } from "./handlers/ToolsHandlers.ts"
import { trustRoutes } from "./handlers/TrustHandlers.ts"
import { usageRoutes } from "./handlers/UsageHandlers.ts"
import { webhookRoutes } from "./handlers/WebhookHandlers.ts"
import { mcpRoutes } from "./mcp/McpRoutes.ts"
import { Pages } from "./Pages.ts"
import { Dispatcher, make } from "./pipeline/Dispatcher.ts"
import { Draining } from "./pipeline/Draining.ts"
import { HttpMetrics } from "./pipeline/HttpMetrics.ts"
import { OpenStreams } from "./pipeline/OpenStreams.ts"
import { RateLimits } from "./pipeline/RateLimits.ts"

const subjects = Effect.map(
  Effect.all([
    accountsRoutes,
    accountOverviewRoutes,
    toolsRoutes,
    importRoutes,
    catalogRoutes,
    proxyRoutes,
    mcpRoutes,
    usageRoutes,
    toolboxRoutes,
    meteringRoutes,
    moneyRoutes,
    payoutsRoutes,
    operatorRoutes,
    operatorSummaryRoutes,
    operatorSessionRoutes,
    operatorAccountsRoutes,
    operatorListsRoutes,
    webhookRoutes,
    invoicesRoutes,
    receiptsRoutes,
    logRoutes,
    disputesRoutes,
    trustRoutes,
    platformRoutes,
    statusRoutes,
    submissionsRoutes,
    metricsRoutes
  ]),
  (groups) => groups.flat()
)

/** The indexes list the other routes. */
export const routes = Effect.gen(function* () {
  const others = [...(yield* subjects), ...selfDescriptionRoutes, ...(yield* Pages).routes]
  return [...others, ...(yield* indexRoutes(others))]
})

export const layer = Layer.effect(
  Dispatcher,
  Effect.flatMap(Effect.all([routes, Pages]), ([all, pages]) => make(all, pages.notFound))
).pipe(Layer.provide([RateLimits.layer, HttpMetrics.layer, OpenStreams.layer, Draining.layer]))
