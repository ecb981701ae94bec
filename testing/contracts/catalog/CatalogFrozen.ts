/**
 * Tools of frozen providers.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { type CatalogFilter, CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aTool, upserted } from "../shared/ToolSamples.ts"

const FREEZE = { reason: "Fraud is suspected.", at: instant("2026-11-22T00:00:00.000Z") }

export const frozenProvidersOfCatalog: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "takes the tools of a frozen provider off every list but its own, until it is unfrozen",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const accounts = yield* AccountStore
      const [provider, rival] = [yield* aProvider(), yield* aProvider()]
      const word = yield* (yield* Entropy).hex(8)
      const toolName = `cold-${word}`
      const { id } = yield* upserted(yield* aTool(provider, { toolName, category: toolName }))
      const page = { limit: 10, offset: 0, after: undefined }
      const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
      const found = (filter: Partial<CatalogFilter>) =>
        Effect.map(store.search({ ...ofProvider, ...filter }, "name", page), ({ items, total }) => {
          assert.equal(items.length, total)
          return items.map(({ tool }) => tool.toolName)
        })
      const lists = Effect.gen(function* () {
        return {
          ofProvider: yield* found({}),
          ofCategory: yield* found({ providerId: undefined, category: toolName }),
          byWord: yield* found({ providerId: undefined, tokens: [word] }),
          categories: (yield* store.categories).filter((one) => one === toolName),
          similar: yield* store.similarNames(toolName, provider.id, 5)
        }
      })
      const listed = yield* lists
      const own = { own: true, state: "listed" } as const
      for (const [list, names] of Object.entries(listed)) assert.deepEqual(names, [toolName], list)
      const before = yield* store.count
      const entry = Option.getOrThrow(yield* store.find(id))

      yield* accounts.setFrozen(provider.id, FREEZE)
      for (const [list, names] of Object.entries(yield* lists)) assert.deepEqual(names, [], list)
      assert.equal(yield* store.count, before - 1)
      assert.equal((yield* store.search({ ...ofProvider, providerId: undefined }, "name", page)).total, before - 1)
      assert.deepEqual(yield* found(own), [toolName])
      assert.deepEqual(yield* found({ state: "any" }), [toolName])
      const frozen = { ...entry, provider: { ...entry.provider, frozen: FREEZE } }
      assert.deepEqual(yield* store.find(id), Option.some(frozen))
      // A caller learns why the tool cannot be called, unless another provider lists one of this name.
      assert.deepEqual(yield* store.findByName(toolName, 5), [frozen])
      const other = yield* upserted(yield* aTool(rival, { toolName }))
      assert.deepEqual(
        (yield* store.findByName(toolName, 5)).map(({ tool }) => tool.id),
        [other.id]
      )
      yield* accounts.setFrozen(rival.id, FREEZE)
      assert.equal((yield* store.findByName(toolName, 5)).length, 2)
      assert.equal(yield* store.count, before - 1)

      yield* accounts.setFrozen(rival.id, undefined)
      yield* accounts.setFrozen(provider.id, undefined)
      assert.deepEqual(yield* found({}), [toolName])
      assert.deepEqual((yield* lists).categories, [toolName])
      assert.equal(yield* store.count, before + 1)
    })
  )
]
