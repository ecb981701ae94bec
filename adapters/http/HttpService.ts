/**
 * The whole HTTP service as one function from requests to responses: every route with its handler, behind the pipeline.
 * Servers, tests and embedders call it.
 */
import { Effect, Layer } from "effect"
import { accountOverviewRoutes } from "./earnings/AccountOverviewHandlers.ts"
import { accountsRoutes } from "./accounts/AccountsHandlers.ts"
import { catalogRoutes } from "./catalog/CatalogHandlers.ts"
import { disputesRoutes } from "./trust/DisputesHandlers.ts"
import { importRoutes } from "./catalog/ImportHandlers.ts"
import { indexRoutes } from "./index/IndexHandlers.ts"
import { invoicesRoutes } from "./invoices/InvoicesHandlers.ts"
import { logRoutes } from "./log/LogHandlers.ts"
import { meteringRoutes } from "./metering/MeteringHandlers.ts"
import { metricsRoutes } from "./platform/MetricsHandlers.ts"
import { moneyRoutes } from "./payments/MoneyHandlers.ts"
import { operatorAccountsRoutes } from "./operator/OperatorAccountsHandlers.ts"
import { operatorListsRoutes } from "./operator/OperatorListsHandlers.ts"
import { operatorRoutes } from "./operator/OperatorHandlers.ts"
import { operatorSessionRoutes } from "./operator/OperatorSessionHandlers.ts"
import { operatorSummaryRoutes } from "./operator/OperatorSummaryHandlers.ts"
import { payoutsRoutes } from "./earnings/PayoutsHandlers.ts"
import { platformRoutes, statusRoutes } from "./platform/PlatformHandlers.ts"
import { proxyRoutes } from "./metering/ProxyHandlers.ts"
import { receiptsRoutes } from "./receipts/ReceiptsHandlers.ts"
import { selfDescriptionRoutes } from "./index/SelfDescriptions.ts"
import { submissionsRoutes } from "./platform/SubmissionsHandlers.ts"
import { toolboxRoutes } from "./toolbox/ToolboxHandlers.ts"
import { toolsRoutes } from "./catalog/ToolsHandlers.ts"
import { trustRoutes } from "./trust/TrustHandlers.ts"
import { usageRoutes } from "./metering/UsageHandlers.ts"
import { webhookRoutes } from "./earnings/WebhookHandlers.ts"
import { makeDoorRoutes } from "./mcp/DoorRoutes.ts"
import { marketDoorPath } from "./mcp/market/MarketDoor.ts"
import { providerDoorPath } from "./mcp/ProviderDoor.ts"
import { refusalRoutes } from "./mcp/RefusedTransports.ts"
import { Pages } from "./pipeline/Pages.ts"
import { Dispatcher, make } from "./pipeline/Dispatcher.ts"
import { Draining } from "./pipeline/Draining.ts"
import { HttpMetrics } from "./pipeline/HttpMetrics.ts"
import { OpenStreams } from "./pipeline/OpenStreams.ts"
import { RateLimits } from "./pipeline/RateLimits.ts"

/** Every path that speaks MCP, or that its clients expect beside it. */
const mcpRoutes = Effect.gen(function* () {
  const routesOf = yield* makeDoorRoutes
  return [...routesOf(yield* providerDoorPath), ...routesOf(yield* marketDoorPath), ...(yield* refusalRoutes)]
})

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
