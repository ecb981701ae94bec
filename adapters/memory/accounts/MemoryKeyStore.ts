/**
 * Keys in memory. Units of work run one at a time, so the owner needs no lock.
 */
import { type DateTime, Effect, Layer, Option } from "effect"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, isLive } from "../../../domain/accounts/ApiKey.ts"
import { KeyStore } from "../../../domain/accounts/KeyStore.ts"
import type { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  KeyStore,
  Effect.gen(function* () {
    const { consumers, keys, keysByHash, keysOfOwner, providers } = yield* MemoryTables

    const ownerOf = (key: ApiKey) =>
      key.role === "consumer" ? consumers.get(key.ownerId as ConsumerId) : providers.get(key.ownerId as ProviderId)

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
          const all = (keysOfOwner.get(ownerId) ?? []).map((id) => keys.get(id)!).toSorted(newestFirst)
          let dead = 0
          return all.filter((key) => isLive(key, now.epochMilliseconds) || ++dead <= DEAD_KEYS_SHOWN_MAX)
        }),

      revoke: Effect.fnUntraced(function* (ownerId, id, at) {
        const key = keys.get(id)
        if (key === undefined || key.ownerId !== ownerId) return Option.none()
        const revoked: ApiKey = { ...key, revokedAt: earlier(key.revokedAt, at) }
        yield* put(keys, id, revoked)
        return Option.some(revoked)
      }),

      setDefaultCap: Effect.fnUntraced(function* (ownerId, id, cap) {
        const key = keys.get(id)
        if (key === undefined || key.ownerId !== ownerId) return Option.none()
        const changed: ApiKey = { ...key, defaultCap: cap }
        yield* put(keys, id, changed)
        return Option.some(changed)
      }),

      unlabel: (ownerId) =>
        Effect.suspend(() =>
          Effect.forEach(keysOfOwner.get(ownerId) ?? [], (id) => put(keys, id, { ...keys.get(id)!, label: "" }), {
            discard: true
          })
        )
    })
  })
)

const newestFirst = (a: ApiKey, b: ApiKey): number =>
  b.createdAt.epochMilliseconds - a.createdAt.epochMilliseconds || (a.id < b.id ? 1 : -1)

const earlier = (a: DateTime.Utc | undefined, b: DateTime.Utc): DateTime.Utc =>
  a !== undefined && a.epochMilliseconds < b.epochMilliseconds ? a : b
