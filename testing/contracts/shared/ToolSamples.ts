/**
 * Tools, and completed calls of them, for rules of contracts.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import type { Provider } from "../../../domain/accounts/Account.ts"
import { CatalogStore, type ToolUpsert } from "../../../domain/catalog/CatalogStore.ts"
import { tokensOfTool } from "../../../domain/catalog/SearchTokens.ts"
import { declaredTerms, type Terms } from "../../../domain/catalog/Terms.ts"
import { applyChange, type Tool, type ToolDeclaration } from "../../../domain/catalog/Tool.ts"
import { planPrices } from "../../../domain/catalog/ToolUpserts.ts"
import type { OpenCall } from "../../../domain/metering/CallStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { type ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import type { PageRequest } from "../../../domain/shared/Page.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { instant } from "./AccountSamples.ts"
import { aCall, type Ending, settled } from "./CallSamples.ts"

export const aDeclaration = (changes: Partial<ToolDeclaration> = {}): ToolDeclaration => ({
  ...applyChange(undefined, {
    toolName: "forecast",
    displayName: "Forecast",
    description: "What the weather will be",
    category: "weather"
  }),
  ...changes
})

type ToolChanges = Partial<ToolUpsert> & Partial<Pick<Terms, "price" | "freeTierCalls">>

/** A tool that is not stored, with a first price version and the search tokens of its declaration. */
export const aTool = Effect.fnUntraced(function* (
  provider: Provider,
  declaration: Partial<ToolDeclaration> = {},
  { freeTierCalls, price, ...changes }: ToolChanges = {}
) {
  const declared = aDeclaration(declaration)
  const asked = { ...declared, price: price ?? declared.price, freeTierCalls: freeTierCalls ?? declared.freeTierCalls }
  const at = changes.at ?? instant("2026-11-20T10:11:12.345Z")
  const upsert: ToolUpsert = {
    id: ToolId.make(yield* (yield* Entropy).uuid),
    providerId: provider.id,
    declaration: declared,
    prices: planPrices(undefined, declaredTerms(asked, provider, 100), at, Duration.zero),
    searchTokens: tokensOfTool(declared, provider.name),
    at,
    ...changes
  }
  return upsert
})

/** Stores one tool. */
export const upserted = Effect.fnUntraced(function* (tool: ToolUpsert) {
  const [outcome] = yield* (yield* CatalogStore).upsert([tool])
  return outcome!
})

/** Stores a tool as the catalog does: with versions planned from the stored ones, under a lock. */
export const putTool = Effect.fnUntraced(function* (
  provider: Provider,
  declaration: Partial<ToolDeclaration>,
  at: DateTime.Utc,
  notice: Duration.Duration = Duration.zero
) {
  const store = yield* CatalogStore
  const { atomically } = yield* UnitOfWork
  const unit = Effect.gen(function* () {
    yield* store.countOf(provider.id)
    const tool = yield* aTool(provider, declaration, { at })
    const known = Option.getOrUndefined(yield* store.findOf(provider.id, tool.declaration.toolName))
    const prices = planPrices(known?.prices, declaredTerms(tool.declaration, provider, 100), at, notice)
    return { ...(yield* upserted({ ...tool, prices })), prices }
  })
  return yield* atomically(unit)
})

/** The tool of a declaration. */
export const toolOf = (
  { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price, ...rest }: ToolDeclaration,
  kept: Pick<Tool, "createdAt" | "id" | "providerId" | "updatedAt" | "withdrawnAt">
): Tool => ({
  ...rest,
  outputSchema,
  declared: { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price },
  draft: false,
  withdrawnByServer: false,
  ...kept
})

export const FIRST_PAGE: PageRequest = { limit: 50, offset: 0, after: undefined }

/** A listed tool. */
export const aListedTool = Effect.fnUntraced(function* (provider: Provider, toolName: string) {
  const tool = yield* aTool(provider, { toolName })
  yield* upserted(tool)
  return { providerId: provider.id, toolId: tool.id, toolName }
})

export interface CalledTool {
  readonly providerId: Provider["id"]
  readonly toolId: ToolId
  readonly toolName: string
}

/** A completed call of the tool at the given time. */
export const called = Effect.fnUntraced(function* (
  consumerId: ConsumerId,
  tool: CalledTool,
  at: string,
  ending: Ending = {},
  changes: Partial<OpenCall> = {}
) {
  const call = yield* aCall(consumerId, { ...tool, openedAt: DateTime.makeUnsafe(at), ...changes })
  return yield* settled(call, ending)
})
