import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { Authentication, RateLimitPolicy } from "../../../domain/accounts/Authentication.ts"
import { Keys } from "../../../domain/accounts/Keys.ts"
import { CatalogStore, type ToolOutcome } from "../../../domain/catalog/CatalogStore.ts"
import {
  type ConsumerApplication,
  type ProviderApplication,
  Registration
} from "../../../domain/providers/Registration.ts"
import { fromCents, zero } from "../../../domain/shared/Microcents.ts"
import { memoryPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration } from "../../contracts/samples.ts"

const aProviderToBe: ProviderApplication = {
  name: "Weather Works",
  email: "owner@example.com",
  endpointUrl: "https://example.com/mcp",
  description: "",
  pricingModel: "per_call",
  defaultPrice: fromCents(5),
  tools: []
}

const aConsumerToBe: ConsumerApplication = {
  name: "Curious Agent",
  email: "agent@example.com",
  useCase: "",
  rateLimitRpm: undefined
}

/** The number of providers, consumers and tools. */
const accountCounts = Effect.gen(function* () {
  return { ...(yield* (yield* AccountStore).counts), tools: yield* (yield* CatalogStore).count }
})

const entryOf = Effect.fnUntraced(function* ({ id }: ToolOutcome) {
  return Option.getOrThrow(yield* (yield* CatalogStore).find(id))
})

const limits = Layer.succeed(RateLimitPolicy, { defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })

it.layer(withServices(memoryPorts).pipe(Layer.provideMerge(limits)), { timeout: "60 seconds" })(
  "Registration",
  (it) => {
    it.effect("creates a provider's account, a working key, and its tools at its default price", () =>
      Effect.gen(function* () {
        const tools = [
          aDeclaration({ toolName: "now" }),
          aDeclaration({ toolName: "tomorrow", price: fromCents(7), freeTierCalls: 0 })
        ]
        const before = yield* accountCounts
        const registered = yield* (yield* Registration).provider({ ...aProviderToBe, tools }, undefined)
        assert.deepStrictEqual(yield* accountCounts, {
          providers: before.providers + 1,
          consumers: before.consumers,
          tools: before.tools + 2
        })
        const { minted, provider } = registered
        assert.deepStrictEqual(yield* (yield* AccountStore).findProvider(provider.id), Option.some(provider))
        const caller = yield* (yield* Authentication).authenticate(minted.secret)
        assert.strictEqual(caller.ownerId, provider.id)
        const entries = yield* Effect.forEach(registered.tools, entryOf)
        const facts = entries.map(({ freeTierCalls, price, tool }) => [tool.toolName, price, freeTierCalls])
        assert.deepStrictEqual(facts, [
          ["now", fromCents(5), 0],
          ["tomorrow", fromCents(7), 0]
        ])
      })
    )

    it.effect("registers nothing when one tool is rejected, and names the faults of each", () =>
      Effect.gen(function* () {
        const before = yield* accountCounts
        const tools = [
          aDeclaration({ toolName: "fine" }),
          aDeclaration({ toolName: "twice" }),
          aDeclaration({ toolName: "bad", inputSchema: { type: "no such type" } }),
          aDeclaration({ toolName: "twice" })
        ]
        const error = yield* Effect.flip((yield* Registration).provider({ ...aProviderToBe, tools }, undefined))
        assert.strictEqual(error._tag, "ToolsRejected")
        if (error._tag !== "ToolsRejected") return
        assert.deepStrictEqual(
          error.tools.map(({ index, tool_name }) => [index, tool_name]),
          [
            [1, "twice"],
            [2, "bad"],
            [3, "twice"]
          ]
        )
        assert.match(
          error.message,
          /^Nothing was registered: twice: .*; bad: input_schema is not a valid JSON Schema: /u
        )
        assert.deepStrictEqual(yield* accountCounts, before)
      })
    )

    it.effect("creates a consumer's account, a working key, and the requested rate up to the ceiling", () =>
      Effect.gen(function* () {
        const registration = yield* Registration
        for (const [asked, granted] of [
          [undefined, 60],
          [10, 10],
          [6_000, 6_000],
          [1_000_000, 6_000]
        ] as const) {
          const application = { ...aConsumerToBe, rateLimitRpm: asked }
          const { consumer, minted } = yield* registration.consumer(application, undefined)
          assert.strictEqual(consumer.rateLimitRpm, granted)
          const caller = yield* (yield* Authentication).authenticate(minted.secret)
          assert.strictEqual(caller.ownerId, consumer.id)
          assert.strictEqual(caller.rateLimitRpm, granted)
        }
      })
    )

    it.effect("reveals a registered email address only to the holder of its account's key", () =>
      Effect.gen(function* () {
        const registration = yield* Registration
        const { authenticate } = yield* Authentication
        const first = yield* registration.consumer(aConsumerToBe, undefined)
        const second = yield* registration.consumer(aConsumerToBe, undefined)
        assert.notStrictEqual(first.consumer.id, second.consumer.id)
        const caller = yield* authenticate(first.minted.secret)
        const error = yield* Effect.flip(registration.consumer(aConsumerToBe, caller))
        assert.deepInclude(error, { _tag: "AlreadyRegistered", ownerId: first.consumer.id })
        yield* registration.consumer({ ...aConsumerToBe, email: "another@example.com" }, caller)

        const provider = yield* registration.provider(aProviderToBe, caller)
        const providerCaller = yield* authenticate(provider.minted.secret)
        const again = yield* Effect.flip(registration.provider(aProviderToBe, providerCaller))
        assert.strictEqual(again._tag, "AlreadyRegistered")
        yield* registration.consumer({ ...aConsumerToBe, email: aProviderToBe.email }, providerCaller)
      })
    )

    it.effect("labels the first key, and allows its rotation like any other's", () =>
      Effect.gen(function* () {
        const { consumer, minted } = yield* (yield* Registration).consumer(aConsumerToBe, undefined)
        const keys = yield* Keys
        const owner = { role: "consumer", ownerId: consumer.id } as const
        const rotated = yield* keys.rotate(owner, minted.key.id, 0)
        assert.strictEqual(rotated.minted.key.label, minted.key.label)
        assert.strictEqual(
          (yield* Effect.flip((yield* Authentication).authenticate(minted.secret)))._tag,
          "Unauthorized"
        )
      })
    )

    it.effect("makes a free provider's tools free unless they set a price", () =>
      Effect.gen(function* () {
        const tools = [aDeclaration({ toolName: "a" }), aDeclaration({ toolName: "b", price: fromCents(1) })]
        const application = { ...aProviderToBe, pricingModel: "free", tools } as const
        const registered = yield* (yield* Registration).provider(application, undefined)
        const entries = yield* Effect.forEach(registered.tools, entryOf)
        const prices = entries.map(({ price }) => price)
        assert.deepStrictEqual(prices, [zero, fromCents(1)])
      })
    )
  }
)
