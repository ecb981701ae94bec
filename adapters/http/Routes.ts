/**
 * Every route of the contract with the function that answers it, and the documents about it.
 */
import { Effect } from "effect"
import { accountsRoutes } from "./handlers/AccountsHandlers.ts"
import { catalogRoutes } from "./handlers/CatalogHandlers.ts"
import { disputesRoutes } from "./handlers/DisputesHandlers.ts"
import { grantsRoutes } from "./handlers/GrantsHandlers.ts"
import { indexRoutes } from "./handlers/IndexHandlers.ts"
import { invoicesRoutes } from "./handlers/InvoicesHandlers.ts"
import { logRoutes } from "./handlers/LogHandlers.ts"
import { marketRoutes } from "./handlers/MarketHandlers.ts"
import { meteringRoutes } from "./handlers/MeteringHandlers.ts"
import { metricsRoutes } from "./handlers/MetricsHandlers.ts"
import { moneyRoutes } from "./handlers/MoneyHandlers.ts"
import { operatorRoutes } from "./handlers/OperatorHandlers.ts"
import { payoutsRoutes } from "./handlers/PayoutsHandlers.ts"
import { platformRoutes } from "./handlers/PlatformHandlers.ts"
import { proxyRoutes } from "./handlers/ProxyHandlers.ts"
import { receiptsRoutes } from "./handlers/ReceiptsHandlers.ts"
import { statusRoutes } from "./handlers/StatusHandlers.ts"
import { submissionsRoutes } from "./handlers/SubmissionsHandlers.ts"
import { toolsRoutes } from "./handlers/ToolsHandlers.ts"
import { trustRoutes } from "./handlers/TrustHandlers.ts"
import { usageRoutes } from "./handlers/UsageHandlers.ts"
import { webhookRoutes } from "./handlers/WebhookHandlers.ts"
import { assetRoutes } from "./pages/AssetRoutes.ts"
import { developerDashboardRoutes } from "./pages/DeveloperDashboardPage.ts"
import { catalogPageRoutes } from "./pages/CatalogPages.ts"
import { changelogRoutes } from "./pages/ChangelogPage.ts"
import { docsRoutes } from "./pages/DocsPage.ts"
import { homeRoutes } from "./pages/HomePage.ts"
import { providerDashboardRoutes } from "./pages/ProviderDashboardPage.ts"
import { registerRoutes } from "./pages/RegisterPages.ts"
import { specRoutes } from "./pages/SpecPage.ts"
import { statusPageRoutes } from "./pages/StatusPage.ts"
import { verifyRoutes } from "./pages/VerifyPage.ts"

const subjects = Effect.map(
  Effect.all([
    accountsRoutes,
    toolsRoutes,
    catalogRoutes,
    proxyRoutes,
    usageRoutes,
    meteringRoutes,
    grantsRoutes,
    moneyRoutes,
    payoutsRoutes,
    operatorRoutes,
    webhookRoutes,
    invoicesRoutes,
    receiptsRoutes,
    logRoutes,
    disputesRoutes,
    trustRoutes,
    marketRoutes,
    platformRoutes,
    statusRoutes,
    submissionsRoutes,
    metricsRoutes,
    homeRoutes,
    docsRoutes,
    verifyRoutes,
    statusPageRoutes,
    specRoutes,
    changelogRoutes,
    registerRoutes,
    developerDashboardRoutes,
    providerDashboardRoutes,
    catalogPageRoutes,
    assetRoutes
  ]),
  (groups) => groups.flat()
)

/** With those that tell where the others are. */
export const routes = Effect.flatMap(subjects, (others) =>
  Effect.map(indexRoutes(others), (indexes) => [...others, ...indexes])
)
