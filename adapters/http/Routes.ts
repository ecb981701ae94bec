/**
 * Every route of the contract with the function that answers it, and the documents about it.
 */
import { Effect } from "effect"
import { accountsRoutes } from "./handlers/AccountsHandlers.ts"
import { catalogRoutes } from "./handlers/CatalogHandlers.ts"
import { disputesRoutes } from "./handlers/DisputesHandlers.ts"
import { grantsRoutes } from "./handlers/GrantsHandlers.ts"
import { invoicesRoutes } from "./handlers/InvoicesHandlers.ts"
import { logRoutes } from "./handlers/LogHandlers.ts"
import { marketRoutes } from "./handlers/MarketHandlers.ts"
import { meteringRoutes } from "./handlers/MeteringHandlers.ts"
import { moneyRoutes } from "./handlers/MoneyHandlers.ts"
import { payoutsRoutes } from "./handlers/PayoutsHandlers.ts"
import { proxyRoutes } from "./handlers/ProxyHandlers.ts"
import { receiptsRoutes } from "./handlers/ReceiptsHandlers.ts"
import { toolsRoutes } from "./handlers/ToolsHandlers.ts"
import { trustRoutes } from "./handlers/TrustHandlers.ts"
import { usageRoutes } from "./handlers/UsageHandlers.ts"
import { webhookRoutes } from "./handlers/WebhookHandlers.ts"
import { agentsFileRoutes } from "./pages/AgentsFile.ts"
import { assetRoutes } from "./pages/AssetRoutes.ts"
import { docsRoutes } from "./pages/DocsPage.ts"
import { verifyRoutes } from "./pages/VerifyPage.ts"

export const routes = Effect.map(
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
    webhookRoutes,
    invoicesRoutes,
    receiptsRoutes,
    logRoutes,
    disputesRoutes,
    trustRoutes,
    marketRoutes,
    docsRoutes,
    verifyRoutes,
    assetRoutes,
    agentsFileRoutes
  ]),
  (groups) => groups.flat()
)
