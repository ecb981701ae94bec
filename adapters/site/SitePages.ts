/**
 * Routes of all pages.
 */
import { Effect, Layer } from "effect"
import { Pages } from "../http/Pages.ts"
import { HttpMetrics } from "../http/pipeline/HttpMetrics.ts"
import { RateLimits } from "../http/pipeline/RateLimits.ts"
import { catalogRoutes } from "./catalog/CatalogRoutes.ts"
import { changelogRoutes } from "./changelog/ChangelogPage.ts"
import { developerDashboardRoutes } from "./developer/DeveloperDashboardPage.ts"
import { docsRoutes } from "./docs/DocsPage.ts"
import { homeRoutes } from "./home/HomePage.ts"
import { invoicePage } from "./invoice/InvoicePage.ts"
import { assetRoutes } from "./kit/AssetRoutes.ts"
import { notFoundReply } from "./kit/NotFoundPage.ts"
import { providerDashboardRoutes } from "./provider/ProviderDashboardPage.ts"
import { registerRoutes } from "./register/RegisterPages.ts"
import { specRoutes } from "./spec/SpecPage.ts"
import { statusPageRoutes } from "./status/StatusPage.ts"
import { verifyRoutes } from "./verify/VerifyPage.ts"

const routes = Effect.map(
  Effect.all([
    homeRoutes,
    docsRoutes,
    verifyRoutes,
    statusPageRoutes,
    specRoutes,
    changelogRoutes,
    registerRoutes,
    developerDashboardRoutes,
    providerDashboardRoutes,
    catalogRoutes,
    assetRoutes
  ]),
  (groups) => groups.flat()
)

export const layer = Layer.effect(
  Pages,
  Effect.gen(function* () {
    return { routes: yield* routes, notFound: yield* notFoundReply, invoice: invoicePage }
  })
).pipe(Layer.provide([RateLimits.layer, HttpMetrics.layer]))
