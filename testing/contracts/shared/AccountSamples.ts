/**
 * Stored accounts, and keys, for rules of contracts: complete, with new ids; a rule overrides fields.
 */
import { DateTime, Effect } from "effect"
import { AccountStore, type Consumer, type Provider } from "../../../domain/accounts/Account.ts"
import { suffixed } from "../../../domain/accounts/Handle.ts"
import type { ApiKey } from "../../../domain/accounts/Keys.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, KeyId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"

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
    featuresOff: undefined,
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
    levelId: undefined,
    ...changes
  }
  return key
})
