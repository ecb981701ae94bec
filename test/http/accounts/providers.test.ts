/**
 * A provider's registration: every field of the contract and its limits, and that it is all or nothing.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { UUID } from "../../support/checks/ContractCheck.ts"
import {
  at,
  CATALOG,
  expecting,
  faultPaths,
  listAt,
  PROVIDERS,
  providerBody,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE } from "../../support/market/ServiceUnderTest.ts"

const HEALTH = "/api/market/health"

const isChecked = (key: string): boolean => hash("sha256", key.slice(0, -8), "hex").startsWith(key.slice(-8))

const provider = (changes: Readonly<Record<string, unknown>>) => ({ path: PROVIDERS, json: providerBody(changes) })
const providers = Effect.map(expecting(200, { path: HEALTH }), (answer) => at(answer, "provider_count"))

it.layer(ServiceUnderTest.memory(), LIVE)("a provider's registration", (it) => {
  it.effect("returns the account, its first key and its tools", () =>
    Effect.gen(function* () {
      const tools = [{ tool_name: "forecast", price_microcents: 100 }, { tool_name: "history" }]
      const answer = yield* expecting(201, provider({ default_price_microcents: 2_500, description: "d", tools }))
      const { api_key: key, next_steps: steps, provider_id: id, ...rest } = answer.json as Record<string, unknown>
      assert.match(String(id), UUID)
      assert.match(String(key), /^atb_p_[0-9a-f]{64}[0-9a-f]{8}$/u)
      assert.isTrue(isChecked(String(key)))
      assert.isNotEmpty(steps)
      assert.match(String(rest["handle"]), /^weather-works(?:-[0-9a-f]{6})?$/u)
      assert.deepStrictEqual(rest, {
        registered: true,
        handle: rest["handle"],
        name: "Weather Works",
        api_key_prefix: String(key).slice(0, 14),
        tools_registered: 2,
        tools: listAt(answer, "tools").map((tool, n) => ({
          id: valueAt(tool, "id"),
          tool_name: tools[n]!.tool_name,
          qualified_name: `${String(rest["handle"])}/${tools[n]!.tool_name}`
        })),
        endpoint: {
          reachable: false,
          era: null,
          protocol_version: null,
          server_name: null,
          server_version: null,
          tools_found: null,
          problem: at(answer, "endpoint", "problem")
        },
        import: null,
        message: rest["message"]
      })
      const listed = yield* expecting(200, { path: `${CATALOG}?provider_id=${String(id)}` })
      assert.deepStrictEqual(
        listAt(listed, "tools").map((tool) => [
          valueAt(tool, "id"),
          valueAt(tool, "provider", "name"),
          valueAt(tool, "pricing", "price_microcents")
        ]),
        [
          [at(answer, "tools", 0, "id"), "Weather Works", 100],
          [at(answer, "tools", 1, "id"), "Weather Works", 2_500]
        ]
      )
    })
  )

  it.effect("needs no tools", () =>
    Effect.gen(function* () {
      for (const tools of [undefined, []]) {
        const answer = yield* expecting(201, provider({ tools }))
        assert.deepStrictEqual([at(answer, "tools_registered"), at(answer, "tools")], [0, []])
      }
    })
  )

  it.effect("accepts an http or https URL without credentials, and no other", () =>
    Effect.gen(function* () {
      const good = [
        "http://example.org",
        "https://example.org:8443/mcp?x=1",
        "HTTPS://EXAMPLE.ORG/",
        "http://[::1]:3000/mcp"
      ]
      for (const endpoint_url of good) yield* expecting(201, provider({ endpoint_url }))
      const bad = [
        "",
        "example.org",
        "/mcp",
        "//example.org",
        "ftp://example.org",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/plain,x",
        "http://",
        "http://exa mple.org",
        "http://user:secret@example.org",
        "http://user@example.org",
        "http://[::1",
        "http://example.org:99999",
        `https://example.org/${"x".repeat(2_048)}`,
        null,
        7,
        {},
        ["https://example.org"]
      ]
      for (const endpoint_url of bad) {
        const answer = yield* expecting(422, provider({ endpoint_url }))
        assert.deepStrictEqual(faultPaths(answer), ["endpoint_url"], JSON.stringify(endpoint_url))
      }
    })
  )

  it.effect("accepts one default price, in cents or in microcents", () =>
    Effect.gen(function* () {
      const tools = [{ tool_name: "t" }]
      for (const [price, microcents] of [
        [{}, 0],
        [{ default_price_cents: 3 }, 30_000],
        [{ default_price_microcents: 100 }, 100],
        [{ default_price_cents: 0 }, 0],
        [{ default_price_microcents: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
        [{ default_price_cents: 5, pricing_model: "free" }, 0],
        [{ default_price_cents: 5, pricing_model: "per_token" }, 50_000]
      ] as const) {
        const answer = yield* expecting(201, provider({ ...price, tools }))
        const path = `${CATALOG}?provider_id=${textAt(answer, "provider_id")}`
        assert.strictEqual(at(yield* expecting(200, { path }), "tools", 0, "pricing", "price_microcents"), microcents)
      }
      yield* expecting(422, provider({ default_price_cents: 1, default_price_microcents: 10_000 }))
      for (const price of ["500", 150.5, -1, 2 ** 53, null, true, [1]]) {
        for (const field of ["default_price_cents", "default_price_microcents"]) {
          assert.deepStrictEqual(faultPaths(yield* expecting(422, provider({ [field]: price }))), [field])
        }
      }
    })
  )

  it.effect("is all or nothing: one rejected tool rejects the account", () =>
    Effect.gen(function* () {
      const before = yield* providers
      const refusals: ReadonlyArray<readonly [path: string, tools: ReadonlyArray<unknown>]> = [
        ["tools.1", [{ tool_name: "a" }, { tool_name: "b", input_schema: { type: "no such type" } }]],
        ["tools.1", [{ tool_name: "twice" }, { tool_name: "twice" }]],
        ["tools.0", [{ tool_name: "a", billing_policy: "valid_output" }]],
        ["tools.0.tool_name", [{ tool_name: "a b" }]],
        ["tools.0.tool_name", [{}]],
        ["tools", Array.from({ length: 51 }, (_, n) => ({ tool_name: `t${n}` }))]
      ]
      for (const [path, tools] of refusals) {
        const answer = yield* expecting(422, provider({ tools }))
        assert.include(faultPaths(answer), path, JSON.stringify(tools).slice(0, 200))
        assert.isUndefined(at(answer, "api_key"))
      }
      assert.strictEqual(yield* providers, before)
      yield* expecting(201, provider({ tools: Array.from({ length: 50 }, (_, n) => ({ tool_name: `t${n}` })) }))
    })
  )
})
