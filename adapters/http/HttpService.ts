/**
 * The whole HTTP service as one function from requests to responses: every route with its handler, behind the pipeline.
 * Servers, tests and embedders call it.
 */
import { Effect, Layer } from "effect"
import { accountsRoutes } from "./accounts/Accounts.ts"
import { levelsRoutes } from "./accounts/Levels.ts"
import { catalogRoutes, toolsRoutes } from "./catalog/Catalog.ts"
import { importRoutes } from "./catalog/Import.ts"
import { discoveryRoutes, selfDescriptionRoutes } from "./discovery/Discovery.ts"
import { accountOverviewRoutes } from "./earnings/AccountOverview.ts"
import { payoutsRoutes, webhookRoutes } from "./earnings/Payouts.ts"
import { invoicesRoutes } from "./invoices/Invoices.ts"
import { logRoutes } from "./log/Log.ts"
import { makeDoorRoutes, refusalRoutes } from "./mcp/DoorRoutes.ts"
import { providerDoorPath } from "./mcp/ProviderDoor.ts"
import { makeLegacyDoor } from "./mcp/legacy/LegacyDoor.ts"
import { marketDoorPath } from "./mcp/market/MarketDoor.ts"
import { meteringRoutes } from "./metering/Metering.ts"
import { proxyRoutes } from "./metering/Proxy.ts"
import { usageRoutes } from "./metering/Usage.ts"
import type { Api } from "./openapi/Api.ts"
import { operatorRoutes, operatorSessionRoutes } from "./operator/Operator.ts"
import { operatorAccountsRoutes, operatorListsRoutes, operatorSummaryRoutes } from "./operator/OperatorLists.ts"
import { moneyRoutes } from "./payments/Money.ts"
import { Dispatcher, make } from "./pipeline/Dispatcher.ts"
import { HttpMetrics } from "./pipeline/RequestTelemetry.ts"
import { type Answers, Pages, type Route } from "./pipeline/Route.ts"
import { RateLimits } from "./pipeline/Stages.ts"
import { Draining, OpenStreams } from "./pipeline/WebRequest.ts"
import { metricsRoutes } from "./platform/Metrics.ts"
import { platformRoutes, statusRoutes, submissionsRoutes } from "./platform/Platform.ts"
import { receiptsRoutes } from "./receipts/Receipts.ts"
import { toolboxRoutes } from "./toolbox/Toolbox.ts"
import { disputesRoutes } from "./trust/Disputes.ts"
import { trustRoutes } from "./trust/Trust.ts"

/** Every path that speaks MCP, or that its clients expect beside it. */
const mcpRoutes = Effect.gen(function* () {
  const routesOf = yield* makeDoorRoutes(makeLegacyDoor)
  return [...routesOf(yield* providerDoorPath), ...routesOf(yield* marketDoorPath), ...(yield* refusalRoutes)]
})

const subjects = Effect.map(
  Effect.all([
    accountsRoutes,
    levelsRoutes,
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

type Groups = (typeof Api)["groups"]

type Endpoint = {
  [G in keyof Groups & string]: {
    [I in keyof Groups[G]["endpoints"] & string]: Groups[G]["endpoints"][I] extends {
      readonly method: infer M extends string
      readonly path: infer P extends string
    }
      ? `${M} ${P}`
      : never
  }[keyof Groups[G]["endpoints"] & string]
}[keyof Groups & string]

type Answered<R> = R extends Answers<infer Name> ? Name : never

/** Never made: the compiler names each endpoint of the contract that no route answers. */
interface WithoutHandler<Name> {
  readonly "has no handler": Name
}

type Complete<R, Missing = Exclude<Endpoint, Answered<R>>> = [Missing] extends [never]
  ? unknown
  : WithoutHandler<Missing>

/** Checks nothing when it runs. */
const complete = <const G extends ReadonlyArray<ReadonlyArray<Route>>>(_: G & Complete<G[number][number]>): void => {}

/** The indexes list the other routes. */
export const routes = Effect.gen(function* () {
  const own = yield* subjects
  const others = [...own, ...selfDescriptionRoutes, ...(yield* Pages).routes]
  const discovery = yield* discoveryRoutes(others)
  complete([own, selfDescriptionRoutes, discovery])
  return [...others, ...discovery]
})

export const layer = Layer.effect(
  Dispatcher,
  Effect.flatMap(Effect.all([routes, Pages]), ([all, pages]) => make(all, pages.notFound))
).pipe(Layer.provide([RateLimits.layer, HttpMetrics.layer, OpenStreams.layer, Draining.layer]))
