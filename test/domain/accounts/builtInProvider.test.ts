/**
 * A provider that is part of the service: registered once, without a key, and never in the way of others.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { RateLimitPolicy } from "../../../domain/accounts/Authentication.ts"
import { KeyStore } from "../../../domain/accounts/Keys.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { type BuiltIn, BuiltInProvider, DEMO_PROVIDER_ID } from "../../../domain/providers/BuiltInProvider.ts"
import { Registration } from "../../../domain/providers/Registration.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { fromCents, Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { memoryPorts, withServices } from "../../contracts/ports.ts"

const builtIn: BuiltIn = {
  id: DEMO_PROVIDER_ID,
  handle: "builtin-one",
  name: "Built-in one",
  email: "demo@demo.invalid",
  endpointUrl: "http://demo.invalid/mcp",
  description: "",
  pricingModel: "per_call",
  defaultPrice: zero
}

const tool = (toolName: string, price = 500n) => ({ toolName, price: Microcents.make(price) })

const listedOf = (providerId: ProviderId) =>
  Effect.gen(function* () {
    const { search } = yield* Catalog
    const page = { limit: 100, offset: 0, after: undefined }
    const found = yield* search({ q: undefined, category: undefined, providerId, sort: "name", page })
    return found.items.map((entry) => entry.tool.toolName)
  })

const limits = Layer.succeed(RateLimitPolicy, { defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })

const services = BuiltInProvider.layer.pipe(Layer.provideMerge(withServices(memoryPorts)), Layer.provideMerge(limits))

it.layer(services, { timeout: "60 seconds" })("BuiltInProvider", (it) => {
  it.effect("is registered once and without a key, and its tools can be withdrawn", () =>
    Effect.gen(function* () {
      const { register, withdraw } = yield* BuiltInProvider
      const { upsert } = yield* Catalog
      const accounts = yield* AccountStore
      assert.isTrue(yield* register(builtIn))
      const account = Option.getOrThrow(yield* accounts.findProvider(builtIn.id))
      assert.strictEqual(account.handle, "builtin-one")
      assert.lengthOf(yield* (yield* KeyStore).ofOwner(builtIn.id, yield* DateTime.now), 0)
      yield* upsert(builtIn.id, [tool("a"), tool("b")])
      assert.isTrue(yield* register(builtIn))
      assert.deepStrictEqual(yield* accounts.findProvider(builtIn.id), Option.some(account))
      assert.deepStrictEqual(yield* listedOf(builtIn.id), ["a", "b"])
      yield* withdraw(builtIn.id)
      yield* withdraw(builtIn.id)
      assert.deepStrictEqual(yield* listedOf(builtIn.id), [])
    })
  )

  it.effect("takes another handle where its own belongs to a provider", () =>
    Effect.gen(function* () {
      const { provider: register } = yield* Registration
      const { id: _, ...account } = builtIn
      const taken = { ...account, handle: "builtin-two", name: "Other", defaultPrice: fromCents(1), tools: [] }
      const { provider } = yield* register(taken, undefined)
      assert.strictEqual(provider.handle, "builtin-two")
      const id = ProviderId.make("00000000-0000-4000-8000-00000000de31")
      yield* (yield* BuiltInProvider).register({ ...builtIn, id, handle: "builtin-two", name: "Second" })
      const second = Option.getOrThrow(yield* (yield* AccountStore).findProvider(id))
      assert.strictEqual(second.handle, "second")
    })
  )

  it.effect("stays erased, and withdraws nothing where it was never registered", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const { register, withdraw } = yield* BuiltInProvider
      const id = ProviderId.make("00000000-0000-4000-8000-00000000de32")
      yield* withdraw(id)
      assert.isTrue(Option.isNone(yield* accounts.findProvider(id)))
      const third = { ...builtIn, id, handle: "builtin-three" }
      assert.isTrue(yield* register(third))
      yield* withdraw(id)
      const erasure = { ownerId: id, role: "provider" as const, by: "operator", at: yield* DateTime.now }
      yield* accounts.recordErasure({ ...erasure, leftMicrocents: 0n })
      assert.isFalse(yield* register(third))
    })
  )
})
