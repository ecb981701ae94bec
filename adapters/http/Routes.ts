/**
 * Every route of the contract with the function that answers it.
 */
import { Effect } from "effect"
import { accountsRoutes } from "./handlers/AccountsHandlers.ts"
import { catalogRoutes } from "./handlers/CatalogHandlers.ts"
import { marketRoutes } from "./handlers/MarketHandlers.ts"
import { toolsRoutes } from "./handlers/ToolsHandlers.ts"

export const routes = Effect.map(
  Effect.all([accountsRoutes, toolsRoutes, catalogRoutes, marketRoutes]),
  (groups) => groups.flat()
)
