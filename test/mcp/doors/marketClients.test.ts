/**
 * The official MCP clients at the market door of a running service, with nothing but a URL and a key: they search, read,
 * quote and call, are rejected for lack of funds, and learn that the toolbox has changed.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { OFFICIAL_CLIENTS } from "../../support/mcp/OfficialClients.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"

const promise = Effect.promise

const echoing = scriptedServer({
  era: "modern",
  onCall: (seen, response) =>
    json(response, result(seen, { content: [{ type: "text", text: JSON.stringify(seen.params["arguments"]) }] }))
})

for (const [name, connect] of OFFICIAL_CLIENTS) {
  it.live(
    `${name}: searches, describes, quotes and calls, is rejected, and hears of changes of the toolbox`,
    () =>
      Effect.gen(function* () {
        const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", DEMO_PROVIDER: "off" })
        const server = yield* echoing
        const provider = yield* post(`${url}/api/market/register-provider`, {
          name: "Echo Works",
          email: "echo@example.org",
          endpoint_url: server.url,
          tools: [
            { tool_name: "echo", description: "Repeats everything.", price_microcents: 2_000, free_tier_calls: 0 }
          ]
        })
        assert.strictEqual(provider.status, 201)
        const consumer = yield* post(`${url}/api/market/register-consumer`, { name: "Agent", email: "a@example.org" })
        const key = String(consumer.body["api_key"])
        let changes = 0
        const client = yield* Effect.acquireRelease(
          promise(() => connect(`${url}/mcp`, key, () => void changes++)),
          (connected) => promise(() => connected.close())
        )
        const call = (tool: string, args: Readonly<Record<string, unknown>>) => promise(() => client.call(tool, args))

        const own = yield* promise(() => client.names())
        assert.deepStrictEqual([...own].toSorted(), ["balance", "call_tool", "describe_tool", "quote", "search_tools"])
        const found = yield* call("search_tools", { query: "repeats" })
        const [{ tool }] = found.structured!["tools"] as readonly [{ readonly tool: string }]
        assert.strictEqual(tool, "echo-works/echo")
        assert.strictEqual((yield* call("describe_tool", { tool })).structured!["price_microcents"], 2_000)
        assert.strictEqual((yield* call("quote", { tool })).structured!["sufficient_funds"], false)
        const rejected = yield* call("call_tool", { tool, arguments: { n: 1 } })
        assert.isTrue(rejected.isError)
        assert.include(
          rejected.text,
          "Insufficient balance: this call costs $0.002 and $0.00 is available. Add funds at"
        )

        yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
        assert.strictEqual((yield* call("call_tool", { tool, arguments: { n: 1 } })).text, '{"n":1}')
        assert.strictEqual((yield* call("balance", {})).structured!["available_microcents"], 998_000)

        yield* post(`${url}/api/market/toolbox`, { tools: [tool] }, key)
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => changes >= 1 })
        assert.include(yield* promise(() => client.names()), "echo-works__echo")
        assert.strictEqual((yield* call("echo-works__echo", { n: 2 })).text, '{"n":2}')
        const before = changes
        yield* post(
          `${url}/api/market/tools`,
          { tools: [{ tool_name: "echo", price_microcents: 1_000 }] },
          String(provider.body["api_key"])
        )
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => changes > before })
      }).pipe(Effect.scoped),
    { timeout: 180_000 }
  )
}
