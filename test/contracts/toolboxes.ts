import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { ToolAliasStore } from "../../domain/mcp/ToolAliasStore.ts"
import { ToolboxStore } from "../../domain/mcp/ToolboxStore.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { KeyId } from "../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import { aToolId } from "./ledgerSamples.ts"
import type { Ports } from "./ports.ts"
import { aConsumer, aProvider, aTool, instant } from "./samples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const RACERS = 20

const uuid = Effect.flatMap(Entropy, (entropy) => entropy.uuid)

const aStoredTool = Effect.gen(function* () {
  const provider = yield* aProvider()
  const tool = yield* aTool(provider)
  yield* (yield* CatalogStore).upsert(tool)
  return { provider, toolId: tool.id }
})

const anAlias = Effect.map(uuid, (id) => `alias_${id.replaceAll("-", "").slice(-20)}`)

export const toolboxesContract = (name: string, ports: Layer.Layer<Ports>) => {
  it.layer(ports, LIVE)(`ToolboxStore over ${name}`, (it) => {
    it.effect("keeps the toolboxes of an account and of its keys apart, in order", () =>
      Effect.gen(function* () {
        const store = yield* ToolboxStore
        const { id: consumerId } = yield* aConsumer()
        const ofAccount = { consumerId, keyId: undefined }
        const ofKey = { consumerId, keyId: KeyId.make(yield* uuid) }
        const [a, b, c] = [yield* aToolId, yield* aToolId, yield* aToolId]
        assert.deepStrictEqual(yield* store.tools(ofAccount), [])
        yield* store.put(ofAccount, [b, a], AT)
        yield* store.put(ofKey, [c], AT)
        assert.deepStrictEqual(yield* store.tools(ofAccount), [b, a])
        assert.deepStrictEqual(yield* store.tools(ofKey), [c])
        yield* store.put(ofAccount, [a, b, c], AT)
        assert.deepStrictEqual(yield* store.tools(ofAccount), [a, b, c])
        yield* store.put(ofAccount, [], AT)
        assert.deepStrictEqual(yield* store.tools(ofAccount), [])
        assert.deepStrictEqual(yield* store.tools(ofKey), [c])
      })
    )

    it.effect("shows and changes the toolbox of a key only for its account", () =>
      Effect.gen(function* () {
        const store = yield* ToolboxStore
        const [owner, other] = [yield* aConsumer(), yield* aConsumer()]
        const keyId = KeyId.make(yield* uuid)
        const tool = yield* aToolId
        yield* store.put({ consumerId: owner.id, keyId }, [tool], AT)
        assert.deepStrictEqual(yield* store.tools({ consumerId: other.id, keyId }), [])
      })
    )

    it.effect("removes all toolboxes of one account", () =>
      Effect.gen(function* () {
        const store = yield* ToolboxStore
        const [erased, other] = [yield* aConsumer(), yield* aConsumer()]
        const tool = yield* aToolId
        const keyId = KeyId.make(yield* uuid)
        for (const scope of [
          { consumerId: erased.id, keyId: undefined },
          { consumerId: erased.id, keyId },
          { consumerId: other.id, keyId: undefined }
        ]) {
          yield* store.put(scope, [tool], AT)
        }
        yield* store.removeAll(erased.id)
        assert.deepStrictEqual(yield* store.tools({ consumerId: erased.id, keyId: undefined }), [])
        assert.deepStrictEqual(yield* store.tools({ consumerId: erased.id, keyId }), [])
        assert.deepStrictEqual(yield* store.tools({ consumerId: other.id, keyId: undefined }), [tool])
      })
    )

    it.effect("keeps a toolbox as it was where the unit of work fails", () =>
      Effect.gen(function* () {
        const store = yield* ToolboxStore
        const { atomically } = yield* UnitOfWork
        const { id: consumerId } = yield* aConsumer()
        const scope = { consumerId, keyId: undefined }
        const [before, after] = [yield* aToolId, yield* aToolId]
        yield* store.put(scope, [before], AT)
        yield* Effect.exit(atomically(Effect.andThen(store.put(scope, [after], AT), Effect.fail("no"))))
        assert.deepStrictEqual(yield* store.tools(scope), [before])
      })
    )
  })

  it.layer(ports, LIVE)(`ToolAliasStore over ${name}`, (it) => {
    it.effect("gives an alias to one tool, and a tool one alias", () =>
      Effect.gen(function* () {
        const store = yield* ToolAliasStore
        const [first, second] = [yield* aStoredTool, yield* aStoredTool]
        const [alias, another] = [yield* anAlias, yield* anAlias]
        assert.deepStrictEqual(yield* store.toolOf(alias), Option.none())
        assert.isTrue(yield* store.claim(alias, first.toolId, AT))
        assert.isFalse(yield* store.claim(alias, second.toolId, AT))
        assert.isFalse(yield* store.claim(another, first.toolId, AT))
        assert.deepStrictEqual(yield* store.toolOf(alias), Option.some(first.toolId))
        assert.deepStrictEqual(yield* store.toolOf(another), Option.none())
        assert.deepStrictEqual(yield* store.toolOf(alias.toUpperCase()), Option.none())
        assert.deepStrictEqual(yield* store.ofTools([first.toolId, second.toolId]), new Map([[first.toolId, alias]]))
        assert.deepStrictEqual(yield* store.ofTools([]), new Map())
      })
    )

    it.effect("gives an alias to one of concurrent tools", () =>
      Effect.gen(function* () {
        const store = yield* ToolAliasStore
        const alias = yield* anAlias
        const tools = yield* Effect.all(Array.from({ length: RACERS }, () => aStoredTool))
        const claimed = yield* Effect.forEach(tools, ({ toolId }) => store.claim(alias, toolId, AT), {
          concurrency: "unbounded"
        })
        const winner = tools[claimed.indexOf(true)]!.toolId
        assert.lengthOf(
          claimed.filter((won) => won),
          1
        )
        assert.deepStrictEqual(yield* store.toolOf(alias), Option.some(winner))
      })
    )

    it.effect("gives the aliases of an erased provider to no other tool", () =>
      Effect.gen(function* () {
        const store = yield* ToolAliasStore
        const [erased, other] = [yield* aStoredTool, yield* aStoredTool]
        const [alias, kept] = [yield* anAlias, yield* anAlias]
        yield* store.claim(alias, erased.toolId, AT)
        yield* store.claim(kept, other.toolId, AT)
        yield* store.erase(erased.provider.id)
        assert.deepStrictEqual(yield* store.toolOf(alias), Option.none())
        assert.deepStrictEqual(yield* store.ofTools([erased.toolId, other.toolId]), new Map([[other.toolId, kept]]))
        const thief = yield* aStoredTool
        assert.isFalse(yield* store.claim(alias, thief.toolId, AT))
        assert.isFalse(yield* store.claim(yield* anAlias, erased.toolId, AT))
      })
    )
  })
}
