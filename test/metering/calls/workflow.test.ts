/**
 * An agent's whole workflow over a socket: a service on its own data folder, with real MCP servers.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dataFolder } from "../../support/servers/EmbeddedFolders.ts"
import { fixedPrice } from "../../support/market/Prices.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { ask, type Request, serve } from "../../support/metering/Process.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Readonly<Record<string | number, unknown>>)?.[step], value)

const SUM = { tool_name: "get-sum", price_microcents: 12_345, free_tier_calls: 1, description: "Adds two numbers" }
const WEATHER = {
  tool_name: "get-structured-content",
  price_cents_override: 5,
  free_tier_calls: 0,
  billing_policy: "valid_output",
  output_schema: { type: "object", required: ["temperature"], properties: { temperature: { type: "number" } } }
}
const BROKEN = { tool_name: "no-such-tool", price_microcents: 1_000, free_tier_calls: 0, unlisted: true }

describe("An agent", () => {
  it.live(
    "registers, loads, finds a tool, reads its price, calls it, and verifies its receipt",
    () =>
      Effect.gen(function* () {
        const everything = yield* everythingServer
        const service = yield* serve(yield* dataFolder)
        const get = Effect.fnUntraced(function* (path: string, key?: string) {
          const reply = yield* ask(service, { path, ...(key === undefined ? {} : { key }) })
          assert.strictEqual(reply.status, 200, `${path}: ${reply.text}`)
          return reply.json as Json
        })
        const post = Effect.fnUntraced(function* (status: number, request: Request) {
          const reply = yield* ask(service, request)
          assert.strictEqual(reply.status, status, `${request.path}: ${reply.text}`)
          return reply
        })

        const provider = yield* post(201, {
          path: "/api/market/register-provider",
          json: {
            name: "Everything, Inc.",
            email: "owner@example.org",
            endpoint_url: everything.url,
            tools: [SUM, WEATHER, BROKEN]
          }
        })
        const consumer = yield* post(201, {
          path: "/api/market/register-consumer",
          json: { name: "Curious Agent", email: "agent@example.org" }
        })
        const key = String(at(consumer.json, "api_key"))
        assert.strictEqual(at(consumer.json, "balance_microcents"), 0)

        const found = yield* get("/api/market/catalog?q=adds%20numbers")
        const sum = at(found, "tools", 0)
        assert.strictEqual(at(sum, "tool_name"), "get-sum")
        assert.deepStrictEqual(at(sum, "pricing"), fixedPrice(12_345, "$0.012345", 1))

        const json = { tool_id: String(at(sum, "id")), input: { a: 2, b: 40 } }
        const call: Request = { path: "/api/market/proxy", key, json }
        const free = yield* post(200, call)
        assert.strictEqual(at(free.json, "result", "content", 0, "text"), "The sum of 2 and 40 is 42.")
        assert.strictEqual(at(free.json, "meta", "cost"), "Free")
        const poor = yield* post(402, call)
        assert.strictEqual(at(poor.json, "cost_microcents"), 12_345)

        const loadUrl = new URL(String(at(poor.json, "load_balance_url")))
        const loaded = yield* post(200, { path: loadUrl.pathname, key, json: { amount_cents: 100 } })
        assert.strictEqual(at(loaded.json, "new_balance"), "$1.00")
        const quote = yield* post(200, { ...call, json: { ...json, dry_run: true } })
        assert.strictEqual(at(quote.json, "quote", "cost_microcents"), 12_345)
        assert.strictEqual(at(quote.json, "quote", "balance_after_microcents"), 987_655)

        const keyed = { ...call, headers: { "idempotency-key": "forty-two" } }
        const paid = yield* post(200, keyed)
        assert.strictEqual(at(paid.json, "meta", "remaining_balance_microcents"), 987_655)
        assert.strictEqual((yield* post(200, keyed)).text, paid.text)

        const weather = yield* post(200, {
          path: call.path,
          key,
          json: { tool_name: WEATHER.tool_name, arguments: { location: "New York" } }
        })
        assert.isNumber(at(weather.json, "result", "structuredContent", "temperature"))
        assert.strictEqual(at(weather.json, "meta", "cost_microcents"), 50_000)
        const broken = yield* post(200, { path: call.path, key, json: { tool_name: BROKEN.tool_name } })
        assert.strictEqual(at(broken.json, "meta", "outcome"), "error")
        assert.strictEqual(at(broken.json, "meta", "cost_microcents"), 0)

        const link = /^<(?<url>[^>]+)>; rel="receipt"$/u.exec(paid.headers.get("link") ?? "")?.groups?.["url"]
        const fetched = yield* get(new URL(link!).pathname)
        assert.strictEqual(at(fetched, "receipt", "receipt_id"), paid.headers.get("x-market-receipt"))
        assert.strictEqual(at(fetched, "receipt", "cost_microcents"), 12_345)
        const verified = yield* post(200, { path: "/api/v1/verify", json: { receipt: at(fetched, "receipt") } })
        assert.strictEqual(at(verified.json, "verification", "reason"), "ok")
        const forged = { ...(at(fetched, "receipt") as object), cost_microcents: 1 }
        const refused = yield* post(200, { path: "/api/v1/verify", json: forged })
        assert.strictEqual(at(refused.json, "verification", "reason"), "signature_mismatch")

        const usage = yield* get("/api/v1/market/usage?period=24h", key)
        assert.include(at(usage, "summary"), { total_calls: 4, successful_calls: 3, total_cost_microcents: 62_345 })
        const balance = yield* get("/api/v1/market/balance", key)
        assert.strictEqual(at(balance, "balance_microcents"), 1_000_000 - 62_345)
        const earned = yield* get("/api/market/usage/summary", String(at(provider.json, "api_key")))
        assert.strictEqual(at(earned, "summary", "total_spend_microcents"), 62_345)

        const books = yield* get("/api/v1/market/ledger/trial-balance")
        assert.strictEqual(at(books, "balanced"), true)
        const accounts = at(books, "accounts") as ReadonlyArray<Readonly<Record<string, unknown>>>
        const balances = Object.fromEntries(accounts.map((one) => [one["account"], Number(one["balance_microcents"])]))
        assert.include(balances, { wallet: 937_655, provider: 56_110, platform_fee: 6_235 })
      }),
    180_000
  )

  it.live(
    "calls providers that use the official SDKs, old and new, and pays each",
    () =>
      Effect.gen(function* () {
        const service = yield* serve("unused", { profile: "memory" })
        const consumer = yield* ask(service, {
          path: "/api/market/register-consumer",
          json: { name: "Curious Agent", email: "agent@example.org" }
        })
        const key = String(at(consumer.json, "api_key"))
        yield* ask(service, { path: "/api/market/balance/load", key, json: { amount_cents: 100 } })
        const servers = [
          yield* sdk2Server(),
          yield* sdk1Server({ stateful: true }),
          yield* sdk1Server({ stateful: false })
        ]
        for (const { url } of servers) {
          const tools = ["echo", "fail", "structured", "progress"].map((tool_name) => ({
            tool_name,
            price_microcents: 1_000,
            free_tier_calls: 0
          }))
          const provider = yield* ask(service, {
            path: "/api/market/register-provider",
            json: { name: "A provider", email: "owner@example.org", endpoint_url: url, tools }
          })
          const call = (tool_name: string) =>
            ask(service, {
              path: "/api/market/proxy",
              key,
              json: { tool_name, provider_id: at(provider.json, "provider_id"), input: { says: "Grüße" } }
            })
          assert.strictEqual(at((yield* call("echo")).json, "result", "content", 0, "text"), '{"says":"Grüße"}')
          const structured = at((yield* call("structured")).json, "result", "structuredContent")
          assert.deepStrictEqual(structured, { temperature: 21.5, tags: ["a"] })
          assert.strictEqual(at((yield* call("progress")).json, "result", "content", 0, "text"), "after progress")
          const failed = yield* call("fail")
          assert.strictEqual(failed.status, 200)
          assert.strictEqual(at(failed.json, "meta", "outcome"), "error")
          assert.strictEqual(at(failed.json, "result", "content", 0, "text"), "it did not work")
        }
        const balance = yield* ask(service, { path: "/api/v1/market/balance", key })
        assert.strictEqual(at(balance.json, "balance_microcents"), 1_000_000 - 9 * 1_000)
      }),
    180_000
  )
})
