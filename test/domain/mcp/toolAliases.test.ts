/**
 * Aliases of tools at the market door: their form, and that an alias never changes its tool.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ToolName } from "../../../domain/catalog/Tool.ts"
import {
  ALIAS_CHARS_MAX,
  aliasCandidates,
  isAlias,
  ToolAliases,
  ToolAliasStore
} from "../../../domain/mcp/ToolAliases.ts"
import { Handles } from "../../../domain/providers/Handles.ts"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import type { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration, aProvider } from "../../contracts/samples.ts"
import { LIVE } from "../../support/servers/PostgresTest.ts"

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex")
const candidates = (handle: string, toolName: string) => aliasCandidates(handle, toolName, sha256Hex)

describe("an alias", () => {
  it("is the handle and the tool's name where they fit", () => {
    assert.strictEqual(candidates("ada-tools", "search")[0], "ada-tools__search")
    assert.strictEqual(candidates("ada-tools", "maps/route.v2")[0], "ada-tools__maps_route_v2")
    assert.strictEqual(candidates("a".repeat(32), "b".repeat(6))[0], `${"a".repeat(32)}__${"b".repeat(6)}`)
  })

  it("is cut, and ends in 10 base36 characters of a hash, where it is longer", () => {
    const [first] = candidates("ada-tools", "search_in_everything_that_was_ever_published")
    assert.match(first!, /^ada-tools__search_in_everythi_[0-9a-z]{10}$/u)
    assert.strictEqual(first!.length, ALIAS_CHARS_MAX)
  })

  it("does not have the form of another provider's alias where it is cut within the handle", () => {
    const aliases = [28, 29, 30, 31, 32].flatMap((chars) => candidates("h".repeat(chars), "a_long_name_of_a_tool"))
    assert.deepStrictEqual(
      aliases.filter((alias) => alias.includes("__")),
      []
    )
  })

  it.prop(
    "has the form that every client accepts, and is the same again",
    { handle: Handle, toolName: ToolName },
    ({ handle, toolName }) => {
      const all = candidates(handle, toolName)
      assert.isAtLeast(all.length, 4)
      assert.strictEqual(new Set(all).size, all.length)
      for (const alias of all) assert.isTrue(isAlias(alias), alias)
      assert.deepStrictEqual(candidates(handle, toolName), all)
    }
  )
})

const PARTS = ["a", "b", "_", ".", "/", "-", "long_name_"] as const
/** Names that often collide once their characters are replaced or they are cut. */
const ToolNames = Schema.Array(
  Schema.Array(Schema.Literals(PARTS)).check(Schema.isMinLength(1), Schema.isMaxLength(6))
).check(Schema.isMinLength(1), Schema.isMaxLength(12))

const putTools = Effect.fnUntraced(function* (providerId: ProviderId, names: ReadonlyArray<string>) {
  const catalog = yield* Catalog
  const { stored } = yield* catalog.upsert(
    providerId,
    names.map((toolName) => aDeclaration({ toolName }))
  )
  return stored.map(({ id }) => id)
})

const entryOf = (id: ToolId) =>
  Effect.flatMap(
    Effect.flatMap(Catalog, ({ find }) => find(id)),
    Effect.fromOption
  )

const aliasesOf = Effect.fnUntraced(function* (ids: ReadonlyArray<ToolId>) {
  const entries = yield* Effect.forEach(ids, entryOf)
  const found = yield* (yield* ToolAliases).ofTools(entries)
  return ids.map((id) => found.get(id))
})

/** Another node: its cache is empty. */
const another = Layer.fresh(ToolAliases.layer)

const services = ToolAliases.layer.pipe(Layer.provideMerge(withServices(memoryPorts)))

it.layer(services, LIVE)("ToolAliases", (it) => {
  it.effect.prop(
    "gives each tool its own alias, on every node the same",
    { toolNames: ToolNames },
    ({ toolNames }) =>
      Effect.gen(function* () {
        const names = [...new Set(toolNames.map((parts) => parts.join("")))]
        const provider = yield* aProvider()
        const ids = yield* putTools(provider.id, names)
        const given = yield* aliasesOf(ids)
        for (const alias of given) assert.isTrue(alias !== undefined && isAlias(alias), alias)
        assert.strictEqual(new Set(given).size, ids.length)
        assert.deepStrictEqual(yield* aliasesOf(ids.toReversed()), given.toReversed())
        assert.deepStrictEqual(yield* Effect.provide(aliasesOf(ids), another), given)
        for (const aliases of [yield* ToolAliases, yield* Effect.provide(ToolAliases, another)]) {
          for (const [n, id] of ids.entries()) assert.strictEqual(yield* aliases.toolOf(given[n]!), id)
        }
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("keeps the alias when the handle changes, and gives it to no other tool", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const handles = yield* Handles
      const victim = yield* aProvider()
      const [tool] = yield* putTools(victim.id, ["search"])
      const [alias] = yield* aliasesOf([tool!])
      assert.strictEqual(alias, `${victim.handle}__search`)

      const handle = `moved-${victim.handle.slice(-12)}`
      yield* handles.reassign({ providerId: victim.id, handle, retirePrevious: true })
      assert.deepStrictEqual(yield* Effect.provide(aliasesOf([tool!]), another), [alias])

      // The tool is withdrawn, and another one gets the name that the alias was made of.
      yield* catalog.withdraw(victim.id, tool!)
      yield* handles.reassign({ providerId: victim.id, handle: victim.handle, retirePrevious: false })
      const thief = yield* aProvider()
      const [stolen] = yield* putTools(thief.id, ["search"])
      const entry = yield* entryOf(stolen!)
      const posing = { ...entry, provider: { ...entry.provider, handle: victim.handle } }
      const aliases = yield* Effect.provide(ToolAliases, another)
      const given = (yield* aliases.ofTools([posing])).get(stolen!)
      assert.notStrictEqual(given, alias)
      assert.strictEqual(yield* aliases.toolOf(alias!), tool)
      assert.strictEqual(yield* aliases.toolOf(given!), stolen)
    })
  )

  it.effect("does not resolve the alias of an erased provider, also where it was cached", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const [tool] = yield* putTools(provider.id, ["search"])
      const [alias] = yield* aliasesOf([tool!])
      const aliases = yield* ToolAliases
      yield* (yield* ToolAliasStore).erase(provider.id)
      yield* (yield* ChangeFeed).publish({ topic: "everything", id: "" })
      while ((yield* aliases.toolOf(alias!)) !== undefined) yield* Effect.sleep("10 millis")
      assert.deepStrictEqual(yield* aliasesOf([tool!]), [undefined])
    })
  )

  it.effect("resolves no text that is not an alias", () =>
    Effect.gen(function* () {
      const aliases = yield* ToolAliases
      for (const text of ["", "a b", "ä__b", "x".repeat(41), "unknown__tool", "__proto__"]) {
        assert.isUndefined(yield* aliases.toolOf(text))
      }
    })
  )
})

for (const [name, ports] of everyStore) {
  const services = ToolAliases.layer.pipe(Layer.provideMerge(withServices(ports)))
  it.layer(services, LIVE)(`ToolAliases over ${name}`, (it) => {
    it.effect("gives a tool one alias where nodes list it at the same time", () =>
      Effect.gen(function* () {
        const provider = yield* aProvider()
        const ids = yield* putTools(provider.id, ["a.b", "a/b", "a_b"])
        const nodes = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.provide(aliasesOf(ids), another), {
          concurrency: "unbounded"
        })
        for (const given of nodes) assert.deepStrictEqual(given, nodes[0])
        assert.strictEqual(new Set(nodes[0]).size, 3)
      })
    )
  })
}
