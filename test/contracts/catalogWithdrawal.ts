import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { type CatalogFilter, CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { ToolId } from "../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { Ports } from "./ports.ts"
import { aProvider, aTool, instant } from "./samples.ts"

export const catalogWithdrawalContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`CatalogStore withdraws over ${name}`, (it) => {
    it.effect(
      "takes a withdrawn tool off every list, keeps it under its id, and lists it again when it is put in",
      () =>
        Effect.gen(function* () {
          const store = yield* CatalogStore
          const provider = yield* aProvider()
          const toolName = `gone-${yield* (yield* Entropy).hex(8)}`
          const [leaving, staying] = [
            yield* aTool(provider, { toolName, category: toolName }),
            yield* aTool(provider, { toolName: `${toolName}-stays`, category: "" })
          ]
          for (const tool of [leaving, staying]) yield* store.upsert(tool)
          const before = yield* store.count
          const entry = Option.getOrThrow(yield* store.find(leaving.id))
          const [first, second] = [instant("2026-11-22T00:00:00.000Z"), instant("2026-11-23T00:00:00.000Z")]
          const stranger = yield* aProvider()
          assert.deepStrictEqual(yield* store.withdraw(stranger.id, leaving.id, first), Option.none())
          assert.deepStrictEqual(yield* store.find(leaving.id), Option.some(entry))
          const unknown = ToolId.make(yield* (yield* Entropy).uuid)
          assert.deepStrictEqual(yield* store.withdraw(provider.id, unknown, first), Option.none())

          const page = { limit: 10, offset: 0, after: undefined }
          const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
          const names = (filter: Partial<CatalogFilter>) =>
            Effect.map(store.search({ ...ofProvider, ...filter }, "name", page), ({ items, total }) => {
              assert.lengthOf(items, total)
              return items.map(({ tool }) => tool.toolName)
            })
          for (const at of [first, second]) {
            assert.deepStrictEqual(yield* store.withdraw(provider.id, leaving.id, at), Option.some(first))
          }
          const withdrawn = { ...entry, tool: { ...entry.tool, withdrawnAt: first } }
          assert.deepStrictEqual(yield* store.find(leaving.id), Option.some(withdrawn))
          assert.deepStrictEqual(yield* store.findOf(provider.id, toolName), Option.some(withdrawn))
          assert.deepStrictEqual(yield* store.findByName(toolName, 5), [withdrawn])
          assert.strictEqual(yield* store.count, before - 1)
          assert.strictEqual(yield* store.countOf(provider.id), 2)
          assert.notInclude(yield* store.categories, toolName)
          assert.deepStrictEqual(yield* names({}), [staying.declaration.toolName])
          assert.deepStrictEqual(yield* names({ category: toolName }), [])
          assert.deepStrictEqual(yield* names({ tokens: [toolName.slice(0, 4)] }), [staying.declaration.toolName])
          assert.deepStrictEqual(yield* names({ state: "withdrawn" }), [toolName])
          assert.deepStrictEqual(yield* names({ state: "any" }), [toolName, staying.declaration.toolName])

          const rival = yield* aTool(stranger, { toolName })
          yield* store.upsert(rival)
          assert.deepStrictEqual(
            (yield* store.findByName(toolName, 5)).map(({ tool }) => tool.id),
            [rival.id]
          )

          const again = yield* store.upsert(yield* aTool(provider, { toolName, category: toolName }))
          assert.deepStrictEqual([again.id, again.action, again.priceVersion], [leaving.id, "updated", 1])
          assert.deepStrictEqual(Option.getOrThrow(yield* store.find(leaving.id)).tool.withdrawnAt, undefined)
          assert.deepStrictEqual(yield* names({}), [toolName, staying.declaration.toolName])
          assert.strictEqual(yield* store.count, before + 1)
          assert.include(yield* store.categories, toolName)
        })
    )

    it.effect("undoes a withdrawal with the unit of work", () =>
      Effect.gen(function* () {
        const store = yield* CatalogStore
        const { atomically } = yield* UnitOfWork
        const provider = yield* aProvider()
        const { id } = yield* store.upsert(yield* aTool(provider))
        const before = yield* store.count
        const unit = Effect.gen(function* () {
          yield* store.withdraw(provider.id, id, instant("2026-11-22T00:00:00.000Z"))
          assert.strictEqual(yield* store.count, before - 1)
          return yield* Effect.fail("no")
        })
        assert.strictEqual(yield* Effect.flip(atomically(unit)), "no")
        assert.isUndefined(Option.getOrThrow(yield* store.find(id)).tool.withdrawnAt)
        assert.strictEqual(yield* store.count, before)
      })
    )
  })
