/**
 * The demo provider: its server, loaded only if needed, and its tools in the catalog.
 */
import { Effect, Layer } from "effect"
import { BuiltInProvider, DEMO_PROVIDER_ID } from "../../domain/accounts/BuiltInProvider.ts"
import type { ToolChange } from "../../domain/catalog/Tool.ts"
import { Microcents, zero } from "../../domain/shared/Microcents.ts"
import { type AppConfig, mayHaveDemo } from "../config/AppConfig.ts"

/** For a service on its own socket. Where another app mounts the API, the catalog is empty at first. */
export const demoByDefault = (config: AppConfig): "on" | "off" =>
  config.DEMO_PROVIDER ?? (mayHaveDemo(config.profile, config) ? "on" : "off")

export const demoServer = (config: AppConfig) =>
  config.DEMO_PROVIDER === "on"
    ? Effect.map(
        Effect.promise(() => import("../../adapters/demo/DemoServer.ts")),
        ({ makeDemoServer }) => ({ providerId: DEMO_PROVIDER_ID, open: makeDemoServer() })
      )
    : Effect.undefined

const builtIn = {
  id: DEMO_PROVIDER_ID,
  handle: "demo",
  name: "Demo provider",
  email: "demo@demo.invalid",
  // Requests to it never leave the process.
  endpointUrl: "http://demo.invalid/mcp",
  description: "Tools to try out the service. They run inside of it, and their prices are test credit.",
  pricingModel: "per_call" as const,
  defaultPrice: zero
}

const changes = Effect.map(
  Effect.promise(() => import("../../adapters/demo/DemoTools.ts")),
  ({ demoTools }) =>
    demoTools.map(({ definition, maxCost, price }): ToolChange => ({
      toolName: definition.name,
      displayName: definition.title,
      description: definition.description,
      category: "demo",
      inputSchema: definition.inputSchema,
      outputSchema: definition.outputSchema ?? null,
      price: Microcents.make(price),
      maxCost: maxCost === undefined ? null : Microcents.make(maxCost),
      freeTierCalls: 0,
      idempotent: true
    }))
)

/** A demo that cannot be listed is not a reason to reject the start. */
export const demoProvider = (config: AppConfig) =>
  config.DEMO_PROVIDER === undefined
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.gen(function* () {
          const { list, withdraw } = yield* BuiltInProvider
          if (config.DEMO_PROVIDER === "on") yield* list(builtIn, yield* changes)
          else if (config.profile === "embedded") yield* withdraw(DEMO_PROVIDER_ID)
        }).pipe(Effect.catchCause((cause) => Effect.logWarning("The demo provider could not be updated", cause)))
      ).pipe(Layer.provide(BuiltInProvider.layer))
