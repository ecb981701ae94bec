/**
 * The price of a tool: written in three ways, exact to the microcent, with every change kept as a version.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  aProvider,
  expecting,
  listedTool,
  type Member,
  putTools,
  textAt,
  TOOLS,
  valueAt
} from "../../support/market/Market.ts"
import { fixedPrice } from "../../support/market/Prices.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { LIVE, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

type Tool = Readonly<Record<string, unknown>>

const refusalOf = ({ key }: Member, tool: Tool) =>
  Effect.map(expecting(422, { path: TOOLS, key, json: { tools: [tool] } }), (answer) =>
    textAt(answer, "tool_errors", 0, "error")
  )

it.layer(ServiceUnderTest.memory(), LIVE)("prices", (it) => {
  it.effect("may be written in three ways, one at a time", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ default_price_microcents: 777 })
      const ways: ReadonlyArray<readonly [tool: Tool, microcents: number, shown: string]> = [
        [{ price_microcents: 100 }, 100, "$0.0001"],
        [{ price_microcents: 1 }, 1, "$0.000001"],
        [{ price_microcents: 10_001 }, 10_001, "$0.010001"],
        [{ price_cents_override: 5 }, 50_000, "$0.05"],
        [{ pricing: { price_cents: 250 } }, 2_500_000, "$2.50"],
        [{ price_microcents: 0 }, 0, "Free"],
        [{ price_microcents: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER, "$9,007,199,254.740991"],
        [{ pricing: {} }, 777, "$0.000777"],
        [{}, 777, "$0.000777"]
      ]
      for (const [n, [tool, microcents, shown]] of ways.entries()) {
        yield* putTools(provider, { tool_name: `w${n}`, ...tool })
        assert.deepStrictEqual(valueAt(yield* listedTool(provider, `w${n}`), "pricing"), fixedPrice(microcents, shown))
      }
      for (const two of [
        { price_microcents: 1, price_cents_override: 1 },
        { price_microcents: 1, pricing: { price_cents: 1 } },
        { price_cents_override: 1, pricing: { price_cents: 1 } }
      ]) {
        assert.include(yield* refusalOf(provider, { tool_name: "two", ...two }), "one price")
      }
    })
  )

  it.effect("have a free tier only where the provider sets one", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (const [tool, calls] of [
        [{}, 0],
        [{ free_tier_calls: 0 }, 0],
        [{ free_tier_calls: 10 }, 10],
        [{ pricing: { free_tier_calls: 3 } }, 3],
        [{ free_tier_calls: 1_000_000_000 }, 1_000_000_000]
      ] as const) {
        yield* putTools(provider, { tool_name: "t", ...tool })
        assert.strictEqual(valueAt(yield* listedTool(provider, "t"), "pricing", "free_tier_calls"), calls)
      }
      const both = { tool_name: "t", free_tier_calls: 1, pricing: { free_tier_calls: 1 } }
      assert.include(yield* refusalOf(provider, both), "free_tier_calls")
    })
  )
})

it.layer(ServiceUnderTest.postgres(), LIVE)("prices in the database", (it) => {
  it.effect("are exact, and a change of price or free tier adds a version", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const provider = yield* aProvider()
      for (const tool of [
        { price_microcents: 100 },
        { price_microcents: 100, description: "other words, same price" },
        { price_microcents: 101 },
        { price_microcents: 101, free_tier_calls: 5 },
        { price_microcents: 101, free_tier_calls: 5, display_name: "x" },
        { price_microcents: 100, free_tier_calls: 5 }
      ]) {
        yield* putTools(provider, { tool_name: "t", ...tool })
      }
      const rows = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          SELECT version, p.price_microcents::text AS price, p.free_tier_calls AS free FROM tool_prices p
          JOIN tools t ON t.id = p.tool_id WHERE t.provider_id = ${provider.id} ORDER BY version`
      ).pipe(connectedTo(url))
      assert.deepStrictEqual(rows, [
        { version: 1, price: "100", free: 0 },
        { version: 2, price: "101", free: 0 },
        { version: 3, price: "101", free: 5 },
        { version: 4, price: "100", free: 5 }
      ])
    })
  )
})
