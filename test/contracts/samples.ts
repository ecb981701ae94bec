/**
 * Accounts, keys and tools for tests: complete, with new IDs; a test overrides fields.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import type { Consumer, Provider } from "../../domain/accounts/Account.ts"
import { suffixed } from "../../domain/accounts/Handle.ts"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import type { ApiKey } from "../../domain/accounts/ApiKey.ts"
import { CatalogStore, type ToolUpsert } from "../../domain/catalog/CatalogStore.ts"
import { planPrices } from "../../domain/catalog/PriceNotice.ts"
import { declaredTerms } from "../../domain/catalog/Pricing.ts"
import { tokensOfTool } from "../../domain/catalog/SearchTokens.ts"
import type { Terms } from "../../domain/catalog/Terms.ts"
import type { Tool, ToolDeclaration } from "../../domain/catalog/Tool.ts"
import { Digest } from "../../domain/shared/Digest.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { ConsumerId, KeyId, ProviderId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"

export const instant = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

export const aProvider = Effect.fnUntraced(function* (changes: Partial<Provider> = {}) {
  const id = ProviderId.make(yield* (yield* Entropy).uuid)
  const provider: Provider = {
    id,
    handle: suffixed("weather-works", id, 12),
    name: "Weather Works",
    email: "owner@example.com",
    endpointUrl: "https://example.com/mcp",
    description: "Forecasts",
    pricingModel: "per_call",
    defaultPrice: Microcents.make(2_000n),
    createdAt: instant("2026-11-20T10:11:12.345Z"),
    ...changes
  }
  yield* (yield* AccountStore).insertProvider(provider)
  return provider
})

export const aConsumer = Effect.fnUntraced(function* (changes: Partial<Consumer> = {}) {
  const consumer: Consumer = {
    id: ConsumerId.make(yield* (yield* Entropy).uuid),
    name: "Curious Agent",
    email: "agent@example.com",
    useCase: "Asking about the weather",
    rateLimitRpm: 120,
    createdAt: instant("2026-11-20T10:11:12.345Z"),
    defaultCap: undefined,
    ...changes
  }
  yield* (yield* AccountStore).insertConsumer(consumer)
  return consumer
})

/** A key that is not stored; default: of a consumer. */
export const aKey = Effect.fnUntraced(function* (ownerId: ConsumerId | ProviderId, changes: Partial<ApiKey> = {}) {
  const entropy = yield* Entropy
  const key: ApiKey = {
    id: KeyId.make(yield* entropy.uuid),
    role: "consumer",
    ownerId,
    label: "a key",
    prefix: "atb_c_12345678",
    hash: (yield* Digest).sha256Hex(yield* entropy.hex(32)),
    createdAt: instant("2026-11-20T10:11:12.345Z"),
    expiresAt: undefined,
    revokedAt: undefined,
    defaultCap: undefined,
    ...changes
  }
  return key
})

export const aDeclaration = (changes: Partial<ToolDeclaration> = {}): ToolDeclaration => ({
  toolName: "forecast",
  displayName: "Forecast",
  description: "What the weather will be",
  category: "weather",
  price: undefined,
  freeTierCalls: undefined,
  inputSchema: undefined,
  outputSchema: undefined,
  billingPolicy: "success",
  maxCost: undefined,
  timeoutMs: undefined,
  idempotent: false,
  onCancel: "finish",
  canceledCallCosts: "price",
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
    return { ...(yield* store.upsert({ ...tool, prices })), prices }
  })
  return yield* atomically(unit)
})

/** The tool of a declaration. */
export const toolOf = (
  { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, price, ...rest }: ToolDeclaration,
  kept: Pick<Tool, "createdAt" | "id" | "providerId" | "updatedAt" | "withdrawnAt">
): Tool => ({
  ...rest,
  declared: { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, price },
  ...kept
})
