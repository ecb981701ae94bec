/**
 * Calls to MCP servers as providers run them: each SDK generation, each era, JSON and event streams, with sessions
 * and without.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"

const caller = (url: string) =>
  Effect.map(
    makeUpstream(),
    (upstream) =>
      (toolName: string, args: Readonly<Record<string, unknown>> = {}, timeoutMs = 10_000) =>
        upstream.call(upstreamCall(url, { toolName, arguments: args, timeoutMs }))
  )

// Of a tool with an elicitation: this client declares no capability for it. A modern server returns an error; a
// legacy one with a stream gets a rejection, and one without waits for a response that cannot come.
const kinds = [
  { name: "SDK 2.x, 2026-07-28, JSON", server: sdk2Server(), era: "2026-07-28", asking: "json_rpc_error" },
  {
    name: "SDK 2.x, 2026-07-28 only",
    server: sdk2Server({ legacy: "reject" }),
    era: "2026-07-28",
    asking: "json_rpc_error"
  },
  {
    name: "SDK 2.x, 2026-07-28, streams",
    server: sdk2Server({ mode: "sse" }),
    era: "2026-07-28",
    asking: "json_rpc_error"
  },
  {
    name: "SDK 1.x with sessions, streams",
    server: sdk1Server({ stateful: true }),
    era: "2025-11-25",
    asking: "json_rpc_error"
  },
  {
    name: "SDK 1.x with sessions, JSON",
    server: sdk1Server({ stateful: true, json: true }),
    era: "2025-11-25",
    asking: "timeout"
  },
  { name: "SDK 1.x without sessions", server: sdk1Server({ stateful: false }), era: "2025-11-25", asking: "timeout" }
] as const

for (const kind of kinds) {
  describe(`calls to ${kind.name}`, () => {
    it.live("every kind of result is received, over one handshake", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* kind.server
        const call = yield* caller(url)
        const args = { city: "Zürich", n: 12, nested: { list: [1, null, "✓"] } }
        const echoed = yield* call("echo", args)
        assert.strictEqual(echoed.status, "success")
        assert.deepStrictEqual(echoed.result?.["content"], [{ type: "text", text: JSON.stringify(args) }])
        const failed = yield* call("fail")
        assert.deepStrictEqual([failed.status, failed.result?.["isError"]], ["error", true])
        const structured = yield* call("structured")
        assert.deepStrictEqual(structured.result?.["structuredContent"], { temperature: 21.5, tags: ["a"] })
        const progressed = yield* call("progress")
        assert.deepStrictEqual(progressed.result?.["content"], [{ type: "text", text: "after progress" }])
        const unknown = yield* call("no-such-tool")
        assert.strictEqual(unknown.status, "error")
        const handshakes = seen.methods.filter((method) => method === "initialize" || method === "server/discover")
        assert.deepStrictEqual(
          handshakes,
          kind.era === "2026-07-28" ? ["server/discover"] : ["server/discover", "initialize"]
        )
        assert.strictEqual(seen.versions.at(-1), kind.era)
      })
    )

    it.live("a tool that needs an elicitation is not a success", () =>
      Effect.gen(function* () {
        const { url } = yield* kind.server
        const call = yield* caller(url)
        // Only a server that asks and then waits takes the whole time.
        const answer = yield* call("ask", {}, kind.asking === "timeout" ? 500 : 30_000)
        assert.strictEqual(answer.problem?.kind, kind.asking)
      })
    )

    it.live("parameters that a tool requires as headers are sent as headers", () =>
      Effect.gen(function* () {
        const { url } = yield* kind.server
        const call = yield* caller(url)
        const answer = yield* call("regional", { region: "東京" })
        assert.strictEqual(answer.status, "success")
      })
    )
  })
}

describe("server-everything", () => {
  it.live(
    "its tools return results, structured content included",
    () =>
      Effect.gen(function* () {
        const { url } = yield* everythingServer
        const call = yield* caller(url)
        const echoed = yield* call("echo", { message: "hello there" })
        assert.deepStrictEqual(echoed.result?.["content"], [{ type: "text", text: "Echo: hello there" }])
        const weather = yield* call("get-structured-content", { location: "New York" })
        assert.isObject(weather.result?.["structuredContent"])
        const image = yield* call("get-tiny-image")
        const content = JSON.stringify(image.result?.["content"])
        assert.include(content, '"type":"image"')
        const links = yield* call("get-resource-links", { count: 2 })
        assert.strictEqual(links.status, "success")
        const long = yield* call("trigger-long-running-operation", { duration: 0.2, steps: 2 })
        assert.strictEqual(long.status, "success")
        const wrong = yield* call("get-sum", { a: "one", b: 2 })
        assert.strictEqual(wrong.status, "error")
      }),
    180_000
  )
})

describe("as a layer", () => {
  it.live("the port is provided, and its scope ends the sessions", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      yield* Effect.gen(function* () {
        const upstream = yield* ToolUpstream
        const answer = yield* upstream.call(upstreamCall(server.url))
        assert.strictEqual(answer.status, "success")
      }).pipe(Effect.provideServiceEffect(ToolUpstream, makeUpstream()), Effect.scoped)
      assert.strictEqual(server.seen.methods.at(-1), "DELETE")
    })
  )
})
