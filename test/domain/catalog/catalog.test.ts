import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Queue } from "effect"
import { TestClock } from "effect/testing"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { TOOLS_PER_PROVIDER_MAX } from "../../../domain/catalog/ToolUpserts.ts"
import { type Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { fromCents, Microcents } from "../../../domain/shared/Microcents.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { listenTo } from "../../../testing/contracts/shared/ChangeFeedContract.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration, aProvider } from "../../contracts/samples.ts"

const FIRST_PAGE = { limit: 50, offset: 0, after: undefined }

it.layer(withServices(memoryPorts), { timeout: "60 seconds" })("Catalog", (it) => {
  it.effect("stores valid tools and returns the faults of the others", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const provider = yield* aProvider()
      const { rejected: refused, stored } = yield* catalog.upsert(provider.id, [
        aDeclaration({ toolName: "fine" }),
        aDeclaration({ toolName: "twice", price: fromCents(1) }),
        aDeclaration({ toolName: "bad input", inputSchema: { type: 5 } }),
        aDeclaration({ toolName: "bad output", outputSchema: { $ref: "https://example.com/other" } }),
        aDeclaration({ toolName: "twice", price: fromCents(2) }),
        aDeclaration({ toolName: "no output", billingPolicy: "valid_output" }),
        aDeclaration({ toolName: "fine too", outputSchema: {}, billingPolicy: "valid_output" })
      ])
      assert.deepStrictEqual(
        stored.map(({ action, priceVersion, toolName }) => [toolName, action, priceVersion]),
        [
          ["fine", "created", 1],
          ["fine too", "created", 1]
        ]
      )
      assert.deepStrictEqual(
        refused.map(({ index, tool_name }) => [index, tool_name]),
        [
          [1, "twice"],
          [2, "bad input"],
          [3, "bad output"],
          [4, "twice"],
          [5, "no output"]
        ]
      )
      const [, badInput, badOutput, , noOutput] = refused.map(({ error }) => error)
      assert.match(badInput!, /^input_schema is not a valid JSON Schema: /u)
      assert.match(badOutput!, /^output_schema .*not inside the schema/u)
      assert.match(noOutput!, /requires an output_schema/u)
      const listed = yield* catalog.search({
        q: undefined,
        category: undefined,
        providerId: provider.id,
        sort: "name",
        page: FIRST_PAGE
      })
      assert.deepStrictEqual(
        listed.items.map(({ tool }) => tool.toolName),
        ["fine", "fine too"]
      )
    })
  )

  it.effect("does not reject a tool because its store is unavailable", () =>
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const away = Effect.suspend(() => new StoreUnavailable({ reason: "unreachable", cause: "cut" }))
      const catalog = yield* Effect.map(
        Layer.build(
          Layer.fresh(Catalog.layer).pipe(Layer.provide(Layer.succeed(CatalogStore, { ...store, upsert: () => away })))
        ),
        Context.get(Catalog)
      )
      const provider = yield* aProvider()
      const error = yield* Effect.flip(catalog.upsert(provider.id, [aDeclaration()]))
      assert.strictEqual(error._tag, "StoreUnavailable")
    })
  )

  it.effect("keeps the old price for receipts when it changes, to the microcent", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const provider = yield* aProvider({ defaultPrice: fromCents(3) })
      const put = (price: Microcents | null) =>
        Effect.map(catalog.upsert(provider.id, [{ ...aDeclaration(), price }]), ({ stored }) => stored[0]!)
      const { id } = yield* put(null)
      for (const [price, version] of [
        [Microcents.make(100n), 2],
        [Microcents.make(100n), 2],
        [null, 3],
        [fromCents(3), 3]
      ] as const) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* put(price)).priceVersion, version)
      }
      const prices = (yield* catalog.prices(id)).map(({ price, version }) => [version, price])
      assert.deepStrictEqual(prices, [
        [3, fromCents(3)],
        [2, Microcents.make(100n)],
        [1, fromCents(3)]
      ])
      assert.strictEqual(Option.getOrThrow(yield* catalog.find(id)).price, fromCents(3))
    })
  )

  it.effect("tells every node which tools have changed", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const provider = yield* aProvider()
      const heard = yield* listenTo(yield* ChangeFeed)
      const { stored } = yield* catalog.upsert(provider.id, [
        aDeclaration({ toolName: "a" }),
        aDeclaration({ toolName: "bad", inputSchema: { type: 5 } }),
        aDeclaration({ toolName: "b" })
      ])
      const changes = stored.map(({ id }): Change => ({ topic: "catalog", id }))
      assert.deepStrictEqual<ReadonlyArray<Change>>(yield* Queue.takeAll(heard), changes)
    })
  )

  it.effect("finds tools by prefixes of words in their texts and their provider's name", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const word = `k${yield* (yield* Entropy).hex(8)}`
      const provider = yield* aProvider({ name: `Café ${word}` })
      yield* catalog.upsert(provider.id, [
        aDeclaration({ toolName: "get_weather", description: "Rain, snow & sun" }),
        aDeclaration({ toolName: "translate", description: "Any language" })
      ])
      const found = Effect.fnUntraced(function* (q: string) {
        const query = { q, category: undefined, providerId: undefined, sort: "name", page: FIRST_PAGE } as const
        return (yield* catalog.search(query)).items.map(({ tool }) => tool.toolName)
      })
      assert.deepStrictEqual(yield* found(word), ["get_weather", "translate"])
      assert.deepStrictEqual(yield* found(`${word} CAFE sno`), ["get_weather"])
      assert.deepStrictEqual(yield* found(`${word.slice(0, -1)} lang`), ["translate"])
      assert.deepStrictEqual(yield* found(`${word} ain`), [])
    })
  )

  it.effect("counts and lists its tools", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const before = yield* catalog.count
      const toolName = `t${yield* (yield* Entropy).hex(8)}`
      const [one, other] = [yield* aProvider(), yield* aProvider()]
      yield* catalog.upsert(one.id, [aDeclaration({ toolName, category: toolName })])
      yield* catalog.upsert(other.id, [aDeclaration({ toolName, category: toolName })])
      assert.strictEqual(yield* catalog.count, before + 2)
      assert.lengthOf(
        (yield* catalog.categories).filter((category) => category === toolName),
        1
      )
      const candidates = yield* catalog.findByName(toolName)
      assert.deepStrictEqual(
        candidates.map(({ provider }) => provider.id),
        [one.id, other.id]
      )
    })
  )

  it.effect("accepts an empty list", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      assert.deepStrictEqual(yield* (yield* Catalog).upsert(provider.id, []), { stored: [], rejected: [] })
    })
  )
})

for (const [name, ports] of everyStore) {
  it.layer(withServices(ports), { timeout: "60 seconds" })(`Catalog over ${name}`, (it) => {
    it.effect(
      "limits the tools of one provider, also under concurrent requests",
      () =>
        Effect.gen(function* () {
          const catalog = yield* Catalog
          const provider = yield* aProvider()
          const batch = (n: number) =>
            Array.from({ length: 50 }, (_, i) =>
              aDeclaration({ toolName: `tool ${n} ${i}`, description: "", category: "" })
            )
          for (let n = 0; n < TOOLS_PER_PROVIDER_MAX / 50 - 1; n++) yield* catalog.upsert(provider.id, batch(n))
          const results = yield* Effect.forEach([100, 101, 102], (n) => catalog.upsert(provider.id, batch(n)), {
            concurrency: "unbounded"
          })
          assert.strictEqual(
            results.reduce((sum, { stored }) => sum + stored.length, 0),
            50
          )
          const rejected = results.flatMap((result) => result.rejected)
          assert.lengthOf(rejected, 100)
          assert.match(rejected[0]!.error, /at most 1000 tools/u)
          const known = yield* catalog.upsert(provider.id, batch(0).slice(0, 2))
          assert.deepStrictEqual(
            known.stored.map(({ action }) => action),
            ["updated", "updated"]
          )
        }),
      180_000
    )
  })
}
