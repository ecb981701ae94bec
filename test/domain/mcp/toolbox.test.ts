/**
 * Toolboxes: whose tools are listed, their limit, and when a change of the list is noticed.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { Keys } from "../../../domain/accounts/Keys.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ToolAliases } from "../../../domain/mcp/ToolAliases.ts"
import { recentTools, Toolbox, ToolboxChanges, ToolboxToolsMax } from "../../../domain/mcp/Toolbox.ts"
import { ToolDirectory } from "../../../domain/metering/ToolDirectory.ts"
import { noUsage, type UsageOfToolDay, UsageStore } from "../../../domain/metering/Usage.ts"
import type { ConsumerId, KeyId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aConsumer, aDeclaration, aProvider } from "../../contracts/samples.ts"
import { LIVE } from "../../support/servers/PostgresTest.ts"

const TOOLS_MAX = 3

const used = new Map<string, ReadonlyArray<UsageOfToolDay>>()
const usage = Layer.mock(UsageStore, { byToolAndDay: ({ ownerId }) => Effect.sync(() => used.get(ownerId) ?? []) })

const dayOf = (toolId: ToolId, date: string, calls: number, successes = calls): UsageOfToolDay => ({
  ...noUsage,
  toolId,
  toolName: "any",
  date,
  calls,
  successes
})

const someTools = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const provider = yield* aProvider()
  const catalog = yield* Catalog
  const { stored } = yield* catalog.upsert(
    provider.id,
    names.map((toolName) => aDeclaration({ toolName, price: Microcents.make(100n) }))
  )
  return { provider, ids: stored.map(({ id }) => id) }
})

const byId = (toolId: ToolId) => ({ toolId, toolName: undefined, providerId: undefined })
const account = (consumerId: ConsumerId) => ({ consumerId, keyId: undefined })

const listed = Effect.fnUntraced(function* (consumerId: ConsumerId, keyId?: KeyId) {
  const { source, tools } = yield* (yield* Toolbox).listed(consumerId, keyId)
  return { source, ids: tools.map(({ entry }) => entry.tool.id) }
})

/** Until the change has reached the caches of this node. */
const listedAs = (expected: ReadonlyArray<ToolId>, consumerId: ConsumerId, keyId?: KeyId) =>
  Effect.gen(function* () {
    for (;;) {
      const { ids, source } = yield* listed(consumerId, keyId)
      if (ids.length === expected.length && ids.every((id, n) => id === expected[n])) return source
      yield* Effect.sleep("10 millis")
    }
  })

it("Recent tools are those last used, then those most used, without tools that always failed", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"] as unknown as [ToolId, ToolId, ToolId, ToolId]
  const days = [
    dayOf(a, "2026-11-18", 900),
    dayOf(b, "2026-11-20", 2),
    dayOf(c, "2026-11-20", 5, 0),
    dayOf(c, "2026-11-19", 1),
    dayOf(d, "2026-11-20", 70, 0)
  ]
  assert.deepStrictEqual(recentTools(days, 10), [c, b, a])
  assert.deepStrictEqual(recentTools(days.toReversed(), 10), [c, b, a])
  assert.deepStrictEqual(recentTools(days, 2), [c, b])
  assert.deepStrictEqual(recentTools([], 2), [])
})

const services = ToolboxChanges.layer.pipe(
  Layer.provideMerge(Toolbox.layer),
  Layer.provideMerge(ToolAliases.layer),
  Layer.provideMerge(ToolDirectory.layer),
  Layer.provideMerge(withServices(Layer.merge(memoryPorts, usage), Duration.seconds(2))),
  Layer.provide(Layer.succeed(ToolboxToolsMax, TOOLS_MAX))
)

it.layer(services, LIVE)("Toolbox", (it) => {
  it.effect("lists the tools of the key, else of the account, else the recently used ones", () =>
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const { id: consumerId } = yield* aConsumer()
      const { key } = yield* (yield* Keys).create(
        { role: "consumer", ownerId: consumerId },
        { label: "", expiresAt: undefined }
      )
      const { ids, provider } = yield* someTools("a", "b", "c")
      const [a, b, c] = ids as [ToolId, ToolId, ToolId]
      used.set(consumerId, [dayOf(c, "2026-11-20", 1)])
      assert.deepStrictEqual(yield* listed(consumerId, key.id), { source: "recent", ids: [c] })

      yield* toolbox.add(account(consumerId), [byId(b), byId(a), byId(b)])
      assert.strictEqual(yield* listedAs([b, a], consumerId, key.id), "account")
      yield* toolbox.replace({ consumerId, keyId: key.id }, [byId(c)])
      assert.strictEqual(yield* listedAs([c], consumerId, key.id), "key")
      assert.strictEqual(yield* listedAs([b, a], consumerId), "account")
      const { tools } = yield* toolbox.listed(consumerId, key.id)
      assert.deepStrictEqual(
        tools.map(({ alias }) => alias),
        [`${provider.handle}__c`]
      )

      yield* toolbox.remove({ consumerId, keyId: key.id }, c)
      assert.strictEqual(yield* listedAs([b, a], consumerId, key.id), "account")
      yield* toolbox.replace(account(consumerId), [])
      assert.strictEqual(yield* listedAs([c], consumerId, key.id), "recent")
    })
  )

  it.effect("has a limit, which withdrawn tools do not use up", () =>
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const { id: consumerId } = yield* aConsumer()
      const { ids, provider } = yield* someTools("a", "b", "c", "d", "e")
      const [a, b, c, d, e] = ids as [ToolId, ToolId, ToolId, ToolId, ToolId]
      const scope = account(consumerId)
      yield* toolbox.add(scope, [byId(a), byId(b), byId(c)])
      assert.strictEqual((yield* Effect.flip(toolbox.add(scope, [byId(d)])))._tag, "ToolboxFull")
      assert.strictEqual((yield* Effect.flip(toolbox.replace(scope, [a, b, c, d].map(byId))))._tag, "ToolboxFull")
      assert.strictEqual((yield* toolbox.add(scope, [byId(a)])).length, TOOLS_MAX)
      assert.strictEqual(yield* listedAs([a, b, c], consumerId), "account")

      yield* (yield* Catalog).withdraw(provider.id, b)
      assert.strictEqual(yield* listedAs([a, c], consumerId), "account")
      yield* toolbox.add(scope, [byId(e)])
      assert.strictEqual(yield* listedAs([a, c, e], consumerId), "account")
      assert.strictEqual((yield* Effect.flip(toolbox.remove(scope, d)))._tag, "ToolNotInToolbox")
      assert.strictEqual((yield* Effect.flip(toolbox.add(scope, [byId(b)])))._tag, "ToolWithdrawn")
    })
  )

  it.effect("belongs to the account of the key", () =>
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const [owner, other] = [yield* aConsumer(), yield* aConsumer()]
      const { key } = yield* (yield* Keys).create(
        { role: "consumer", ownerId: owner.id },
        { label: "", expiresAt: undefined }
      )
      const { ids } = yield* someTools("a")
      const theirs = { consumerId: other.id, keyId: key.id }
      assert.strictEqual((yield* Effect.flip(toolbox.add(theirs, [byId(ids[0]!)])))._tag, "KeyNotFound")
      assert.strictEqual((yield* Effect.flip(toolbox.remove(theirs, ids[0]!)))._tag, "KeyNotFound")
      yield* toolbox.add({ consumerId: owner.id, keyId: key.id }, [byId(ids[0]!)])
      assert.deepStrictEqual((yield* listed(other.id, key.id)).ids, [])
    })
  )
})

it.layer(services, { ...LIVE, excludeTestServices: true })("ToolboxChanges", (it) => {
  it.effect("notices changes of the toolbox and of its tools, and prices that take effect", () =>
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const catalog = yield* Catalog
      const { id: consumerId } = yield* aConsumer()
      const { ids, provider } = yield* someTools("a", "b")
      const [a, b] = ids as [ToolId, ToolId]
      const seen: Array<"change"> = []
      const after = <A, E, R>(change: Effect.Effect<A, E, R>, count = 1) =>
        Effect.gen(function* () {
          const expected = seen.length + count
          yield* change
          yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => seen.length >= expected })
        })
      yield* (yield* ToolboxChanges).watch(consumerId, undefined, () => seen.push("change"))
      yield* after(toolbox.add(account(consumerId), [byId(a)]))
      const price = (amount: bigint) => catalog.upsert(provider.id, [{ toolName: "a", price: Microcents.make(amount) }])
      yield* after(price(50n))
      // Announced, and in effect two seconds later.
      yield* after(price(500n), 2)
      const [tool] = (yield* toolbox.listed(consumerId, undefined)).tools
      assert.strictEqual(tool!.entry.price, 500n)

      const before = seen.length
      yield* catalog.upsert(provider.id, [{ toolName: "b", price: Microcents.make(7n) }])
      const other = yield* aConsumer()
      yield* toolbox.add(account(other.id), [byId(b)])
      yield* after(catalog.withdraw(provider.id, a))
      assert.strictEqual(seen.length, before + 1)
    })
  )
})

for (const [name, ports] of everyStore) {
  const services = ToolboxChanges.layer.pipe(
    Layer.provideMerge(Toolbox.layer),
    Layer.provideMerge(ToolAliases.layer),
    Layer.provideMerge(ToolDirectory.layer),
    Layer.provideMerge(withServices(Layer.merge(ports, usage), Duration.seconds(2))),
    Layer.provide(Layer.succeed(ToolboxToolsMax, TOOLS_MAX))
  )
  it.layer(services, LIVE)(`Toolbox over ${name}`, (it) => {
    it.effect("keeps every tool of concurrent additions", () =>
      Effect.gen(function* () {
        const toolbox = yield* Toolbox
        const { id: consumerId } = yield* aConsumer()
        const { ids } = yield* someTools("a", "b", "c")
        yield* Effect.forEach(ids, (id) => toolbox.add(account(consumerId), [byId(id)]), { concurrency: "unbounded" })
        const kept = yield* toolbox.add(account(consumerId), [])
        assert.deepStrictEqual(new Set(kept.map(({ tool }) => tool.id)), new Set(ids))
      })
    )
  })
}
