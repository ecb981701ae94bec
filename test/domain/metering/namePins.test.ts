/**
 * Pinned names in front of the store: what is queried once, never cached, and bounded; and two nodes on one database
 * resolve a name to the same tool.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import {
  type NamePin,
  NamePins,
  NamePinStore,
  pinOf,
  PINS_CACHED_MAX,
  PINS_PER_CONSUMER_MAX,
  ToolDirectory
} from "../../../domain/metering/ToolDirectory.ts"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import { memoryPorts, postgresNode, postgresPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration, aProvider } from "../../contracts/samples.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const uuid = Effect.flatMap(Entropy, (entropy) => entropy.uuid)

const aPin = (toolName: string) =>
  Effect.gen(function* () {
    const pin: NamePin = { consumerId: ConsumerId.make(yield* uuid), toolName, toolId: ToolId.make(yield* uuid) }
    return pin
  })

/** The store below, with every query counted. */
const counting = Effect.gen(function* () {
  const store = yield* NamePinStore
  const counts = { finds: 0, pins: 0 }
  const counted = NamePinStore.of({
    ...store,
    find: (...args) => Effect.suspend(() => (counts.finds++, store.find(...args))),
    pin: (...args) => Effect.suspend(() => (counts.pins++, store.pin(...args)))
  })
  const services = yield* Layer.build(
    Layer.fresh(NamePins.layer).pipe(Layer.provide(Layer.succeed(NamePinStore, counted)))
  )
  return { counts, pins: yield* Effect.provide(NamePins, services) }
})

const directoryNode = ToolDirectory.layer.pipe(Layer.provideMerge(NamePins.layer))

it.layer(withServices(memoryPorts), LIVE)("NamePins", (it) => {
  it.effect("queries the store once for a pin, and every time where there is none", () =>
    Effect.gen(function* () {
      const { counts, pins } = yield* counting
      const pin = yield* aPin("echo")
      for (let n = 1; n <= 3; n++) {
        assert.isUndefined(yield* pins.find(pin.consumerId, "echo"))
        assert.strictEqual(counts.finds, n)
      }
      yield* pins.pinning(pin)!
      for (let n = 0; n < 3; n++) {
        assert.strictEqual(yield* pins.find(pin.consumerId, "echo"), pin.toolId)
        assert.isUndefined(pins.pinning({ ...pin, toolId: ToolId.make(yield* uuid) }))
      }
      assert.deepStrictEqual(counts, { finds: 3, pins: 1 })
    })
  )

  it.effect("finds the tool that another node has pinned first", () =>
    Effect.gen(function* () {
      const { pins } = yield* counting
      const store = yield* NamePinStore
      const pin = yield* aPin("echo")
      const other = ToolId.make(yield* uuid)
      assert.isUndefined(yield* pins.find(pin.consumerId, "echo"))
      yield* (yield* counting).pins.pinning({ ...pin, toolId: other })!
      yield* pins.pinning(pin)!
      assert.strictEqual(yield* pins.find(pin.consumerId, "echo"), other)
      assert.deepStrictEqual(yield* store.find(pin.consumerId, "echo", 1), { _tag: "Pinned", toolId: other })
    })
  )

  it.effect("drops its cache when an account may have been erased", () =>
    Effect.gen(function* () {
      const { counts, pins } = yield* counting
      const pin = yield* aPin("echo")
      yield* pins.pinning(pin)!
      yield* (yield* NamePinStore).removeAll(pin.consumerId)
      yield* (yield* ChangeFeed).publish({ topic: "everything", id: "" })
      let found: ToolId | undefined = pin.toolId
      while (found !== undefined) {
        found = yield* pins.find(pin.consumerId, "echo")
        yield* Effect.sleep("10 millis")
      }
      assert.isAbove(counts.finds, 0)
    })
  )

  it.effect("pins nothing for an id, a provider's id or a qualified name", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const { stored } = yield* (yield* Catalog).upsert(provider.id, [aDeclaration({ toolName: "pinless" })])
      const directory = yield* Effect.provide(ToolDirectory, directoryNode)
      const account = ConsumerId.make(yield* uuid)
      const byId = { toolId: stored[0]!.id, toolName: undefined, providerId: undefined, account }
      const entry = yield* directory.find(byId)
      const bare = { toolId: undefined, toolName: "pinless", providerId: undefined, account }
      assert.deepStrictEqual(pinOf(bare, entry), { consumerId: account, toolName: "pinless", toolId: stored[0]!.id })
      assert.isUndefined(pinOf(byId, entry))
      assert.isUndefined(pinOf({ ...bare, toolId: stored[0]!.id }, entry))
      assert.isUndefined(pinOf({ ...bare, providerId: provider.id }, entry))
      assert.isUndefined(pinOf({ ...bare, toolName: "ada-tools/pinless" }, entry))
      assert.isUndefined(pinOf({ ...bare, account: undefined }, entry))
    })
  )
})

it.effect("rejects a name beyond the limit of pins, and says what to send instead", () =>
  Effect.gen(function* () {
    const full = NamePinStore.of({
      find: (_, __, pinsMax) => Effect.succeed({ _tag: pinsMax === PINS_PER_CONSUMER_MAX ? "Full" : "Free" }),
      pin: ({ toolId }) => Effect.succeed(toolId),
      removeAll: () => Effect.void
    })
    const pins = yield* Effect.provide(NamePins, NamePins.layer.pipe(Layer.provide(Layer.succeed(NamePinStore, full))))
    const pin = yield* aPin("echo")
    const rejected = yield* Effect.flip(pins.find(pin.consumerId, "echo"))
    assert.include(rejected.message, "Send the qualified name `handle/echo`")

    // The oldest pin is dropped from the cache.
    for (let n = 0; n <= PINS_CACHED_MAX; n++) yield* pins.pinning({ ...pin, toolName: `tool-${n}` })!
    assert.isUndefined(pins.cached(pin.consumerId, "tool-0"))
    assert.strictEqual(pins.cached(pin.consumerId, "tool-1"), pin.toolId)
    assert.strictEqual(pins.cached(pin.consumerId, `tool-${PINS_CACHED_MAX}`), pin.toolId)
  }).pipe(Effect.provide(memoryPorts))
)

it.layer(withServices(postgresPorts), LIVE)("Two nodes on one PostgreSQL", (it) => {
  it.effect("resolve a pinned name to the same tool, whatever is listed after it was pinned", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const [victim, stranger] = [yield* aProvider(), yield* aProvider()]
      const put = (provider: typeof victim) =>
        Effect.map(catalog.upsert(provider.id, [aDeclaration({ toolName: "both" })]), ({ stored }) => stored[0]!.id)
      const node = Effect.gen(function* () {
        const services = yield* Layer.build(
          Layer.fresh(directoryNode.pipe(Layer.provideMerge(withServices(Layer.fresh(postgresNode)))))
        )
        return yield* Effect.provide(Effect.all({ directory: ToolDirectory, pins: NamePins }), services)
      })
      const [first, second] = [yield* node, yield* node]
      const reference = {
        toolId: undefined,
        toolName: "both",
        providerId: undefined,
        account: ConsumerId.make(yield* uuid)
      }
      const found = ({ directory }: typeof first) => Effect.map(directory.find(reference), (entry) => entry.tool.id)
      const toolId = yield* put(victim)
      assert.deepStrictEqual([yield* found(first), yield* found(second)], [toolId, toolId])
      yield* first.pins.pinning(pinOf(reference, yield* first.directory.find(reference))!)!

      const squatting = yield* put(stranger)
      yield* catalog.withdraw(victim.id, toolId)
      for (const one of [first, second]) {
        // Until the change reaches this node.
        let result = yield* Effect.result(one.directory.find(reference))
        while (result._tag === "Success") {
          assert.notStrictEqual(result.success.tool.id, squatting)
          yield* Effect.sleep("10 millis")
          result = yield* Effect.result(one.directory.find(reference))
        }
        assert.strictEqual(result.failure._tag, "ToolWithdrawn")
        assert.include(result.failure.message, "The name stays pinned to it for your account")
      }
    })
  )
})
