/**
 * What a provider's door offers besides tool calls, over HTTP, in the modern era; and whom it admits.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { PRICE } from "../../support/load/LoadMarket.ts"
import { aDoor, ECHO, fine, LOADED, SETTINGS } from "../../support/mcp/ADoor.ts"
import { ask, at, bodyOf, errorCode, headersOf, metaOf, textOf } from "../../support/mcp/DoorClient.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

it.layer(RawHttp.layer(SETTINGS), LIVE)("A provider's door", (it) => {
  it.effect("lists what the server offers and the market lists, verbatim, with prices", () =>
    Effect.gen(function* () {
      const { key, send, url } = yield* aDoor(fine, { tool: { free_tier_calls: 3 } })
      const listed = yield* send({ method: "tools/list" })
      const tools = at(listed.body, "result", "tools") as ReadonlyArray<object>
      assert.strictEqual(tools.length, 1)
      const { _meta: meta, description, ...definition } = tools[0] as Record<string, unknown>
      const { description: _, ...verbatim } = ECHO
      assert.deepStrictEqual(definition, verbatim)
      assert.strictEqual(description, "Repeats. Costs $0.012345 per call after 3 free calls a month.")
      assert.deepInclude(at(meta, "agent-tool-billing/price") as object, {
        price_microcents: PRICE,
        max_cost_microcents: PRICE,
        billing_policy: "success",
        free_tier_remaining: 3,
        upcoming: null
      })
      assert.strictEqual(at(meta, "agents-x402/priceUSD"), PRICE / 1_000_000)
      assert.include(at(listed.body, "result") as object, { resultType: "complete", cacheScope: "private" })
      assert.isAbove(Number(at(listed.body, "result", "ttlMs")), 0)
      yield* send({ method: "tools/call", params: { name: "echo" } })
      const off = yield* ask({ url: `${url}?prices=off`, key, method: "tools/list" })
      assert.strictEqual(at(off.body, "result", "tools", 0, "description"), "Repeats.")
      const price = at(off.body, "result", "tools", 0, "_meta", "agent-tool-billing/price")
      assert.strictEqual(at(price, "free_tier_remaining"), 2)
      const lost = yield* send({ method: "tools/list", params: { cursor: "bm9uZQ" } })
      assert.deepStrictEqual(errorCode(lost), [200, -32_602])
    })
  )

  it.effect("describes the server, and passes other requests unbilled", () =>
    Effect.gen(function* () {
      const { wallet, send, server } = yield* aDoor(fine)
      const discovered = yield* send({ method: "server/discover" })
      assert.deepInclude(at(discovered.body, "result") as object, {
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
        instructions: "Be kind.",
        cacheScope: "private"
      })
      assert.include(at(discovered.body, "result", "supportedVersions") as ReadonlyArray<string>, "2026-07-28")
      const info = at(discovered.body, "result", "_meta", "io.modelcontextprotocol/serverInfo")
      assert.deepStrictEqual(info, { name: "scripted", version: "1" })
      const prompts = yield* send({ method: "prompts/list" })
      assert.deepStrictEqual(at(prompts.body, "result"), {
        resultType: "complete",
        prompts: [{ name: "p" }],
        ttlMs: 9,
        other: 1,
        cacheScope: "private"
      })
      const read = yield* send({ method: "resources/read", params: { uri: "file:///a" } })
      assert.deepInclude(at(read.body, "result") as object, { ttlMs: 0, cacheScope: "private" })
      assert.deepStrictEqual(errorCode(yield* send({ method: "no/such" })), [404, -32_601])
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      assert.strictEqual(server.of("tools/call").length, 0)
    })
  )

  it.effect("rejects faults of the protocol with their codes, the id, and HTTP statuses", () =>
    Effect.gen(function* () {
      const { key, send, server, url } = yield* aDoor(fine)
      const unknown = yield* send({ method: "tools/call", params: { name: "hidden" } })
      assert.deepStrictEqual(errorCode(unknown), [200, -32_602])
      for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
        assert.deepStrictEqual(errorCode(yield* send({ method, id: "x" })), [404, -32_601])
      }
      const version = { "io.modelcontextprotocol/protocolVersion": "v999.0.0" }
      const other = yield* send({
        method: "tools/list",
        meta: version,
        headers: { "mcp-protocol-version": "v999.0.0" }
      })
      assert.deepStrictEqual(errorCode(other), [400, -32_022])
      assert.strictEqual(at(other.body, "error", "data", "requested"), "v999.0.0")
      assert.deepStrictEqual(errorCode(yield* send({ method: "tools/list", meta: version })), [400, -32_020])
      const call = { method: "tools/call", params: { name: "echo", arguments: {} } }
      for (const headers of [{ "mcp-method": "tools/list" }, { "mcp-name": "other" }, { "mcp-method": "TOOLS/CALL" }]) {
        assert.deepStrictEqual(errorCode(yield* send({ ...call, headers })), [400, -32_020])
      }
      yield* send({ method: "tools/list" })
      const regional = { method: "tools/call", params: { name: "echo", arguments: { region: "Hello" } } }
      assert.deepStrictEqual(errorCode(yield* send(regional)), [400, -32_020])
      for (const header of ["=?base64?SGVsbG8?=", "hello"]) {
        const sent = yield* send({ ...regional, headers: { "mcp-param-region": header } })
        assert.deepStrictEqual(errorCode(sent), [400, -32_020])
      }
      assert.strictEqual(server.of("tools/call").length, 0)
      const right = yield* send({ ...regional, headers: { "mcp-param-region": "=?base64?SGVsbG8=?=" } })
      assert.strictEqual(textOf(right), "fine")
      const capabilities = { "io.modelcontextprotocol/clientCapabilities": undefined }
      assert.deepStrictEqual(errorCode(yield* send({ method: "tools/list", meta: capabilities })), [400, -32_602])
      const asked = { url, key, method: "tools/list" }
      const raw = (body: string) =>
        Effect.promise(() => fetch(url, { method: "POST", headers: headersOf(asked), body }).then((r) => r.status))
      for (const body of ["", "{", `[${bodyOf(asked)}]`, '{"jsonrpc":"2.0","id":1,"result":{}}']) {
        assert.strictEqual(yield* raw(body), 400, body)
      }
      const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { _meta: metaOf() } })
      assert.strictEqual(yield* raw(notification), 202)
    })
  )

  it.effect("asks for a key before anything else, in either header", () =>
    Effect.gen(function* () {
      const { key, providerKey, url } = yield* aDoor(fine)
      const status = (method: string, headers: Record<string, string> = {}) =>
        Effect.promise(() => fetch(url, { method, headers }).then((r) => [r.status, r.headers.get("www-authenticate")]))
      for (const method of ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD"]) {
        assert.deepStrictEqual(yield* status(method), [401, "Bearer"], method)
        const wrong = { authorization: `Bearer ${key.slice(0, -1)}x` }
        assert.deepStrictEqual(yield* status(method, wrong), [401, "Bearer"], method)
      }
      assert.deepStrictEqual(yield* status("PUT", { "x-api-key": key }), [405, null])
      assert.deepStrictEqual(yield* status("POST", { authorization: `Bearer ${providerKey}` }), [403, null])
      const byHeader = yield* ask({ url, method: "tools/list", headers: { "x-api-key": key } })
      assert.strictEqual(byHeader.status, 200)
      const unknown = yield* ask({ url: `${url.slice(0, -1)}~`, key, method: "tools/list" })
      assert.strictEqual(unknown.status, 404)
    })
  )

  it.effect("accepts web pages of its own and of localhost only", () =>
    Effect.gen(function* () {
      const { send } = yield* aDoor(fine)
      const from = (origin: string) => Effect.map(send({ method: "tools/list", headers: { origin } }), (a) => a.status)
      for (const origin of ["http://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil"]) {
        assert.strictEqual(yield* from(origin), 403, origin)
      }
      for (const origin of ["http://localhost:6274", "http://127.0.0.1", "http://[::1]:1"]) {
        assert.strictEqual(yield* from(origin), 200, origin)
      }
    })
  )
})
