/**
 * The demo provider: its server, loaded only if needed, and its tools in the catalog.
 */
import { Effect, Layer } from "effect"
import { BuiltInProvider, DEMO_PROVIDER_ID } from "../../domain/providers/BuiltInProvider.ts"
import type { ToolChange } from "../../domain/catalog/Tool.ts"
import { ToolImport } from "../../domain/catalog/ToolImport.ts"
import { Microcents, zero } from "../../domain/shared/Microcents.ts"
import { type AppConfig, mayHaveDemo } from "../config/AppConfig.ts"

/** The default of a service on its own socket. Where another app mounts the API, the catalog is empty at first. */
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
  description: "Tools to try out the service. They run inside it, and their prices are test credit.",
  pricingModel: "per_call" as const,
  defaultPrice: zero
}

/** Its server does not say these terms. */
const terms = Effect.map(
  Effect.promise(() => import("../../adapters/demo/DemoTools.ts")),
  ({ demoTools }) =>
    demoTools.map(({ definition, maxCost, price }): ToolChange => ({
      toolName: definition.name,
      category: "demo",
      price: Microcents.make(price),
      maxCost: maxCost === undefined ? null : Microcents.make(maxCost),
      freeTierCalls: 0
    }))
)

const listTools = Effect.gen(function* () {
  const { register } = yield* BuiltInProvider
  const { apply, read } = yield* ToolImport
  if (!(yield* register(builtIn))) return
  const list = yield* read({ providerId: builtIn.id, endpointUrl: builtIn.endpointUrl })
  // It imports tools as any provider does: names, schemas and annotations are the server's.
  const { rejected } = yield* apply(builtIn.id, list, {
    defaultPrice: undefined,
    overrides: yield* terms,
    listed: true
  })
  if (rejected.length > 0) yield* Effect.logWarning("Tools of the demo provider were rejected", rejected)
})

const withdrawTools = Effect.flatMap(BuiltInProvider, ({ withdraw }) => withdraw(DEMO_PROVIDER_ID))

/** A demo that cannot be listed is not a reason to reject the start. */
export const demoProvider = ({ DEMO_PROVIDER, profile }: AppConfig) =>
  DEMO_PROVIDER === undefined || (DEMO_PROVIDER === "off" && profile !== "embedded")
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.catchCause(DEMO_PROVIDER === "on" ? listTools : withdrawTools, (cause) =>
          Effect.logWarning("The demo provider could not be updated", cause)
        )
      ).pipe(Layer.provide(BuiltInProvider.layer))
