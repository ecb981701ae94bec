/**
 * Accounts, handles and keys in memory. Units of work run one at a time, so no owner needs a lock.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { HandleStore } from "../../../domain/accounts/Handle.ts"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, isActive, KeyStore } from "../../../domain/accounts/Keys.ts"
import { LevelStore } from "../../../domain/accounts/Levels.ts"
import { compareCodePoints } from "../../../domain/catalog/CatalogStore.ts"
import { FEE_CHANGES_SHOWN_MAX, type FeeChange, NO_OWN_FEE } from "../../../domain/ledger/PlatformFee.ts"
import type { ConsumerId, KeyId, LevelId, ProviderId } from "../../../domain/shared/Ids.ts"
import { VerificationStore } from "../../../domain/trust/Challenge.ts"
import { change as changeRow, newestFirst, oldestFirst, pageById } from "../shared/MemoryRows.ts"
import { type HandleRow, MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

const accountStore = Layer.effect(
  AccountStore,
  Effect.gen(function* () {
    const { providers, providerFees, consumers, erasures } = yield* MemoryTables
    const addFee = (id: ProviderId, change: FeeChange) =>
      Effect.suspend(() => put(providerFees, id, [change, ...(providerFees.get(id) ?? [])]))
    return AccountStore.of({
      insertProvider: (provider) =>
        Effect.andThen(
          insert(providers, provider),
          addFee(provider.id, { fee: NO_OWN_FEE, at: provider.createdAt, by: "registration", reason: undefined })
        ),
      insertConsumer: (consumer) => insert(consumers, consumer),
      findProvider: (id) => Effect.sync(() => Option.fromNullishOr(providers.get(id))),
      findConsumer: (id) => Effect.sync(() => Option.fromNullishOr(consumers.get(id))),
      feeOf: (id) => Effect.sync(() => Option.fromNullishOr(providerFees.get(id)?.[0]?.fee)),
      setFee: addFee,
      feeHistory: (id) => Effect.sync(() => (providerFees.get(id) ?? []).slice(0, FEE_CHANGES_SHOWN_MAX)),
      setFeaturesOff: (id, features) =>
        changeRow(providers, id, { featuresOff: features.length === 0 ? undefined : features }),
      setFrozen: (id, frozen) => changeRow(providers, id, { frozen }),
      updateProvider: ({ featuresOff: _, frozen: __, ...provider }) => changeRow(providers, provider.id, provider),
      changeProvider: (id, changes) => {
        const given = Object.entries(changes).filter(([, value]) => value !== undefined)
        return changeRow(providers, id, Object.fromEntries(given))
      },
      updateConsumer: (consumer) => put(consumers, consumer.id, consumer),
      setDefaultCap: (id, defaultCap) => changeRow(consumers, id, { defaultCap }),
      recordErasure: (erasure) =>
        Effect.suspend(() => (erasures.has(erasure.ownerId) ? Effect.void : put(erasures, erasure.ownerId, erasure))),
      erasureOf: (id) => Effect.sync(() => Option.fromNullishOr(erasures.get(id))),
      counts: Effect.sync(() => ({ providers: providers.size, consumers: consumers.size }))
    })
  })
)

const insert = <Id extends string, Row extends { readonly id: Id }>(rows: Map<Id, Row>, row: Row) =>
  Effect.suspend(() => (rows.has(row.id) ? Effect.die(new Error(`Duplicate id ${row.id}`)) : put(rows, row.id, row)))

const handleStore = Layer.effect(
  HandleStore,
  Effect.gen(function* () {
    const { handles, toolsByName, tools } = yield* MemoryTables
    const verification = yield* VerificationStore

    const inUse = () => [...handles.values()].filter(({ erased, retired }) => !erased && !retired)

    const isVerified = ({ providerId }: HandleRow) =>
      Effect.map(verification.verified(providerId), ({ level }) => level !== "unverified")

    return HandleStore.of({
      claim: Effect.fnUntraced(function* (claim) {
        const known = handles.get(claim.handle)
        if (known !== undefined && (known.erased || known.providerId !== claim.providerId)) return false
        yield* put(handles, claim.handle, { ...(known ?? claim), retired: false, erased: false })
        return true
      }),

      ownersOf: (wanted) =>
        Effect.sync(
          () =>
            new Map(
              wanted.flatMap((handle) => {
                const row = handles.get(handle)
                return row === undefined || row.erased ? [] : [[handle, row.providerId] as const]
              })
            )
        ),

      resolve: (handle) =>
        Effect.sync(() => {
          const row = handles.get(handle)
          return row === undefined || row.erased || row.retired ? Option.none() : Option.some(row.providerId)
        }),

      retire: (handle) => changeRow(handles, handle, { retired: true }),

      imitated: Effect.fnUntraced(function* (skeleton, except) {
        const alike = inUse().filter((row) => row.skeleton === skeleton && row.providerId !== except)
        const [first] = yield* Effect.filter(alike, isVerified)
        return Option.map(Option.fromUndefinedOr(first), ({ handle }) => handle)
      }),

      imitations: Effect.fnUntraced(function* (limit) {
        const originals = yield* Effect.filter(inUse(), isVerified)
        const pairs = inUse().flatMap(({ handle, providerId, skeleton }) =>
          originals
            .filter((one) => one.skeleton === skeleton && one.providerId !== providerId)
            .map((one) => ({ handle, providerId, imitates: one.handle, imitatedProviderId: one.providerId }))
        )
        return pairs
          .toSorted((a, b) => compareCodePoints(a.handle, b.handle) || compareCodePoints(a.imitates, b.imitates))
          .slice(0, limit)
      }),

      beginsToolName: (handle, except) =>
        Effect.sync(() =>
          [...toolsByName].some(
            ([name, ids]) =>
              name.startsWith(`${handle}/`) && ids.some((id) => tools.get(id)!.tool.providerId !== except)
          )
        ),

      erase: Effect.fnUntraced(function* (providerId) {
        const theirs = [...handles.values()].filter((row) => row.providerId === providerId)
        for (const row of theirs) yield* put(handles, row.handle, { ...row, erased: true })
      })
    })
  })
)

// Keys in memory. Units of work run one at a time, so the owner needs no lock.

const keyStore = Layer.effect(
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

      update: ({ expiresAt, id, label, levelId }) => changeRow(keys, id, { expiresAt, label, levelId }),

      unlabel: (ownerId) =>
        Effect.suspend(() =>
          Effect.forEach(keysOfOwner.get(ownerId) ?? [], (id) => put(keys, id, { ...keys.get(id)!, label: "" }), {
            discard: true
          })
        )
    })
  })
)

const levelStore = Layer.effect(
  LevelStore,
  Effect.gen(function* () {
    const { consumers, keys, levels, runsByKeyHash } = yield* MemoryTables
    const below = (consumerId: ConsumerId, id: LevelId) =>
      [...levels.values()].filter((level) => level.consumerId === consumerId && level.path.includes(id))
    const runsOf = (consumerId: ConsumerId) =>
      [...levels.values()].filter((level) => level.consumerId === consumerId && level.kind === "run")

    return LevelStore.of({
      insert: (level, keyHash) =>
        Effect.andThen(
          put(levels, level.id, level),
          keyHash === undefined ? Effect.void : put(runsByKeyHash, keyHash, level.id)
        ),
      find: (consumerId, id) =>
        Effect.sync(() =>
          Option.filter(Option.fromNullishOr(levels.get(id)), (level) => level.consumerId === consumerId)
        ),
      findRun: (keyHash) =>
        Effect.sync(() =>
          Option.map(Option.fromNullishOr(runsByKeyHash.get(keyHash)), (id) => {
            const run = levels.get(id)!
            const { defaultCap, name, rateLimitRpm } = consumers.get(run.consumerId)!
            return { run, ownerName: name, rateLimitRpm, defaultCap }
          })
        ),
      pathOf: (id) => Effect.sync(() => (levels.get(id)?.path ?? []).map((above) => levels.get(above)!)),
      update: (level) =>
        Effect.suspend(() => {
          const { createdAt: _, endedAt: __, path: ___, ...changes } = level
          return changeRow(levels, level.id, changes)
        }),
      end: (consumerId, id, at) =>
        Effect.gen(function* () {
          const ended = below(consumerId, id)
          for (const level of ended) yield* changeRow(levels, level.id, { endedAt: level.endedAt ?? at })
          for (const key of keys.values()) {
            if (!ended.some((level) => level.id === key.levelId)) continue
            yield* changeRow(keys, key.id, { revokedAt: DateTime.min(key.revokedAt ?? at, at) })
          }
        }),
      runsBelow: (consumerId, id, limit) =>
        Effect.sync(() =>
          below(consumerId, id)
            .filter((level) => level.kind === "run" && level.id !== id)
            .toSorted(oldestFirst((level) => level.createdAt))
            .slice(0, limit)
        ),
      runs: (consumerId, id, page) =>
        Effect.sync(() =>
          pageById(
            runsOf(consumerId).filter((run) => id === undefined || run.path.includes(id)),
            page
          )
        ),
      liveRuns: (consumerId, now) =>
        Effect.sync(
          () =>
            runsOf(consumerId).filter(
              (run) => run.endedAt === undefined && run.expiresAt!.epochMilliseconds > now.epochMilliseconds
            ).length
        ),
      erase: (consumerId, at) =>
        Effect.suspend(() =>
          Effect.forEach(
            [...levels.values()].filter((level) => level.consumerId === consumerId),
            (level) => changeRow(levels, level.id, { label: "", endedAt: level.endedAt ?? at }),
            { discard: true }
          )
        )
    })
  })
)

export const layer = Layer.mergeAll(accountStore, handleStore, keyStore, levelStore)
