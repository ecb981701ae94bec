/**
 * Search in the catalog.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type CatalogFilter, type CatalogSort, CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { tokensOfQuery, tokensOfTool } from "../../../domain/catalog/SearchTokens.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import type { Position } from "../../../domain/shared/Page.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDeclaration, aTool, upserted } from "../shared/ToolSamples.ts"

const SORTS: ReadonlyArray<CatalogSort> = ["name", "price", "price_desc", "newest"]
const EVERYTHING: CatalogFilter = { category: undefined, providerId: undefined, maxPrice: undefined, tokens: [] }
const FIRST_TEN = { limit: 10, offset: 0, after: undefined }

/** A provider with tools of these names and prices; filtered by the provider, they are a small catalog. */
const aCatalogue = Effect.fnUntraced(function* (tools: ReadonlyArray<readonly [toolName: string, price: bigint]>) {
  const provider = yield* aProvider()
  for (const [toolName, price] of tools) {
    yield* upserted(yield* aTool(provider, { toolName }, { price: Microcents.make(price) }))
  }
  const filter: CatalogFilter = { ...EVERYTHING, providerId: provider.id }
  return { provider, filter }
})

/** All pages of `limit` items, by cursor. */
const walk = Effect.fnUntraced(function* (filter: CatalogFilter, sort: CatalogSort, limit: number) {
  const store = yield* CatalogStore
  const names: Array<string> = []
  let after: Position | undefined
  for (let pages = 0; pages < 100; pages++) {
    const page = yield* store.search(filter, sort, { limit, offset: 0, after })
    assert.ok(page.items.length <= limit)
    names.push(...page.items.map(({ tool }) => tool.toolName))
    if (page.next === undefined) return names
    after = page.next
  }
  return assert.fail("the pages do not end")
})

export const searchOfCatalog: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "sorts by name, by price in both directions and by age; ties by age",
    Effect.gen(function* () {
      const { filter } = yield* aCatalogue([
        ["delta", 5n],
        ["alpha", 10n],
        ["echo", 9_007_199_254_740_991n],
        ["bravo", 5n],
        ["charlie", 0n]
      ])
      const namesBy = Effect.fnUntraced(function* (sort: CatalogSort) {
        const page = yield* (yield* CatalogStore).search(filter, sort, FIRST_TEN)
        assert.equal(page.total, 5)
        assert.equal(page.next, undefined)
        return page.items.map(({ tool }) => tool.toolName)
      })
      assert.deepEqual(yield* namesBy("name"), ["alpha", "bravo", "charlie", "delta", "echo"])
      assert.deepEqual(yield* namesBy("price"), ["charlie", "delta", "bravo", "alpha", "echo"])
      assert.deepEqual(yield* namesBy("price_desc"), ["echo", "alpha", "bravo", "delta", "charlie"])
      assert.deepEqual(yield* namesBy("newest"), ["charlie", "bravo", "echo", "alpha", "delta"])
    })
  ),

  rule(
    "sorts names by code point, in every database and beyond the basic plane",
    Effect.gen(function* () {
      const names = ["\u{1F600}", "\uFF00", "b", "B", "a", "ab", "_", "9", "é", "e"]
      const { filter } = yield* aCatalogue(names.map((name) => [name, 1n]))
      const sorted = ["9", "B", "_", "a", "ab", "b", "e", "é", "\uFF00", "\u{1F600}"]
      assert.deepEqual(yield* walk(filter, "name", 100), sorted)
      assert.deepEqual(yield* walk(filter, "name", 1), sorted)
    })
  ),

  rule(
    "returns the same list by cursor, by offset and in one page",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { filter } = yield* aCatalogue(
        Array.from({ length: 23 }, (_, n) => [`tool ${(n * 7) % 23}`, BigInt(n % 4)])
      )
      for (const sort of SORTS) {
        const whole = yield* walk(filter, sort, 100)
        assert.equal(new Set(whole).size, 23)
        for (const limit of [1, 5, 22, 23]) assert.deepEqual(yield* walk(filter, sort, limit), whole)
        const byOffset = []
        for (let offset = 0; offset < 30; offset += 10) {
          const page = yield* store.search(filter, sort, { limit: 10, offset, after: undefined })
          assert.equal(page.total, 23)
          assert.equal(page.next === undefined, offset === 20)
          byOffset.push(...page.items.map(({ tool }) => tool.toolName))
        }
        assert.deepEqual(byOffset, whole)
        const beyond = yield* store.search(filter, sort, { limit: 10, offset: 1_000, after: undefined })
        assert.deepEqual(beyond, { items: [], total: 23, next: undefined })
      }
    })
  ),

  rule(
    "neither repeats nor skips a tool when tools are added between two pages",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { filter, provider } = yield* aCatalogue(["b", "d", "f", "h"].map((name) => [name, 1n]))
      const first = yield* store.search(filter, "name", { limit: 2, offset: 0, after: undefined })
      for (const toolName of ["a", "e"]) yield* upserted(yield* aTool(provider, { toolName }))
      const second = yield* store.search(filter, "name", { limit: 10, offset: 0, after: first.next })
      assert.deepEqual(
        second.items.map(({ tool }) => tool.toolName),
        ["e", "f", "h"]
      )
      assert.equal(second.total, 6)
    })
  ),

  rule(
    "filters by category, provider and words, alone and combined",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const category = `maps ${yield* (yield* Entropy).hex(6)}`
      const [here, elsewhere] = [yield* aProvider(), yield* aProvider()]
      yield* upserted(yield* aTool(here, { toolName: "route", category, description: "Fastest way" }))
      yield* upserted(yield* aTool(here, { toolName: "geocode", category, description: "Where it is" }))
      yield* upserted(yield* aTool(here, { toolName: "way", category: "other", description: "fast" }))
      yield* upserted(yield* aTool(elsewhere, { toolName: "route", category, description: "Fastest way" }))
      const found = Effect.fnUntraced(function* (filter: Partial<CatalogFilter>, q = "") {
        const whole = { ...EVERYTHING, tokens: tokensOfQuery(q), ...filter }
        const { items, total } = yield* store.search(whole, "newest", FIRST_TEN)
        assert.equal(items.length, total)
        return items.map(({ provider, tool }) => `${provider.id === here.id ? "here" : "there"} ${tool.toolName}`)
      })
      assert.deepEqual(yield* found({ category }), ["there route", "here geocode", "here route"])
      assert.deepEqual(yield* found({ providerId: here.id }), ["here way", "here geocode", "here route"])
      assert.deepEqual(yield* found({ category, providerId: here.id }), ["here geocode", "here route"])
      assert.deepEqual(yield* found({ providerId: here.id }, "way fast"), ["here way", "here route"])
      assert.deepEqual(yield* found({ category }, "FASTEST w"), ["there route", "here route"])
      assert.deepEqual(yield* found({ category, providerId: elsewhere.id }, "way"), ["there route"])
      assert.deepEqual(yield* found({ category }, "fastest nothing"), [])
      assert.deepEqual(yield* found({ category: category.toUpperCase() }), [])
    })
  ),

  rule(
    "excludes tools above the maximum price from every order, page and total",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { filter, provider } = yield* aCatalogue([
        ["dear", 501n],
        ["free", 0n],
        ["at it", 500n],
        ["below", 499n],
        ["dearest", 9_007_199_254_740_991n]
      ])
      const upTo = (price: bigint) => ({ ...filter, maxPrice: Microcents.make(price) })
      assert.deepEqual(yield* walk(upTo(500n), "name", 1), ["at it", "below", "free"])
      assert.deepEqual(yield* walk(upTo(500n), "price", 2), ["free", "below", "at it"])
      assert.deepEqual(yield* walk(upTo(500n), "price_desc", 1), ["at it", "below", "free"])
      assert.deepEqual(yield* walk(upTo(500n), "newest", 2), ["below", "at it", "free"])
      assert.deepEqual(yield* walk(upTo(0n), "name", 10), ["free"])
      assert.equal((yield* walk(upTo(9_007_199_254_740_991n), "name", 10)).length, 5)
      const totalUpTo = (price: bigint) =>
        Effect.map(store.search(upTo(price), "name", { limit: 1, offset: 0, after: undefined }), ({ total }) => total)
      assert.deepEqual([yield* totalUpTo(500n), yield* totalUpTo(499n), yield* totalUpTo(501n)], [3, 2, 4])
      // A price change adds and removes the tool.
      yield* upserted(yield* aTool(provider, { toolName: "below" }, { price: Microcents.make(600n) }))
      assert.deepEqual(yield* walk(upTo(500n), "name", 10), ["at it", "free"])
      assert.equal(yield* totalUpTo(500n), 2)
      const category = `c ${yield* (yield* Entropy).hex(6)}`
      yield* upserted(yield* aTool(provider, { toolName: "free", category }, { price: Microcents.make(0n) }))
      assert.deepEqual(yield* walk({ ...upTo(500n), category }, "name", 10), ["free"])
    })
  ),

  rule(
    "finds nothing by impossible words, categories and cursors",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { filter, provider } = yield* aCatalogue([["one", 1n]])
      const tokens = ["'", "\\", "':*", "' | 'o", "a & b", "!", "<->", "^", "^o", ":*", "\\'"]
      for (const token of tokens) {
        const page = yield* store.search({ ...filter, tokens: [token] }, "name", FIRST_TEN)
        assert.deepEqual(page, { items: [], total: 0, next: undefined })
      }
      for (const category of ["\0", "\ud800", "x".repeat(10_000)]) {
        const page = yield* store.search({ ...filter, category }, "name", FIRST_TEN)
        assert.deepEqual(page, { items: [], total: 0, next: undefined })
      }
      const places: ReadonlyArray<Position> = [
        { key: "", id: "" },
        { key: "one", id: "no uuid" },
        { key: "\0", id: provider.id },
        { key: "\ud800", id: provider.id },
        { key: "x".repeat(5_000), id: provider.id }
      ]
      const noPrices: ReadonlyArray<Position> = [
        { key: "-1", id: provider.id },
        { key: "99999999999999999999999", id: provider.id }
      ]
      for (const sort of SORTS) {
        for (const after of sort === "name" ? places : [...places, ...noPrices]) {
          const page = yield* store.search(filter, sort, { limit: 10, offset: 0, after })
          assert.deepEqual(page, { items: [], total: 1, next: undefined })
        }
      }
    })
  ),

  rule(
    "returns the right total immediately after each change, for repeated searches too",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const word = `w${yield* (yield* Entropy).hex(6)}`
      const page = { limit: 10, offset: 0, after: undefined }
      const totalOf = (token: string) =>
        Effect.map(store.search({ ...EVERYTHING, tokens: [token] }, "name", page), ({ total }) => total)
      const put = Effect.fnUntraced(function* (toolName: string, description: string) {
        const declaration = aDeclaration({ toolName, description })
        yield* upserted(yield* aTool(provider, declaration, { searchTokens: tokensOfTool(declaration, provider.name) }))
      })
      assert.equal(yield* totalOf(word), 0)
      yield* put("one", word)
      assert.equal(yield* totalOf(word), 1)
      yield* put("two", word)
      assert.equal(yield* totalOf(word), 2)
      yield* put("one", "something else")
      assert.equal(yield* totalOf(word), 1)
    })
  ),

  rule(
    "remembers no total from a unit of work that is undone",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const { atomically } = yield* UnitOfWork
      const provider = yield* aProvider()
      const word = `w${yield* (yield* Entropy).hex(6)}`
      const put = Effect.fnUntraced(function* (toolName: string, description: string) {
        yield* upserted(yield* aTool(provider, { toolName, description }))
      })
      const total = Effect.map(
        store.search({ ...EVERYTHING, tokens: [word] }, "name", {
          limit: 10,
          offset: 0,
          after: undefined
        }),
        (page) => page.total
      )
      const takenBack = Effect.gen(function* () {
        yield* put("taken back", word)
        assert.equal(yield* total, 1)
        return yield* Effect.fail("no")
      })
      yield* Effect.flip(atomically(takenBack))
      // As many changes as were undone: with a remembered total, the catalog would look unchanged.
      yield* put("kept", "something else")
      assert.equal(yield* total, 0)
    })
  )
]
