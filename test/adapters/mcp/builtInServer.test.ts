/**
 * The demo provider's server behind the upstream client: every kind of call, and no way to it for other providers.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeDemoServer } from "../../../adapters/demo/DemoServer.ts"
import { demoTools } from "../../../adapters/demo/DemoTools.ts"
import { publicOnly } from "../../../adapters/mcp/egress/AddressGuard.ts"
import { DEMO_PROVIDER_ID } from "../../../domain/providers/BuiltInProvider.ts"
import { REPORTED_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import type { ToolProgress, UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const URL = "http://demo.invalid/mcp"

const demoUpstream = makeUpstream({
  policy: publicOnly,
  builtIn: { providerId: DEMO_PROVIDER_ID, open: makeDemoServer() }
})

const demoCall = (toolName: string, args: UpstreamCall["arguments"], over: Partial<UpstreamCall> = {}) =>
  upstreamCall(URL, { providerId: DEMO_PROVIDER_ID, toolName, arguments: args, ...over })

describe("the demo provider's server", () => {
  it.live("answers calls, with structured results and errors of its own", () =>
    Effect.gen(function* () {
      const { call } = yield* demoUpstream
      const echoed = yield* call(demoCall("echo", { message: "hello" }))
      assert.deepStrictEqual(
        [echoed.status, echoed.result?.["content"]],
        ["success", [{ type: "text", text: "hello" }]]
      )
      for (const element of ["Fe", "iron", " IRON ", "26"]) {
        const found = yield* call(demoCall("lookup_element", { element }))
        assert.deepStrictEqual(found.result?.["structuredContent"], {
          atomic_number: 26,
          symbol: "Fe",
          name: "Iron",
          atomic_weight: 55.845
        })
      }
      const unknown = yield* call(demoCall("lookup_element", { element: "phlogiston" }))
      assert.deepStrictEqual([unknown.status, unknown.result?.["isError"]], ["error", true])
      for (const { definition } of demoTools) {
        const empty = yield* call(demoCall(definition.name, { [definition.name]: {}, message: 1, text: [], from: "x" }))
        assert.strictEqual(empty.result?.["isError"], true, definition.name)
      }
      const missing = yield* call(demoCall("nothing", {}))
      assert.strictEqual(missing.problem?.kind, "json_rpc_error")
    })
  )

  it.live("reports the progress of a slow call, and what a usage-priced call costs", () =>
    Effect.gen(function* () {
      const { call } = yield* demoUpstream
      const heard: Array<ToolProgress> = []
      const slow = yield* call(demoCall("countdown", { from: 2 }, { onProgress: (one) => heard.push(one) }))
      assert.strictEqual(slow.status, "success")
      assert.deepStrictEqual(heard, [
        { progress: 1, total: 2, message: "1 left" },
        { progress: 2, total: 2, message: "0 left" }
      ])
      const costs = yield* Effect.forEach(["", "one", "one two\nthree", "w ".repeat(5_000)], (text) =>
        Effect.map(call(demoCall("count_words", { text })), ({ result }) => [
          (result!["structuredContent"] as { readonly words: number }).words,
          (result!["_meta"] as Readonly<Record<string, unknown>>)[REPORTED_COST_FIELD]
        ])
      )
      assert.deepStrictEqual(costs, [
        [0, 0],
        [1, 10],
        [3, 30],
        [5_000, 10_000]
      ])
    })
  )

  it.live("is not reached by any other provider, whatever its endpoint is", () =>
    Effect.gen(function* () {
      const { call } = yield* demoUpstream
      for (const url of [URL, "http://DEMO.invalid/mcp", "http://demo.invalid:80/mcp?x=1"]) {
        const stolen = yield* call(upstreamCall(url, { arguments: { message: "hello" } }))
        assert.isUndefined(stolen.result, url)
        assert.include(["blocked_endpoint", "connection"], stolen.problem?.kind, url)
      }
      for (const url of ["http://127.0.0.1:1/mcp", "http://localhost:1/mcp", "http://[::1]:1/mcp"]) {
        const blocked = yield* call(upstreamCall(url))
        assert.strictEqual(blocked.problem?.kind, "blocked_endpoint", url)
      }
    })
  )
})

/** As an MCP client of each era sends them, without the upstream client. */
const posted = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(() => {
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const socket = makeDemoServer()()
    const head = { host: "demo.invalid", connection: "close", "content-length": Buffer.byteLength(text), ...headers }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`)
    return new Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }>((resolve) => {
      let heard = ""
      socket.setEncoding("utf8")
      socket.on("data", (chunk: string) => (heard += chunk))
      socket.on("end", () => {
        const [start = "", rest = ""] = heard.split("\r\n\r\n")
        const json = /\{.*\}/su.exec(rest)?.[0] ?? "{}"
        resolve({ status: Number(start.split(" ")[1]), json: JSON.parse(json) as Readonly<Record<string, unknown>> })
      })
    })
  })

const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const MODERN_HEADERS = { "mcp-protocol-version": "2026-07-28" }

describe("the demo provider's server speaks", () => {
  it.live("the legacy era, in the version that the client names", () =>
    Effect.gen(function* () {
      for (const [asked, answered] of [
        ["2025-11-25", "2025-11-25"],
        ["2025-03-26", "2025-03-26"],
        ["1999-01-01", "2025-11-25"]
      ]) {
        const { json, status } = yield* posted({
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: asked, capabilities: {}, clientInfo: { name: "a", version: "1" } }
        })
        assert.strictEqual(status, 200)
        const { protocolVersion } = json["result"] as Readonly<Record<string, unknown>>
        assert.strictEqual(protocolVersion, answered)
      }
      const told = yield* posted({ jsonrpc: "2.0", method: "notifications/initialized" })
      assert.strictEqual(told.status, 202)
      const { json } = yield* posted({ jsonrpc: "2.0", id: "a", method: "tools/list" })
      const { tools, ...rest } = json["result"] as { readonly tools: ReadonlyArray<{ readonly name: string }> }
      assert.deepStrictEqual(rest, {})
      assert.sameMembers(
        tools.map(({ name }) => name),
        ["echo", "lookup_element", "countdown", "count_words"]
      )
    })
  )

  it.live("the modern era, and rejects headers that differ from the body", () =>
    Effect.gen(function* () {
      const ask = (method: string, params: object, headers: Readonly<Record<string, string>>) =>
        posted(
          { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: MODERN } },
          { ...MODERN_HEADERS, ...headers }
        )
      const discovered = yield* ask("server/discover", {}, { "mcp-method": "server/discover" })
      assert.deepInclude(discovered.json["result"] as object, {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        cacheScope: "public"
      })
      const named = { name: "echo", arguments: { message: "hello" } }
      const called = yield* ask("tools/call", named, { "mcp-method": "tools/call", "mcp-name": "echo" })
      assert.deepInclude(called.json["result"] as object, { resultType: "complete" })
      for (const headers of [
        { "mcp-method": "tools/list", "mcp-name": "echo" },
        { "mcp-method": "tools/call", "mcp-name": "countdown" },
        { "mcp-method": "tools/call" }
      ] as ReadonlyArray<Readonly<Record<string, string>>>) {
        const { json, status } = yield* ask("tools/call", named, headers)
        assert.deepStrictEqual([status, (json["error"] as { readonly code: number }).code], [400, -32020])
      }
      const unknown = yield* ask("resources/list", {}, { "mcp-method": "resources/list" })
      assert.strictEqual(unknown.status, 404)
    })
  )

  it.live("in errors to messages that are none", () =>
    Effect.gen(function* () {
      for (const body of ["", "{", "[]", "null", '"x"', JSON.stringify({ jsonrpc: "2.0", id: 1 })]) {
        const { json, status } = yield* posted(body)
        assert.strictEqual(status, 400, body)
        assert.property(json, "error", body)
      }
    })
  )
})
