/**
 * Pinned names in front of the store: what is queried once, never cached, and bounded; and two nodes on one database
 * resolve a name to the same tool.
 */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import {
  NamePinStore,
  PINS_CACHED_MAX,
  PINS_PER_CONSUMER_MAX,
  ToolDirectory,
  type ToolReference
} from "../../../domain/metering/ToolDirectory.ts"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { memoryPorts, postgresNode, postgresPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration, aProvider } from "../../contracts/samples.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const uuid = Effect.flatMap(Entropy, (entropy) => entropy.uuid)

/** A bare name of a listed tool, as an account sends it. */
const aName = (toolName: string) =>
  Effect.gen(function* () {
    const { stored } = yield* (yield* Catalog).upsert((yield* aProvider()).id, [aDeclaration({ toolName })])
    const account = ConsumerId.make(yield* uuid)
    return { toolId: stored[0]!.id, reference: { toolId: undefined, toolName, providerId: undefined, account } }
  })

const nodeWith = (store: NamePinStore["Service"]) =>
  Effect.map(
    Layer.build(Layer.fresh(ToolDirectory.layer).pipe(Layer.provide(Layer.succeed(NamePinStore, store)))),
    (services) => Context.get(services, ToolDirectory)
  )

/** The store below, with every query counted. */
const counting = Effect.gen(function* () {
  const store = yield* NamePinStore
  const counts = { finds: 0, pins: 0 }
  const directory = yield* nodeWith({
    ...store,
    find: (...args) => Effect.suspend(() => (counts.finds++, store.find(...args))),
    pin: (...args) => Effect.suspend(() => (counts.pins++, store.pin(...args)))
  })
  return { counts, directory }
})

it.layer(withServices(memoryPorts), LIVE)("Pinned names", (it) => {
  it.effect("are queried once, and every time where there is no pin", () =>
    Effect.gen(function* () {
      const { counts, directory } = yield* counting
      const { reference, toolId } = yield* aName("once")
      for (let n = 1; n <= 3; n++) {
        assert.strictEqual((yield* directory.find(reference)).tool.id, toolId)
        assert.strictEqual(counts.finds, n)
      }
      const entry = yield* directory.find(reference)
      yield* directory.pinning(reference, entry)!
      for (let n = 0; n < 3; n++) {
        assert.strictEqual((yield* directory.find(reference)).tool.id, toolId)
        assert.isUndefined(directory.pinning(reference, entry))
      }
      assert.deepStrictEqual(counts, { finds: 4, pins: 1 })
    })
  )

  it.effect("mean the tool that another node has pinned first", () =>
    Effect.gen(function* () {
      const { directory } = yield* counting
      const [store, { reference }, other] = [yield* NamePinStore, yield* aName("first"), yield* aName("other")]
      const entry = yield* directory.find(reference)
      const pin = { consumerId: reference.account, toolName: "first", toolId: other.toolId }
      yield* store.pin(pin, yield* DateTime.now)
      yield* directory.pinning(reference, entry)!
      assert.strictEqual((yield* directory.find(reference)).tool.id, other.toolId)
      assert.deepStrictEqual(yield* store.find(reference.account, "first", 1), {
        _tag: "Pinned",
        toolId: other.toolId
      })
    })
  )

  it.effect("are dropped from the cache when an account may have been erased", () =>
    Effect.gen(function* () {
      const { counts, directory } = yield* counting
      const { reference } = yield* aName("erased")
      const entry = yield* directory.find(reference)
      yield* directory.pinning(reference, entry)!
      yield* (yield* NamePinStore).removeAll(reference.account)
      yield* (yield* ChangeFeed).publish({ topic: "everything", id: "" })
      while (directory.pinning(reference, entry) === undefined) yield* Effect.sleep("10 millis")
      yield* directory.find(reference)
      assert.strictEqual(counts.finds, 2)
    })
  )

  it.effect("are not made by an id, a provider's id or a qualified name", () =>
    Effect.gen(function* () {
      const { directory } = yield* counting
      const { reference, toolId } = yield* aName("pinless")
      const entry = yield* directory.find({ ...reference, toolId })
      const pinning = (changes: Partial<ToolReference>) => directory.pinning({ ...reference, ...changes }, entry)
      assert.isDefined(pinning({}))
      assert.isUndefined(pinning({ toolId }))
      assert.isUndefined(pinning({ providerId: entry.provider.id }))
      assert.isUndefined(pinning({ toolName: "ada-tools/pinless" }))
      assert.isUndefined(pinning({ account: undefined }))
    })
  )

  it.effect("are limited per account, and in the cache: the oldest is dropped", () =>
    Effect.gen(function* () {
      const directory = yield* nodeWith({
        find: (_, __, pinsMax) => Effect.succeed({ _tag: pinsMax === PINS_PER_CONSUMER_MAX ? "Full" : "Free" }),
        pin: ({ toolId }) => Effect.succeed(toolId),
        removeAll: () => Effect.void
      })
      const { reference } = yield* aName("full")
      const rejected = yield* Effect.flip(directory.find(reference))
      assert.include(rejected.message, "Send the qualified name `handle/full`")

      const entry = yield* directory.find({ ...reference, account: undefined })
      const pinning = (n: number) => {
        const toolName = `tool-${n}`
        return directory.pinning({ ...reference, toolName }, { ...entry, tool: { ...entry.tool, toolName } })
      }
      for (let n = 0; n <= PINS_CACHED_MAX; n++) yield* pinning(n)!
      assert.isDefined(pinning(0))
      assert.isUndefined(pinning(1))
      assert.isUndefined(pinning(PINS_CACHED_MAX))
    })
  )
})

it.layer(withServices(postgresPorts), LIVE)("Two nodes on one PostgreSQL", (it) => {
  it.effect("resolve a pinned name to the same tool, whatever is listed after it was pinned", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const [victim, stranger] = [yield* aProvider(), yield* aProvider()]
      const put = (provider: typeof victim) =>
        Effect.map(catalog.upsert(provider.id, [aDeclaration({ toolName: "both" })]), ({ stored }) => stored[0]!.id)
      const node = Effect.gen(function* () {
        const services = yield* Layer.build(
          Layer.fresh(ToolDirectory.layer.pipe(Layer.provideMerge(withServices(Layer.fresh(postgresNode)))))
        )
        return Context.get(services, ToolDirectory)
      })
      const [first, second] = [yield* node, yield* node]
      const reference = {
        toolId: undefined,
        toolName: "both",
        providerId: undefined,
        account: ConsumerId.make(yield* uuid)
      }
      const found = (directory: typeof first) => Effect.map(directory.find(reference), (entry) => entry.tool.id)
      const toolId = yield* put(victim)
      assert.deepStrictEqual([yield* found(first), yield* found(second)], [toolId, toolId])
      yield* first.pinning(reference, yield* first.find(reference))!

      const squatting = yield* put(stranger)
      yield* catalog.withdraw(victim.id, toolId)
      for (const one of [first, second]) {
        // Until the change reaches this node.
        let result = yield* Effect.result(one.find(reference))
        while (result._tag === "Success") {
          assert.notStrictEqual(result.success.tool.id, squatting)
          yield* Effect.sleep("10 millis")
          result = yield* Effect.result(one.find(reference))
        }
        assert.strictEqual(result.failure._tag, "ToolWithdrawn")
        assert.include(result.failure.message, "The name stays pinned to it for your account")
      }
    })
  )
})
