/**
 * Tools as a CatalogStore keeps them.
 */
import { DateTime, Effect, Exit, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { termsOf } from "../../../domain/catalog/Terms.ts"
import { NO_OWN_FEE } from "../../../domain/ledger/PlatformFee.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aTool, putTool, toolOf, upserted } from "../shared/ToolSamples.ts"

const price = Microcents.make

export const toolsOfCatalog: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "returns every field of a stored tool, including omitted ones",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider({ name: "Weather", pricingModel: "per_token" })
      const bare = yield* aTool(provider, { toolName: "bare", category: "" })
      const full = yield* aTool(
        provider,
        {
          toolName: "full",
          displayName: "Alles 🌦",
          description: "多".repeat(5_000),
          price: price(MICROCENTS_MAX),
          freeTierCalls: 0,
          inputSchema: { type: "object", properties: { z: { const: "\0 and \ud800" }, a: { minimum: -1.5e300 } } },
          outputSchema: {},
          billingPolicy: "valid_output",
          maxCost: price(0n),
          timeoutMs: 1,
          idempotent: true
        },
        { price: price(MICROCENTS_MAX), freeTierCalls: 0, at: instant("2026-11-20T10:11:12.999Z") }
      )
      for (const tool of [bare, full]) {
        assert.deepEqual(yield* upserted(tool), {
          id: tool.id,
          toolName: tool.declaration.toolName,
          action: "created",
          priceVersion: 1
        })
        const { endpointUrl, handle, id, name, pricingModel } = provider
        const found = Option.getOrThrow(yield* store.find(tool.id))
        assert.deepEqual(found, {
          tool: toolOf(tool.declaration, {
            id: tool.id,
            providerId: provider.id,
            createdAt: tool.at,
            updatedAt: tool.at,
            withdrawnAt: undefined
          }),
          ...termsOf(tool.prices.inEffect),
          priceVersion: 1,
          prices: tool.prices,
          provider: { id, handle, name, endpointUrl, pricingModel, frozen: undefined, fee: NO_OWN_FEE }
        })
      }
      const schema = Option.getOrThrow(yield* store.find(full.id)).tool.inputSchema
      assert.equal(JSON.stringify(schema), JSON.stringify(full.declaration.inputSchema))
    })
  ),

  rule(
    "stores new tools, known ones and drafts together, each with its own fields and prices",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const soon = instant("2026-11-22T00:00:00.000Z")
      const known = yield* aTool(provider, { toolName: "known", inputSchema: { type: "object" } }, { price: price(5n) })
      yield* upserted(known)
      const { inEffect } = known.prices
      const upcoming = { ...inEffect, version: 2, price: price(9n), maximum: price(9n), effectiveFrom: soon }
      const changed = yield* aTool(
        provider,
        { toolName: "known", description: "changed" },
        { prices: { inEffect, upcoming, lastVersion: 2 }, searchTokens: ["known", "changed"] }
      )
      const fresh = yield* aTool(provider, { toolName: "fresh", outputSchema: { a: "\0" } }, { price: price(7n) })
      const draft = yield* aTool(provider, { toolName: "draft", timeoutMs: 9 }, { draft: true, searchTokens: [] })
      assert.deepEqual(
        (yield* store.upsert([draft, changed, fresh])).map(({ action, id, priceVersion, toolName }) => [
          id,
          toolName,
          action,
          priceVersion
        ]),
        [
          [draft.id, "draft", "created", 1],
          [known.id, "known", "updated", 1],
          [fresh.id, "fresh", "created", 1]
        ]
      )
      const found = yield* store.findAllOf(provider.id, ["fresh", "known", "draft", "fresh", "missing", "\0", "\ud800"])
      const byName = new Map(found.map((entry) => [entry.tool.toolName, entry]))
      assert.equal(found.length, 3)
      for (const name of ["known", "fresh", "draft"]) {
        assert.deepEqual(Option.some(byName.get(name)), yield* store.findOf(provider.id, name))
      }
      assert.partialDeepStrictEqual(byName.get("known"), {
        price: 5n,
        prices: { upcoming, lastVersion: 2 },
        tool: { description: "changed", inputSchema: undefined }
      })
      assert.partialDeepStrictEqual(byName.get("draft")!.tool, { draft: true, timeoutMs: 9, withdrawnAt: draft.at })
      assert.deepEqual(byName.get("fresh")!.tool.outputSchema, { a: "\0" })
      const historyOf = (id: ToolId) =>
        Effect.map(store.prices(id, 10), (all) => all.map((one) => [one.version, one.price]))
      assert.deepEqual(yield* historyOf(known.id), [
        [2, 9n],
        [1, 5n]
      ])
      assert.deepEqual(yield* historyOf(fresh.id), [[1, 7n]])
      assert.deepEqual(yield* historyOf(draft.id), [])
      const filter = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: ["changed"] }
      const page = { limit: 10, offset: 0, after: undefined }
      assert.equal((yield* store.search(filter, "name", page)).total, 1)
      assert.deepEqual(yield* store.upsert([]), [])
      assert.deepEqual(yield* store.findAllOf((yield* aProvider()).id, ["fresh"]), [])
    })
  ),

  rule(
    "updates the tool of the same provider and name, with its ID and creation time",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const first = yield* aTool(provider, { description: "before", idempotent: true, timeoutMs: 5 })
      const second = yield* aTool(provider, { description: "after" }, { at: instant("2026-11-21T00:00:00.000Z") })
      yield* upserted(first)
      assert.deepEqual(yield* upserted(second), {
        id: first.id,
        toolName: "forecast",
        action: "updated",
        priceVersion: 1
      })
      const { tool } = Option.getOrThrow(yield* store.find(first.id))
      assert.deepEqual(
        tool,
        toolOf(second.declaration, {
          id: first.id,
          providerId: provider.id,
          createdAt: first.at,
          updatedAt: second.at,
          withdrawnAt: undefined
        })
      )
      assert.deepEqual(yield* store.find(second.id), Option.none())
    })
  ),

  rule(
    "finds the tools of a name, of all providers, oldest first",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const toolName = `translate-${yield* (yield* Entropy).hex(8)}`
      const tools = []
      for (let n = 0; n < 4; n++) {
        const provider = yield* aProvider()
        const tool = yield* aTool(provider, { toolName })
        tools.push(tool)
        yield* upserted(yield* aTool(provider, { toolName: `${toolName}-other` }))
      }
      for (const tool of tools.toReversed()) yield* upserted(tool)
      const idsOf = (found: ReadonlyArray<{ readonly tool: { readonly id: ToolId } }>) =>
        found.map(({ tool }) => tool.id)
      const ids = tools.map((tool) => tool.id)
      assert.deepEqual(idsOf(yield* store.findByName(toolName, 10)), ids)
      assert.deepEqual(idsOf(yield* store.findByName(toolName, 3)), ids.slice(0, 3))
      for (const tool of tools) {
        const found = yield* store.findOf(tool.providerId, toolName)
        assert.deepEqual(
          Option.map(found, ({ tool: { id } }) => id),
          Option.some(tool.id)
        )
      }
      for (const stranger of ["no such tool", "", `${toolName}\0`, "\ud800"]) {
        assert.deepEqual(yield* store.findByName(stranger, 3), [])
        assert.deepEqual(yield* store.findOf(tools[0]!.providerId, stranger), Option.none())
      }
    })
  ),

  rule(
    "finds a limited number of listed names before and after a name, in order",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const [one, two] = [yield* aProvider(), yield* aProvider()]
      const prefix = `near.${one.id}`
      const near = (name: string, limit: number, providerId = one.id) =>
        store
          .similarNames(`${prefix}.${name}`, providerId, limit)
          .pipe(Effect.map((names) => names.map((found) => found.slice(prefix.length + 1))))
      for (const name of ["a", "b", "d", "e"]) yield* upserted(yield* aTool(one, { toolName: `${prefix}.${name}` }))
      const gone = yield* aTool(one, { toolName: `${prefix}.c` })
      yield* upserted(gone)
      yield* store.withdraw(one.id, gone.id, yield* DateTime.now)
      for (const name of ["b", "f"]) yield* upserted(yield* aTool(two, { toolName: `${prefix}.${name}` }))
      assert.deepEqual(yield* near("c", 10), ["a", "b", "d", "e"])
      assert.deepEqual(yield* near("c", 1), ["b", "d"])
      assert.deepEqual(yield* near("d", 1), ["b", "d"])
      assert.deepEqual(yield* near("c", 10, two.id), ["b", "f"])
      const ofAll = yield* store.similarNames(`${prefix}.c`, undefined, 4)
      for (const name of ["a", "b", "d", "e", "f"]) assert.ok(ofAll.includes(`${prefix}.${name}`), name)
      assert.equal(new Set(ofAll).size, ofAll.length)
      for (const stranger of ["", "\0", "\ud800"])
        assert.ok(Array.isArray(yield* store.similarNames(stranger, undefined, 3)))
    })
  ),

  rule(
    "counts the tools of a provider and of all",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const before = yield* store.count
      const provider = yield* aProvider()
      assert.equal(yield* store.countOf(provider.id), 0)
      for (const toolName of ["a", "b", "c", "a"]) yield* upserted(yield* aTool(provider, { toolName }))
      assert.equal(yield* store.countOf(provider.id), 3)
      assert.equal(yield* store.count, before + 3)
    })
  ),

  rule(
    "lists categories once, sorted, without the empty one",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const categories = ["zeta", "", "Alpha", "alpha", "\u{1F30D}", "\uFF21", "zeta", "ärger"]
      for (const [n, category] of categories.entries()) {
        yield* upserted(yield* aTool(provider, { toolName: `tool ${n}`, category }))
      }
      const listed = (yield* store.categories).filter((category) => categories.includes(category))
      assert.deepEqual(listed, ["Alpha", "alpha", "zeta", "ärger", "\uFF21", "\u{1F30D}"])
    })
  ),

  rule(
    "finds no tool and no price by an unknown ID",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const unknown = yield* (yield* Entropy).uuid
      assert.deepEqual(yield* store.find(ToolId.make(unknown)), Option.none())
      assert.deepEqual(yield* store.prices(ToolId.make(unknown), 10), [])
      const anonymousEmail = yield* aTool(yield* aProvider(), {}, { providerId: ProviderId.make(unknown) })
      assert.equal(Exit.isFailure(yield* Effect.exit(upserted(anonymousEmail))), true)
    })
  ),

  rule(
    "undoes tools, prices and counts with the unit of work",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { atomically } = yield* UnitOfWork
      const provider = yield* aProvider()
      const kept = yield* aTool(provider, { toolName: "kept" }, { price: price(1n) })
      yield* upserted(kept)
      const before = yield* store.count
      const entry = yield* store.find(kept.id)
      const dropped = yield* aTool(provider, { toolName: "dropped" })
      const page = { limit: 10, offset: 0, after: undefined }
      const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
      const unit = Effect.gen(function* () {
        yield* upserted(dropped)
        yield* putTool(provider, { toolName: "kept", price: price(2n) }, kept.at)
        assert.equal(yield* store.count, before + 1)
        assert.equal((yield* store.search(ofProvider, "name", page)).total, 2)
        return yield* Effect.fail("no")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "no")
      assert.deepEqual(yield* store.find(kept.id), entry)
      assert.equal((yield* store.prices(kept.id, 10)).length, 1)
      assert.deepEqual(yield* store.find(dropped.id), Option.none())
      assert.deepEqual(yield* store.findByName("dropped", 10), [])
      assert.equal(yield* store.count, before)
      assert.equal((yield* store.search(ofProvider, "name", page)).total, 1)
      assert.equal((yield* upserted(dropped)).action, "created")
    })
  )
]
