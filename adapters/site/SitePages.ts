/**
 * Routes of all pages. Their links start at the root, so a service below a prefix has only its documentation.
 */
import { Effect, Layer } from "effect"
import { BaseUrl, prefixOf } from "../http/contract/BaseUrl.ts"
import { HttpMetrics } from "../http/pipeline/RequestTelemetry.ts"
import { Pages } from "../http/pipeline/Route.ts"
import { RateLimits } from "../http/pipeline/Stages.ts"
import { catalogRoutes } from "./catalog/CatalogRoutes.ts"
import { changelogRoutes } from "./changelog/ChangelogPage.ts"
import { crawlerRoutes } from "./crawlers/CrawlerRoutes.ts"
import { dashboardRoutes } from "./dashboard/DashboardPages.ts"
import { documentLinks } from "./docs/DocsNavigation.ts"
import { docsRoutes } from "./docs/DocsRoutes.ts"
import { homeRoutes } from "./home/HomePage.ts"
import { invoicePage } from "./invoice/InvoicePage.ts"
import { assetRoutes } from "./kit/Assets.ts"
import { html } from "./kit/Html.ts"
import { makeSite, notFoundPage } from "./kit/Site.ts"
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
    dashboardRoutes,
    catalogRoutes,
    crawlerRoutes,
    assetRoutes
  ]),
  (groups) => groups.flat()
)

const notFound = Effect.map(makeSite, (site) =>
  notFoundPage(
    site,
    "This page does not exist.",
    html`<p>
      Go to the <a href="/">home page</a>, the <a href="/catalog">catalog</a>, the <a href="/docs">documentation</a> or
      the <a href="/status">status page</a>.
    </p>`
  )
)

export const layer = Layer.effect(
  Pages,
  Effect.gen(function* () {
    const shared = { invoice: invoicePage, documents: documentLinks() }
    return prefixOf(yield* BaseUrl) === ""
      ? { ...shared, routes: yield* routes, notFound: yield* notFound }
      : { ...shared, routes: [...(yield* docsRoutes), ...(yield* assetRoutes)], notFound: undefined }
  })
).pipe(Layer.provide([RateLimits.layer, HttpMetrics.layer]))
