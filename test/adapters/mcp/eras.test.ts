/**
 * The era of a server is detected once, cached, and detected again where it proves wrong.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { json, result, rpcError, scriptedServer, type Seen, text } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually, makeUpstream } from "../../support/mcp/McpClient.ts"

const methodsOf = (seen: ReadonlyArray<Seen>) => seen.map(({ http, method }) => method ?? http)

const ok = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

describe("the era", () => {
  it.live("a modern server is probed once, and its tools are read once", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: ok })
      const upstream = yield* makeUpstream()
      for (let n = 0; n < 3; n++) yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual(methodsOf(server.seen), [
        "server/discover",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/call"
      ])
      const [call] = server.of("tools/call")
      assert.strictEqual(call?.headers["mcp-protocol-version"], "2026-07-28")
      assert.strictEqual(call?.headers["mcp-method"], "tools/call")
      assert.strictEqual(call?.headers["mcp-name"], "echo")
      assert.isUndefined(call?.headers["mcp-session-id"])
      assert.containsAllKeys(call?.params["_meta"], [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities"
      ])
    })
  )

  it.live("a legacy server gets its handshake once, and its session on every request", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: ok })
      const upstream = yield* makeUpstream()
      for (let n = 0; n < 3; n++) yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual(methodsOf(server.seen), [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
        "tools/call",
        "tools/call"
      ])
      for (const seen of server.seen.slice(2)) {
        assert.strictEqual(seen.headers["mcp-session-id"], "session-1")
        assert.strictEqual(seen.headers["mcp-protocol-version"], "2025-11-25")
      }
      assert.isUndefined(server.of("initialize")[0]?.headers["mcp-session-id"])
      const [called] = server.of("tools/call")
      assert.deepStrictEqual(called?.params["_meta"], { progressToken: called?.id })
    })
  )

  it.live("concurrent callers share one handshake, and one who disconnects does not end it", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const upstream = yield* makeUpstream()
      const first = yield* Effect.forkChild(upstream.call(upstreamCall(server.url)), { startImmediately: true })
      const others = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 50 }, () => upstream.call(upstreamCall(server.url))),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(first)
      const answers = yield* Fiber.join(others)
      assert.isTrue(answers.every(({ status }) => status === "success"))
      assert.strictEqual(server.seen.methods.filter((method) => method === "initialize").length, 1)
    })
  )

  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    it.live(`a server that negotiates ${version} is called with it`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era: "stateful",
          onCall: ok,
          onOther: (seen, response) => {
            if (seen.method !== "initialize") return false
            json(response, result(seen, { protocolVersion: version, capabilities: {}, serverInfo: {} }))
            return true
          }
        })
        const upstream = yield* makeUpstream()
        const answer = yield* upstream.call(upstreamCall(server.url))
        assert.strictEqual(answer.status, "success")
        const header = server.of("tools/call")[0]?.headers["mcp-protocol-version"]
        assert.strictEqual(header, version >= "2025-06-18" ? version : undefined)
      })
    )
  }

  it.live("a server that negotiates an unknown version is an error, and no tool is called", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: ok,
        onOther: (seen, response) => {
          if (seen.method !== "initialize") return false
          json(response, result(seen, { protocolVersion: "2031-01-01", capabilities: {} }))
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.problem?.kind], ["error", "malformed_answer"])
      assert.strictEqual(server.of("tools/call").length, 0)
    })
  )

  it.live("a server that does not answer the modern probe is called as legacy", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateless",
        onCall: ok,
        onOther: (seen) => seen.method === "server/discover"
      })
      const upstream = yield* makeUpstream({ probeTimeoutMs: 100 })
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.attempts], ["success", 1])
    })
  )

  it.live("a handshake that is rejected with 429 or 5xx ends in that outcome, and is repeated by the next call", () =>
    Effect.gen(function* () {
      let refuseWith = 429
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: ok,
        onOther: (_seen, response) => {
          if (refuseWith !== 0) response.writeHead(refuseWith, { "retry-after": "3" }).end()
          return refuseWith !== 0
        }
      })
      const upstream = yield* makeUpstream()
      const limited = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([limited.status, limited.problem?.retryAfterSeconds], ["rate_limited", 3])
      refuseWith = 502
      const broken = yield* upstream.call(upstreamCall(server.url, { retriesMax: 0 }))
      assert.deepStrictEqual([broken.status, broken.problem?.httpStatus], ["error", 502])
      refuseWith = 0
      const fine = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(fine.status, "success")
    })
  )

  it.live("a modern server that rejects the version at first, and names the same one, is probed again", () =>
    Effect.gen(function* () {
      let refusals = 0
      const server = yield* scriptedServer({
        era: "modern",
        onCall: ok,
        onOther: (seen, response) => {
          if (seen.method !== "server/discover" || refusals++ > 0) return false
          const data = { supported: ["2026-07-28"], requested: "2026-07-28" }
          json(response, rpcError(seen, -32022, "Unsupported protocol version", data), 400)
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(answer.status, "success")
      assert.strictEqual(server.of("initialize").length, 0)
    })
  )

  it.live("a server that changes its era is detected in the next call, in either direction", () =>
    Effect.gen(function* () {
      let modern = true
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => {
          const asModern = seen.headers["mcp-method"] !== undefined
          if (asModern === modern) return ok(seen, response)
          const rejection = modern
            ? rpcError(seen, -32022, "Unsupported protocol version", {
                supported: ["2026-07-28"],
                requested: "2025-11-25"
              })
            : rpcError(seen, -32000, "Bad Request: Unsupported protocol version")
          return json(response, rejection, 400)
        },
        onOther: (seen, response) => {
          if (modern) return false
          if (seen.method === "initialize") {
            json(response, result(seen, { protocolVersion: "2025-06-18", capabilities: {} }), 200, {
              "mcp-session-id": "s-1"
            })
          } else if (seen.id === undefined) response.writeHead(202).end()
          else json(response, rpcError(seen, -32000, "Bad Request: Unsupported protocol version"), 400)
          return true
        }
      })
      const upstream = yield* makeUpstream()
      for (const next of [true, false, true]) {
        modern = next
        const answer = yield* upstream.call(upstreamCall(server.url))
        assert.deepStrictEqual([answer.status, answer.attempts], ["success", 1])
      }
    })
  )

  it.live("a 2.x server that stops serving the legacy era is detected too", () =>
    Effect.gen(function* () {
      const dual = yield* sdk2Server()
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(dual.url))
      assert.strictEqual(answer.status, "success")
      assert.deepStrictEqual(dual.seen.versions, ["2026-07-28", "2026-07-28", "2026-07-28"])
    })
  )

  it.live("a tool that requires new headers gets them, and runs once", () =>
    Effect.gen(function* () {
      let wanted = false
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => {
          if (!wanted || seen.headers["mcp-param-region"] === "eu") return ok(seen, response)
          return json(response, rpcError(seen, -32020, "Header mismatch"), 400)
        },
        onOther: (seen, response) => {
          if (seen.method !== "tools/list") return false
          const properties = { region: { type: "string", ...(wanted ? { "x-mcp-header": "Region" } : {}) } }
          json(response, result(seen, { tools: [{ name: "echo", inputSchema: { type: "object", properties } }] }))
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const call = upstreamCall(server.url, { arguments: { region: "eu" } })
      yield* upstream.call(call)
      wanted = true
      const answer = yield* upstream.call(call)
      assert.deepStrictEqual([answer.status, answer.attempts], ["success", 1])
      assert.strictEqual(server.of("tools/list").length, 2)
    })
  )

  it.live("the tool list is read again when it expires, beside the calls", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: ok })
      const upstream = yield* makeUpstream({ toolListTtlMs: 50 })
      yield* upstream.call(upstreamCall(server.url))
      yield* Effect.sleep(80)
      yield* upstream.call(upstreamCall(server.url))
      yield* eventually(() => server.of("tools/list").length === 2)
    })
  )

  it.live("a tool whose annotations are invalid is not called, and the others are", () =>
    Effect.gen(function* () {
      const tool = (name: string, header: string) => ({
        name,
        inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } }
      })
      const server = yield* scriptedServer({
        era: "modern",
        onCall: ok,
        onOther: (seen, response) => {
          if (seen.method !== "tools/list") return false
          const second = seen.params["cursor"] === "more"
          const page = second
            ? { tools: [tool("sound", "Region")] }
            : { tools: [tool("unsound", "a b")], nextCursor: "more" }
          json(response, result(seen, page))
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const args = { arguments: { region: "eu" } }
      const rejected = yield* upstream.call(upstreamCall(server.url, { toolName: "unsound", ...args }))
      assert.deepStrictEqual(
        [rejected.status, rejected.problem?.kind, rejected.attempts],
        ["error", "malformed_answer", 0]
      )
      const called = yield* upstream.call(upstreamCall(server.url, { toolName: "sound", ...args }))
      assert.strictEqual(called.status, "success")
      assert.deepStrictEqual(
        server.of("tools/call").map(({ headers }) => headers["mcp-param-region"]),
        ["eu"]
      )
    })
  )
})
