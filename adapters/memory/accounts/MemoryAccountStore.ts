/**
 * Accounts in memory.
 */
import { Effect, Layer, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { FEE_CHANGES_SHOWN_MAX, type FeeChange, NO_OWN_FEE } from "../../../domain/ledger/PlatformFee.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { change } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
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
        change(providers, id, { featuresOff: features.length === 0 ? undefined : features }),
      setFrozen: (id, frozen) => change(providers, id, { frozen }),
      updateProvider: ({ featuresOff: _, frozen: __, ...provider }) => change(providers, provider.id, provider),
      changeProvider: (id, changes) => {
        const given = Object.entries(changes).filter(([, value]) => value !== undefined)
        return change(providers, id, Object.fromEntries(given))
      },
      updateConsumer: (consumer) => put(consumers, consumer.id, consumer),
      setDefaultCap: (id, defaultCap) => change(consumers, id, { defaultCap }),
      recordErasure: (erasure) =>
        Effect.suspend(() => (erasures.has(erasure.ownerId) ? Effect.void : put(erasures, erasure.ownerId, erasure))),
      erasureOf: (id) => Effect.sync(() => Option.fromNullishOr(erasures.get(id))),
      counts: Effect.sync(() => ({ providers: providers.size, consumers: consumers.size }))
    })
  })
)

const insert = <Id extends string, Row extends { readonly id: Id }>(rows: Map<Id, Row>, row: Row) =>
  Effect.suspend(() => (rows.has(row.id) ? Effect.die(new Error(`Duplicate id ${row.id}`)) : put(rows, row.id, row)))
