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

    it.effect("authenticates, and fails with problems that are tagged by their codes", () =>
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
        assert.strictEqual((yield* Effect.flip(anyone.money.balance()))._tag, "UNAUTHORIZED")

        const client = yield* registered("narrow@example.org")
        const call = client.calls.proxy({ payload: { tool_name: "ada-tools/search", input: {} } })
        const found = yield* call.pipe(
          // Only this code has these fields: this does not compile for others.
          Effect.catchTag("INSUFFICIENT_FUNDS", ({ balance_cents, cost_microcents, status }) =>
            Effect.succeed([status, balance_cents, cost_microcents])
          )
        )
        assert.deepStrictEqual(found, [402, 0, 500])
        const problem = yield* Effect.flip(call)
        assert.instanceOf(problem, Error)
        assert.match(String(problem), /^INSUFFICIENT_FUNDS: Insufficient balance/u)
      })
    )

    it.effect("knows of each operation which problems its endpoint declares", () =>
      Effect.gen(function* () {
        const { catalog, money } = yield* make({ baseUrl })
        yield* money.load({ payload: { amount_cents: 500 } }).pipe(Effect.catchTag("UNAUTHORIZED", () => Effect.void))
        // @ts-expect-error A read of the balance costs nothing.
        const balance = money.balance().pipe(Effect.catchTag("INSUFFICIENT_FUNDS", () => Effect.void))
        // @ts-expect-error Other endpoints declare this code of the same status.
        const overview = money.overview().pipe(Effect.catchTag("BELOW_MINIMUM", () => Effect.void))
        // @ts-expect-error The catalog is public.
        const tools = catalog.catalog().pipe(Effect.catchTag("UNAUTHORIZED", () => Effect.void))
        assert.lengthOf([balance, overview, tools], 3)
      })
    )

    it.effect("leaves out what an operation does not need, and returns the response where it is asked for", () =>
      Effect.gen(function* () {
        const { catalog } = yield* make({ baseUrl })
        assert.isArray((yield* catalog.catalog()).tools)
        const [{ tools }, { status }] = yield* catalog.catalog({
          query: { q: "search" },
          responseMode: "decoded-and-response"
        })
        assert.deepStrictEqual([tools.length, status], [1, 200])
      })
    )

    it.effect("loads once for one idempotency key", () =>
      Effect.gen(function* () {
        const client = yield* registered("once@example.org")
        const load = client.money.load({ payload: { amount_cents: 500 } })
        yield* Effect.provideService(Effect.andThen(load, load), IdempotencyKey, "order-17")
        assert.strictEqual((yield* client.money.balance()).balance_cents, 500)
        yield* load
        assert.strictEqual((yield* client.money.balance()).balance_cents, 1_000)
      })
    )
  }
)
