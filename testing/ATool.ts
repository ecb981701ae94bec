/**
 * A tool of a new provider, or of a given one.
 */
import { Effect } from "effect"
import { Registration } from "../domain/providers/Registration.ts"
import { Catalog } from "../domain/catalog/Catalog.ts"
import type { ToolChange } from "../domain/catalog/Tool.ts"
import { Ledger } from "../domain/ledger/Ledger.ts"
import type { ProviderId, ToolId } from "../domain/shared/Ids.ts"
import { Microcents } from "../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../domain/shared/StoreUnavailable.ts"
import { type ToolBehavior, ToolScript } from "./ScriptedUpstream.ts"

/** A registered provider. Its tools are functions of the test. */
export interface TestProvider {
  readonly id: ProviderId
  /** Its API key. */
  readonly key: string
  /** Its earnings in every state, in microcents. */
  readonly balance: Effect.Effect<bigint, StoreUnavailable>
}

/** A listed tool and the provider that it belongs to. */
export interface TestTool {
  readonly id: ToolId
  readonly name: string
  readonly provider: TestProvider
}

/** What the test decides of a tool: its terms as a provider declares them, and how it behaves. */
export interface ToolOptions extends Omit<Partial<ToolChange>, "maxCost" | "price" | "toolName"> {
  /** Default: "search". */
  readonly name?: string
  /** In microcents; 10,000 are one cent. Default: 500. */
  readonly price?: bigint
  /** The most that a call may cost, where the provider reports what it costs. */
  readonly maxCost?: bigint
  /** Default: the text "ok". */
  readonly behavior?: ToolBehavior
  /** Default: a new one. */
  readonly provider?: TestProvider
}

export const aTool = Effect.fnUntraced(function* ({
  behavior,
  maxCost,
  name = "search",
  price = 500n,
  provider: given,
  ...declared
}: ToolOptions = {}) {
  const provider = given ?? (yield* aProvider())
  const { stored } = yield* (yield* Catalog).upsert(provider.id, [
    {
      ...declared,
      toolName: name,
      price: Microcents.make(price),
      maxCost: maxCost === undefined ? undefined : Microcents.make(maxCost)
    }
  ])
  const tool: TestTool = { id: stored[0]!.id, name, provider }
  if (behavior !== undefined) (yield* ToolScript).behave(tool.id, behavior)
  return tool
})

/** What the test decides of a provider; everything else is made up. */
export interface ProviderOptions {
  readonly name?: string
  readonly email?: string
}

/** Registers a provider, which has no tools yet. */
export const aProvider = Effect.fnUntraced(function* ({
  email = "provider@example.org",
  name = "A provider"
}: ProviderOptions = {}) {
  const ledger = yield* Ledger
  const { minted, provider } = yield* (yield* Registration).provider(
    {
      name,
      email,
      // No request is sent to it: the tools are scripted.
      endpointUrl: "https://provider.example.org/mcp",
      description: "",
      pricingModel: "per_call",
      defaultPrice: Microcents.make(500n),
      tools: []
    },
    undefined
  )
  const one: TestProvider = {
    id: provider.id,
    key: minted.secret,
    balance: Effect.map(ledger.provider(provider.id), ({ balance }) => balance)
  }
  return one
})
