/**
 * Accounts, keys and tools for tests: complete, with an id of their own, changed where a test says so.
 */
import { DateTime, Effect } from "effect"
import type { Consumer, Provider } from "../../domain/accounts/Account.ts"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import type { ApiKey } from "../../domain/accounts/ApiKey.ts"
import type { ToolUpsert } from "../../domain/catalog/CatalogStore.ts"
import { tokensOfTool } from "../../domain/catalog/SearchTokens.ts"
import type { ToolDeclaration } from "../../domain/catalog/Tool.ts"
import { Digest } from "../../domain/shared/Digest.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { ConsumerId, KeyId, ProviderId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"

export const instant = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

export const aProvider = Effect.fnUntraced(function* (changes: Partial<Provider> = {}) {
  const provider: Provider = {
    id: ProviderId.make(yield* (yield* Entropy).uuid),
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
    ...changes
  }
  yield* (yield* AccountStore).insertConsumer(consumer)
  return consumer
})

/** Of a consumer unless a test says otherwise; not stored. */
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

/** Not stored. Its tokens are those of the declaration. */
export const aTool = Effect.fnUntraced(function* (
  provider: Provider,
  declaration: Partial<ToolDeclaration> = {},
  changes: Partial<ToolUpsert> = {}
) {
  const declared = aDeclaration(declaration)
  const upsert: ToolUpsert = {
    id: ToolId.make(yield* (yield* Entropy).uuid),
    providerId: provider.id,
    declaration: declared,
    price: declared.price ?? provider.defaultPrice,
    freeTierCalls: declared.freeTierCalls ?? 100,
    searchTokens: tokensOfTool(declared, provider.name),
    at: instant("2026-11-20T10:11:12.345Z"),
    ...changes
  }
  return upsert
})
