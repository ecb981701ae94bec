/**
 * Every route of the contract with the function that answers it, and the documents about it.
 */
import { Effect } from "effect"
import { accountsRoutes } from "./handlers/AccountsHandlers.ts"
import { catalogRoutes } from "./handlers/CatalogHandlers.ts"
import { marketRoutes } from "./handlers/MarketHandlers.ts"
import { toolsRoutes } from "./handlers/ToolsHandlers.ts"
import { docsRoutes } from "./pages/DocsPage.ts"

export const routes = Effect.map(
  Effect.all([accountsRoutes, toolsRoutes, catalogRoutes, marketRoutes, docsRoutes]),
  (groups) => groups.flat()
)
