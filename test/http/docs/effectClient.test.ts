/**
 * The client for Effect programs, without sockets: typed problems, the key of the caller, and idempotency keys.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { IdempotencyKey, layerInProcess, make } from "../../../adapters/http/client/ApiClient.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { memoryConfig, wholeService } from "../../support/market/ServiceConfig.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const baseUrl = "https://market.example"

it.layer(layerInProcess.pipe(Layer.provide(wholeService(memoryConfig({ PAYMENTS: "dry_run" })))), LIVE)(
  "The client for Effect",
  (it) => {
    const registered = (email: string) =>
      Effect.gen(function* () {
        const { api_key } = yield* (yield* make({ baseUrl })).accounts.registerConsumer({
          payload: { name: "An agent", email }
        })
        return yield* make({ baseUrl, key: Redacted.make(api_key) })
      })

    it.effect("authenticates, and narrows a problem by its code", () =>
      Effect.gen(function* () {
        const anyone = yield* make({ baseUrl })
        yield* anyone.accounts.registerProvider({
          payload: {
            name: "Ada",
            email: "ada@example.org",
            handle: "ada-tools",
            endpoint_url: "http://127.0.0.1:9/mcp",
            tools: [{ tool_name: "search", price_microcents: Microcents.make(500n) }]
          }
        })
        const unauthorized = yield* Effect.flip(anyone.money.balance({}))
        assert.strictEqual("code" in unauthorized ? unauthorized.code : unauthorized._tag, "UNAUTHORIZED")

        const client = yield* registered("narrow@example.org")
        const problem = yield* Effect.flip(
          client.calls.proxy({ payload: { tool_name: "ada-tools/search", input: {} } })
        )
        if (!("code" in problem) || problem.code !== "INSUFFICIENT_FUNDS") return assert.fail(JSON.stringify(problem))
        // Only this code has these fields: this does not compile for others.
        assert.deepStrictEqual([problem.status, problem.balance_cents, problem.cost_microcents], [402, 0, 500])
      })
    )

    it.effect("loads once for one idempotency key", () =>
      Effect.gen(function* () {
        const client = yield* registered("once@example.org")
        const load = client.money.load({ payload: { amount_cents: 500 } })
        yield* Effect.provideService(Effect.andThen(load, load), IdempotencyKey, "order-17")
        assert.strictEqual((yield* client.money.balance({})).balance_cents, 500)
        yield* load
        assert.strictEqual((yield* client.money.balance({})).balance_cents, 1_000)
      })
    )
  }
)
