/**
 * Imports and syncs over the stores, with servers in memory.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { EndpointProbe, unlistedReason } from "../../../domain/catalog/EndpointProbe.ts"
import type { ImportOptions } from "../../../domain/catalog/ImportApplication.ts"
import { ImportStore } from "../../../domain/catalog/ImportStore.ts"
import { ToolImport, ToolSync } from "../../../domain/catalog/ToolImport.ts"
import { ToolDirectory } from "../../../domain/metering/ToolDirectory.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { memoryPorts, withServices } from "../../contracts/ports.ts"
import { aProvider } from "../../contracts/samples.ts"
import { type Definition, FakeServers, fakeServers, tool } from "../../support/servers/FakeServers.ts"

const price = Microcents.make

/** A provider with a server of its own. */
const aServer = Effect.gen(function* () {
  const endpointUrl = `http://${yield* (yield* Entropy).hex(8)}.example/mcp`
  const provider = yield* aProvider({ endpointUrl })
  const servers = yield* FakeServers
  const imports = yield* ToolImport
  const address = { providerId: provider.id, endpointUrl }
  const options: ImportOptions = { defaultPrice: price(500n), overrides: [], listed: true }
  return {
    id: provider.id,
    address,
    lists: (...tools: ReadonlyArray<Definition>) => servers.lists(endpointUrl, tools),
    fails: () => servers.fails(endpointUrl, "Connection refused"),
    apply: (changes: Partial<ImportOptions> = {}) =>
      Effect.flatMap(imports.read(address), (list) => imports.apply(provider.id, list, { ...options, ...changes })),
    preview: (changes: Partial<ImportOptions> = {}) =>
      Effect.flatMap(imports.read(address), (list) => imports.preview(provider.id, list, { ...options, ...changes })),
    tool: (name: string) => toolOf(provider.id, name)
  }
})

const toolOf = Effect.fnUntraced(function* (providerId: ProviderId, name: string) {
  return Option.getOrUndefined(yield* (yield* Catalog).findOf(providerId, name))
})

const namesOf = (tools: ReadonlyArray<{ readonly toolName: string }>) => tools.map(({ toolName }) => toolName)

const historyOf = Effect.fnUntraced(function* (id: ProviderId) {
  return yield* (yield* ToolSync).history(id)
})

/** A due sync of every provider, `hours` later. */
const syncAfter = Effect.fnUntraced(function* (hours: number) {
  yield* TestClock.adjust(Duration.hours(hours))
  return yield* (yield* ToolSync).work
})

const services = Layer.mergeAll(
  EndpointProbe.layer,
  ToolSync.layer.pipe(Layer.provideMerge(ToolImport.layer)),
  ToolDirectory.layer
).pipe(Layer.provideMerge(withServices(memoryPorts, Duration.hours(24))), Layer.provideMerge(fakeServers))

it.layer(services, { timeout: "60 seconds" })("Imports", (it) => {
  it.effect("previews without a change, then lists at the default price and at overrides", () =>
    Effect.gen(function* () {
      const server = yield* aServer
      server.lists(tool("search", { title: "Paper search" }), tool("fetch"), tool("bad", { inputSchema: { type: 7 } }))
      const overrides = [{ toolName: "fetch", price: price(9_000n) }]
      const preview = yield* server.preview({ overrides })
      assert.deepStrictEqual(namesOf(preview.creates), ["search", "fetch"])
      assert.deepStrictEqual(namesOf(preview.rejected), ["bad"])
      assert.isUndefined(yield* server.tool("search"))
      assert.deepStrictEqual((yield* historyOf(server.id)).records, [])

      const done = yield* server.apply({ overrides })
      assert.deepStrictEqual(namesOf(done.rejected), ["bad"])
      const [search, fetch] = [yield* server.tool("search"), yield* server.tool("fetch")]
      assert.deepStrictEqual([search!.price, fetch!.price], [500n, 9_000n])
      assert.strictEqual(search!.tool.displayName, "Paper search")
      const { records, state } = yield* historyOf(server.id)
      assert.deepStrictEqual(records[0]!.result.created, ["search", "fetch"])
      assert.deepInclude(state, { enabled: true, listed: true, defaultPrice: price(500n) })
      const again = yield* server.apply({ overrides })
      assert.deepStrictEqual([again.creates, again.changes], [[], []])
    })
  )

  it.effect("stores drafts, which cannot be called; listing one begins its price history", () =>
    Effect.gen(function* () {
      const [server, catalog, directory] = [yield* aServer, yield* Catalog, yield* ToolDirectory]
      server.lists(tool("search"))
      yield* server.apply({ listed: false })
      assert.isUndefined(yield* server.tool("search"))
      const query = { q: undefined, category: undefined, providerId: server.id, sort: "name" as const }
      const page = { limit: 10, offset: 0, after: undefined }
      const drafts = yield* catalog.search({ ...query, state: "draft", page })
      const { id } = drafts.items[0]!.tool
      for (const reference of [
        { toolId: id, toolName: undefined, providerId: undefined },
        { toolId: undefined, toolName: "search", providerId: server.id }
      ]) {
        assert.strictEqual((yield* Effect.flip(directory.find(reference)))._tag, "ToolNotFound")
      }
      yield* server.apply({ listed: false, defaultPrice: price(800n) })
      yield* TestClock.adjust("1 hour")
      const now = yield* DateTime.now
      const { stored } = yield* catalog.upsert(server.id, [{ toolName: "search" }])
      assert.strictEqual(stored[0]!.id, id)
      const prices = yield* catalog.prices(id)
      assert.deepStrictEqual(
        prices.map((one) => [one.version, one.price, one.effectiveFrom.epochMilliseconds]),
        [[1, 800n, now.epochMilliseconds]]
      )
      assert.deepStrictEqual(
        (yield* catalog.versions(id)).map(({ version }) => version),
        [1]
      )
      const found = yield* directory.find({ toolId: id, toolName: undefined, providerId: undefined })
      assert.strictEqual(found.price, 800n)
    })
  )

  it.effect("follows a server that changes its tools: versions, but no prices and no field changed by hand", () =>
    Effect.gen(function* () {
      const [server, catalog] = [yield* aServer, yield* Catalog]
      server.lists(tool("search"), tool("fetch"))
      yield* server.apply()
      const { id } = (yield* server.tool("search"))!.tool
      yield* catalog.upsert(server.id, [
        { toolName: "search", description: "By hand", price: price(600n) },
        { toolName: "fetch", price: price(100n) }
      ])
      const before = yield* server.tool("search")
      assert.strictEqual(before!.prices.upcoming?.price, 600n)
      const schema = { type: "object", required: ["q"] }
      server.lists(
        tool("search", {
          description: "Cheaper elsewhere",
          inputSchema: schema,
          price_microcents: 1,
          _meta: { "agent-tool-billing/price": { price_microcents: 999_999 } }
        }),
        tool("fetch", { outputSchema: { type: "object" } }),
        tool("news")
      )
      assert.isAtLeast(yield* syncAfter(1), 1)
      const after = (yield* server.tool("search"))!
      assert.strictEqual(after.tool.description, "By hand")
      assert.deepStrictEqual(after.tool.inputSchema, schema)
      assert.deepStrictEqual(
        [after.price, after.prices.upcoming?.price, after.prices.lastVersion],
        [500n, 600n, before!.prices.lastVersion]
      )
      assert.strictEqual((yield* server.tool("fetch"))!.price, 100n)
      assert.strictEqual((yield* server.tool("news"))!.price, 500n)
      assert.deepStrictEqual(
        (yield* catalog.versions(id)).map(({ changed, source }) => [source, changed]),
        [
          ["server", ["inputSchema"]],
          ["provider", ["description"]],
          ["server", ["displayName", "description", "inputSchema", "outputSchema", "annotations"]]
        ]
      )
      const { records } = yield* historyOf(server.id)
      assert.deepStrictEqual(records[0]!.result.changed, [
        { toolName: "search", fields: ["inputSchema"] },
        { toolName: "fetch", fields: ["outputSchema"] }
      ])
      assert.deepStrictEqual(records[0]!.result.created, ["news"])
      yield* syncAfter(1)
      assert.lengthOf((yield* historyOf(server.id)).records, 2, "a sync without changes is not recorded")
    })
  )

  it.effect("changes nothing while the server is down, and withdraws after the grace period", () =>
    Effect.gen(function* () {
      const server = yield* aServer
      server.lists(tool("search"), tool("fetch"))
      yield* server.apply()
      server.fails()
      for (let n = 0; n < 40; n++) yield* syncAfter(1)
      assert.strictEqual((yield* historyOf(server.id)).state?.problem, "Connection refused")
      assert.isUndefined((yield* server.tool("search"))!.tool.withdrawnAt)
      const failed = yield* Effect.flip(server.apply())
      assert.strictEqual(failed._tag, "ServerUnreadable")

      server.lists()
      yield* syncAfter(1)
      assert.deepStrictEqual((yield* historyOf(server.id)).records[0]!.result.missing, ["fetch", "search"])
      yield* syncAfter(23)
      assert.isUndefined((yield* server.tool("search"))!.tool.withdrawnAt)
      server.lists(tool("fetch"))
      yield* syncAfter(1)
      const gone = (yield* server.tool("search"))!.tool
      assert.isDefined(gone.withdrawnAt)
      assert.isTrue(gone.withdrawnByServer)
      assert.isUndefined((yield* server.tool("fetch"))!.tool.withdrawnAt)

      server.lists(tool("fetch"), tool("search"))
      yield* syncAfter(1)
      const back = (yield* server.tool("search"))!
      assert.isUndefined(back.tool.withdrawnAt)
      assert.strictEqual(back.price, 500n)
    })
  )

  it.effect("does not list again what its provider withdrew, also after the sync had", () =>
    Effect.gen(function* () {
      const [server, catalog] = [yield* aServer, yield* Catalog]
      server.lists(tool("search"), tool("fetch"))
      yield* server.apply()
      const { id } = (yield* server.tool("search"))!.tool
      yield* catalog.withdraw(server.id, id)
      yield* syncAfter(1)
      assert.isDefined((yield* server.tool("search"))!.tool.withdrawnAt)

      const other = (yield* server.tool("fetch"))!.tool.id
      server.lists(tool("search"))
      yield* syncAfter(1)
      yield* syncAfter(24)
      assert.isTrue((yield* server.tool("fetch"))!.tool.withdrawnByServer)
      yield* catalog.withdraw(server.id, other)
      server.lists(tool("search"), tool("fetch"))
      yield* syncAfter(1)
      assert.isDefined((yield* server.tool("fetch"))!.tool.withdrawnAt)
    })
  )

  it.effect("removes drafts that the server drops, so that a server cannot use up the limit", () =>
    Effect.gen(function* () {
      const [server, catalog] = [yield* aServer, yield* Catalog]
      server.lists(tool("one"), tool("two"))
      yield* server.apply({ listed: false })
      server.lists(tool("three"))
      yield* syncAfter(1)
      yield* syncAfter(24)
      const query = { q: undefined, category: undefined, providerId: server.id, sort: "name" as const }
      const found = yield* catalog.search({
        ...query,
        state: "any",
        page: { limit: 10, offset: 0, after: undefined }
      })
      assert.deepStrictEqual(
        found.items.map((entry) => entry.tool.toolName),
        ["three"]
      )
    })
  )

  it.effect("keeps a tool that was registered although the server does not list it", () =>
    Effect.gen(function* () {
      const [server, catalog, imports] = [yield* aServer, yield* Catalog, yield* ToolImport]
      server.lists(tool("search"))
      yield* server.apply()
      yield* catalog.upsert(server.id, [{ toolName: "hidden" }, { toolName: "search", description: "Mine" }])
      server.lists(tool("other"))
      yield* syncAfter(1)
      yield* imports.keepUnlisted(server.id, ["search"])
      yield* syncAfter(25)
      for (const kept of ["hidden", "search"]) {
        assert.isUndefined((yield* server.tool(kept))!.tool.withdrawnAt, kept)
      }
    })
  )

  it.effect("stops when the provider turns the sync off", () =>
    Effect.gen(function* () {
      const [server, sync] = [yield* aServer, yield* ToolSync]
      server.lists(tool("search"))
      yield* server.apply()
      yield* sync.configure(server.id, { enabled: false, listed: true, defaultPrice: price(500n) })
      server.lists(tool("search", { description: "Changed" }))
      yield* syncAfter(2)
      assert.strictEqual((yield* server.tool("search"))!.tool.description, "Does search")
      yield* (yield* ImportStore).remove(server.id)
      assert.isUndefined((yield* historyOf(server.id)).state)
    })
  )

  it.effect("reports what is at an endpoint, and names the tools that it lists", () =>
    Effect.gen(function* () {
      const [server, { probe }] = [yield* aServer, yield* EndpointProbe]
      server.lists(tool("search"), tool("fetch_page"))
      const found = yield* probe(server.address)
      assert.deepInclude(found, { reachable: true, era: "modern", protocolVersion: "2026-07-28", serverName: "fake" })
      assert.isUndefined(unlistedReason(found, "search"))
      const reason = unlistedReason(found, "fetchPage")!
      assert.include(reason, "Did you mean `fetch_page`?")
      assert.include(reason, '"unlisted": true')

      const down = yield* aServer
      const unknown = yield* probe(down.address)
      assert.deepInclude(unknown, { reachable: false, problem: "no server listens here" })
      assert.isUndefined(unlistedReason(unknown, "anything"))

      const silent = yield* aServer
      const servers = yield* FakeServers
      servers.never(silent.address.endpointUrl)
      const waiting = yield* Effect.forkChild(probe(silent.address))
      yield* TestClock.adjust("3 seconds")
      assert.deepInclude(yield* Fiber.join(waiting), { reachable: false })
    })
  )
})
