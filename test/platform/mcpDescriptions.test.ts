/**
 * What programs read of the MCP endpoints: the indexes and the registry's server.json name the doors that exist.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { asked } from "../support/mcp/ModernClient.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const BASE_URL = "https://tools.market.example"
const PING = { jsonrpc: "2.0", id: 1, method: "ping" }

it.layer(ServiceUnderTest.memory({ BASE_URL }), LIVE)("descriptions of the MCP endpoints", (it) => {
  it.effect("name transport, URLs and how to authenticate, the same in each index", () =>
    Effect.gen(function* () {
      const [market, agents] = yield* Effect.forEach(["/api/market", "/.well-known/agents.json"], (path) =>
        Effect.map(expecting(200, { path }), (answer) => at(answer, "mcp"))
      )
      assert.deepStrictEqual(market, agents)
      assert.strictEqual(valueAt(market, "transport"), "streamable-http")
      assert.deepInclude(valueAt(market, "authentication"), {
        type: "bearer",
        header: "Authorization: Bearer <key>",
        register: `${BASE_URL}/api/market/register-consumer`
      })
      const urls = (valueAt(market, "servers") as ReadonlyArray<unknown>).map((one) => valueAt(one as never, "url"))
      for (const path of ["/mcp", "/mcp/{handle}"]) {
        const { status } = yield* send({ path: path.replace("{handle}", "any"), json: PING })
        // A door rejects requests without a key; other paths do not exist.
        assert.strictEqual(urls.includes(`${BASE_URL}${path}`), status === 401, path)
      }
      const { text } = yield* expecting(200, { path: "/llms.txt" })
      for (const url of urls) assert.include(text, `\`${String(url)}\``)
      const status = yield* expecting(200, { path: "/api/v1/status" })
      assert.deepStrictEqual(at(status, "protocols", "mcp"), valueAt(market, "protocol_versions"))
    })
  )

  it.effect("say what `/mcp` lists: its own tools, and those that the account has chosen", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const listed = yield* asked({ key, method: "tools/list" })
      const { text } = yield* expecting(200, { path: "/llms.txt" })
      const line = text.split("\n").find((one) => one.startsWith(`- \`${BASE_URL}/mcp\``))!
      const own = (listed["tools"] as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
      assert.sameMembers(
        [...line.matchAll(/`([a-z_]+)`/gu)].map(([, name]) => name!),
        own
      )
      // A provider's tool is listed once it is in the toolbox.
      assert.include(line, "`{provider}__{tool}`, the tools of your toolbox")
      assert.notInclude(line, "all providers")
    })
  )

  it.effect("name only URLs that answer: without a key, 401", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/server.json" })
      for (const remote of listAt(answer, "remotes")) {
        const path = String(valueAt(remote, "url")).slice(BASE_URL.length).replace("{handle}", "nobody")
        const reply = yield* send({ path, json: PING })
        assert.strictEqual(reply.status, 401, path)
      }
    })
  )

  it.effect("describe the service to the MCP registry", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/server.json" })
      assert.match(answer.headers["content-type"]!, /^application\/json/u)
      // The rules of the registry's schema for these fields.
      assert.strictEqual(
        textAt(answer, "$schema"),
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
      )
      assert.strictEqual(textAt(answer, "name"), "example.market.tools/agent-tool-billing")
      assert.match(textAt(answer, "name"), /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u)
      assert.isAtMost(textAt(answer, "description").length, 100)
      assert.match(textAt(answer, "version"), /^\d+\.\d+\.\d+$/u)
      for (const remote of listAt(answer, "remotes")) {
        const url = String(valueAt(remote, "url"))
        assert.strictEqual(valueAt(remote, "type"), "streamable-http")
        const [header] = valueAt(remote, "headers") as ReadonlyArray<object>
        assert.deepInclude(header!, {
          name: "Authorization",
          value: "Bearer {api_key}",
          isRequired: true,
          isSecret: true
        })
        const variables = [...url.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)
        assert.deepStrictEqual(Object.keys((valueAt(remote, "variables") ?? {}) as object), variables)
      }
    })
  )
})

it.layer(ServiceUnderTest.memory({ BASE_URL: "http://127.0.0.1:3000" }), LIVE)("server.json at an address", (it) => {
  it.effect("has a name of the registry's form", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/server.json" })
      assert.strictEqual(textAt(answer, "name"), "127.0.0.1/agent-tool-billing")
    })
  )
})
