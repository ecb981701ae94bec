/**
 * Keys in memory. Units of work run one at a time, so the owner needs no lock.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, isActive, KeyStore } from "../../../domain/accounts/Keys.ts"
import type { ConsumerId, KeyId, ProviderId } from "../../../domain/shared/Ids.ts"
import { newestFirst } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  KeyStore,
  Effect.gen(function* () {
    const { consumers, keys, keysByHash, keysOfOwner, providers } = yield* MemoryTables

    const ownerOf = (key: ApiKey) =>
      key.role === "consumer" ? consumers.get(key.ownerId as ConsumerId) : providers.get(key.ownerId as ProviderId)

    const change = Effect.fnUntraced(function* (ownerId: string, id: KeyId, changed: (key: ApiKey) => ApiKey) {
      const key = keys.get(id)
      if (key === undefined || key.ownerId !== ownerId) return Option.none()
      yield* put(keys, id, changed(key))
      return Option.fromNullishOr(keys.get(id))
    })

    return KeyStore.of({
      insert: Effect.fnUntraced(function* (key) {
        if (ownerOf(key) === undefined) return yield* Effect.die(new Error(`There is no ${key.role} ${key.ownerId}`))
        if (keys.has(key.id) || keysByHash.has(key.hash)) return yield* Effect.die(new Error(`Duplicate key ${key.id}`))
        yield* put(keys, key.id, key)
        yield* put(keysByHash, key.hash, key.id)
        yield* put(keysOfOwner, key.ownerId, [key.id, ...(keysOfOwner.get(key.ownerId) ?? [])])
      }),

      findByHash: (hash) =>
        Effect.sync(() =>
          Option.fromNullishOr(keysByHash.get(hash)).pipe(
            Option.map((id) => {
              const key = keys.get(id)!
              const owner = ownerOf(key)!
              const rateLimitRpm = "rateLimitRpm" in owner ? owner.rateLimitRpm : undefined
              const defaultCap = "defaultCap" in owner ? owner.defaultCap : undefined
              return { key, ownerName: owner.name, rateLimitRpm, defaultCap }
            })
          )
        ),

      ofOwner: (ownerId, now) =>
        Effect.sync(() => {
          const all = (keysOfOwner.get(ownerId) ?? []).map((id) => keys.get(id)!)
          let dead = 0
          return all
            .toSorted(newestFirst((key) => key.createdAt))
            .filter((key) => isActive(key, now.epochMilliseconds) || ++dead <= DEAD_KEYS_SHOWN_MAX)
        }),

      revoke: (ownerId, id, at) =>
        change(ownerId, id, (key) => ({ ...key, revokedAt: DateTime.min(key.revokedAt ?? at, at) })),

      setDefaultCap: (ownerId, id, defaultCap) => change(ownerId, id, (key) => ({ ...key, defaultCap })),

      unlabel: (ownerId) =>
        Effect.suspend(() =>
          Effect.forEach(keysOfOwner.get(ownerId) ?? [], (id) => put(keys, id, { ...keys.get(id)!, label: "" }), {
            discard: true
          })
        )
    })
  })
)
