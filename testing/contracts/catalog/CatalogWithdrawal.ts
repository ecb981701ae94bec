/**
 * Withdrawn tools.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type CatalogFilter, CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aTool, upserted } from "../shared/ToolSamples.ts"

export const withdrawalsOfCatalog: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "takes a withdrawn tool off every list, keeps it under its id, and lists it again when it is put in",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const toolName = `gone-${yield* (yield* Entropy).hex(8)}`
      const [leaving, staying] = [
        yield* aTool(provider, { toolName, category: toolName }),
        yield* aTool(provider, { toolName: `${toolName}-stays`, category: "" })
      ]
      yield* store.upsert([leaving, staying])
      const before = yield* store.count
      const entry = Option.getOrThrow(yield* store.find(leaving.id))
      const [first, second] = [instant("2026-11-22T00:00:00.000Z"), instant("2026-11-23T00:00:00.000Z")]
      const stranger = yield* aProvider()
      assert.deepEqual(yield* store.withdraw(stranger.id, leaving.id, first), Option.none())
      assert.deepEqual(yield* store.find(leaving.id), Option.some(entry))
      const unknown = ToolId.make(yield* (yield* Entropy).uuid)
      assert.deepEqual(yield* store.withdraw(provider.id, unknown, first), Option.none())

      const page = { limit: 10, offset: 0, after: undefined }
      const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
      const names = (filter: Partial<CatalogFilter>) =>
        Effect.map(store.search({ ...ofProvider, ...filter }, "name", page), ({ items, total }) => {
          assert.equal(items.length, total)
          return items.map(({ tool }) => tool.toolName)
        })
      for (const at of [first, second]) {
        assert.deepEqual(yield* store.withdraw(provider.id, leaving.id, at), Option.some(first))
      }
      const withdrawn = { ...entry, tool: { ...entry.tool, withdrawnAt: first } }
      assert.deepEqual(yield* store.find(leaving.id), Option.some(withdrawn))
      assert.deepEqual(yield* store.findOf(provider.id, toolName), Option.some(withdrawn))
      assert.deepEqual(yield* store.findByName(toolName, 5), [withdrawn])
      assert.equal(yield* store.count, before - 1)
      assert.equal(yield* store.countOf(provider.id), 2)
      assert.ok(!(yield* store.categories).includes(toolName))
      assert.deepEqual(yield* names({}), [staying.declaration.toolName])
      assert.deepEqual(yield* names({ category: toolName }), [])
      assert.deepEqual(yield* names({ tokens: [toolName.slice(0, 4)] }), [staying.declaration.toolName])
      assert.deepEqual(yield* names({ state: "withdrawn" }), [toolName])
      assert.deepEqual(yield* names({ state: "any" }), [toolName, staying.declaration.toolName])

      const rival = yield* aTool(stranger, { toolName })
      yield* upserted(rival)
      assert.deepEqual(
        (yield* store.findByName(toolName, 5)).map(({ tool }) => tool.id),
        [rival.id]
      )

      const again = yield* upserted(yield* aTool(provider, { toolName, category: toolName }))
      assert.deepEqual([again.id, again.action, again.priceVersion], [leaving.id, "updated", 1])
      assert.deepEqual(Option.getOrThrow(yield* store.find(leaving.id)).tool.withdrawnAt, undefined)
      assert.deepEqual(yield* names({}), [toolName, staying.declaration.toolName])
      assert.equal(yield* store.count, before + 1)
      assert.ok((yield* store.categories).includes(toolName))
    })
  ),

  rule(
    "undoes a withdrawal with the unit of work",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { atomically } = yield* UnitOfWork
      const provider = yield* aProvider()
      const { id } = yield* upserted(yield* aTool(provider))
      const before = yield* store.count
      const unit = Effect.gen(function* () {
        yield* store.withdraw(provider.id, id, instant("2026-11-22T00:00:00.000Z"))
        assert.equal(yield* store.count, before - 1)
        return yield* Effect.fail("no")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "no")
      assert.equal(Option.getOrThrow(yield* store.find(id)).tool.withdrawnAt, undefined)
      assert.equal(yield* store.count, before)
    })
  )
]
