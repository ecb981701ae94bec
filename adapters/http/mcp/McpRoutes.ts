/**
 * Every path that speaks MCP, or that its clients expect beside it.
 */
import { Effect } from "effect"
import { makeDoorRoutes } from "./DoorRoutes.ts"
import { marketDoorPath } from "./market/MarketDoor.ts"
import { providerDoorPath } from "./ProviderDoor.ts"
import { refusalRoutes } from "./RefusedTransports.ts"

export const mcpRoutes = Effect.gen(function* () {
  const routesOf = yield* makeDoorRoutes
  return [...routesOf(yield* providerDoorPath), ...routesOf(yield* marketDoorPath), ...(yield* refusalRoutes)]
})
