/**
 * Calls of a caller that speaks MCP itself: what reaches the server, and what comes back before the result.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { McpExchange, UpstreamCall } from "../../../domain/metering/ToolUpstream.ts"
import {
  event,
  json,
  result,
  rpcError,
  scriptedServer,
  type Seen,
  stream,
  text
} from "../../../testing/mcp/ScriptedServer.ts"
import { INITIALIZE, serverAt } from "../../contracts/providerServers.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/RealServers.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const exchange = (over: Partial<McpExchange> = {}): McpExchange => ({
  arguments: "{}",
  meta: undefined,
  otherParams: undefined,
  capabilities: undefined,
  clientInfo: undefined,
  era: "modern",
  session: undefined,
  requestId: "1",
  progressToken: undefined,
  onMessage: () => {},
  ...over
})

const ok = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

const told = (params: unknown) => event({ jsonrpc: "2.0", method: "notifications/progress", params })

/** The text of the params of the only call. */
const paramsIn = (seen: Seen) => seen.text.slice(seen.text.indexOf('"params":') + '"params":'.length, -1)

const over = (endpointUrl: string, mcp: McpExchange, call: Partial<UpstreamCall> = {}) =>
  upstreamCall(endpointUrl, { exchange: mcp, arguments: JSON.parse(mcp.arguments), ...call })

describe("the exchange of a caller", () => {
  it.live("passes arguments as they were written, with numbers that no double holds", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: ok })
      const { upstream } = yield* makeClient()
      const written = `{ "n": 12345678901234567890, "m":1.50,"\\u0061":[ 1E400 ] }`
      yield* upstream.call(over(server.url, exchange({ arguments: written })))
      assert.include(server.of("tools/call")[0]!.text, `"arguments":${written}`)
    })
  )

  it.live("tells a server of the same era what the caller can do", () =>
    Effect.gen(function* () {
      const caller = exchange({
        capabilities: `{"elicitation":{"form":{}}}`,
        clientInfo: `{"name":"a client","version":"9"}`,
        meta: `{"traceparent":"00-1","example.com/note":1.0}`,
        otherParams: `"inputResponses":{"who":{"action":"accept"}},"requestState":"opaque"`,
        progressToken: `"token of the caller"`
      })
      const modern = yield* scriptedServer({ era: "modern", onCall: ok })
      const legacy = yield* scriptedServer({ era: "stateful", onCall: ok })
      const { upstream } = yield* makeClient()
      yield* upstream.call(over(modern.url, caller))
      yield* upstream.call(over(legacy.url, caller))
      const same = modern.of("tools/call")[0]!
      assert.deepStrictEqual(same.params["_meta"], {
        traceparent: "00-1",
        "example.com/note": 1,
        progressToken: same.id,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "a client", version: "9" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } }
      })
      assert.include(same.text, `"example.com/note":1.0`)
      assert.deepStrictEqual(same.params["inputResponses"], { who: { action: "accept" } })
      assert.strictEqual(same.params["requestState"], "opaque")
      const other = legacy.of("tools/call")[0]!
      assert.hasAllKeys(other.params, ["name", "arguments", "_meta"])
      assert.deepStrictEqual(other.params["_meta"], {
        traceparent: "00-1",
        "example.com/note": 1,
        progressToken: other.id
      })
    })
  )

  it.live("cannot write what the provider reads as the service's own", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: ok })
      const { upstream } = yield* makeClient()
      const caller = exchange({
        meta: JSON.stringify({
          "market/max_cost_microcents": 1,
          "market/\u006dine": 1,
          "agent-tool-billing/idempotency_key": "k",
          "agent-tool-billing/max_cost_microcents": 1,
          "io.modelcontextprotocol/protocolVersion": "1900-01-01",
          "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
          progressToken: "of another request"
        }),
        otherParams: `"name":"another_tool","arguments":{"stolen":true},"n\\u0061me":"x","_meta":{"a":1}`
      })
      yield* upstream.call(over(server.url, caller, { maxCost: 777n as never }))
      const seen = server.of("tools/call")[0]!
      assert.deepStrictEqual(JSON.parse(paramsIn(seen)), {
        name: "echo",
        arguments: {},
        _meta: {
          "market/max_cost_microcents": 777,
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "agent-tool-billing", version: "0.4.0" },
          "io.modelcontextprotocol/clientCapabilities": {}
        }
      })
      assert.strictEqual(seen.headers["mcp-name"], "echo")
      assert.strictEqual(seen.text.match(/max_cost/gu)?.length, 1)
    })
  )

  for (const era of ["modern", "stateful"] as const) {
    it.live(`passes notifications of a ${era} server on, with the caller's progress token`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era,
          onCall: (seen, response) => {
            const { progressToken } = seen.params["_meta"] as { readonly progressToken: unknown }
            stream(response)
            response.write(told({ progressToken, progress: 1.5, secret: "kept" }))
            response.write(told({ progressToken: "of another caller", progress: 2 }))
            response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } }))
            response.write(event({ jsonrpc: "2.0", id: "s1", method: "sampling/createMessage", params: {} }))
            response.end(event(result(seen, text("done"))))
          }
        })
        const heard: Array<unknown> = []
        const { upstream } = yield* makeClient()
        const answer = yield* upstream.call(
          over(
            server.url,
            exchange({ progressToken: `"tok\\u0065n"`, onMessage: (message) => heard.push(JSON.parse(message)) })
          )
        )
        assert.strictEqual(answer.status, "success")
        assert.deepStrictEqual(heard, [
          {
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: { progressToken: "token", progress: 1.5, secret: "kept" }
          },
          { jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } }
        ])
        // A legacy server on the shared session gets an answer from this service.
        if (era === "stateful") yield* eventually(() => server.seen.some((one) => one.text.includes('"id":"s1"')))
      })
    )
  }

  it.live("has a request id that no caller can choose", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: ok })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      const call = over(server.url, exchange({ era: "legacy", session, requestId: "5" }))
      const answers = yield* Effect.all([upstream.call(call), upstream.call(call)], { concurrency: 2 })
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        ["success", "success"]
      )
      const ids = server.of("tools/call").map(({ id }) => String(id))
      assert.strictEqual(new Set(ids).size, 2)
      for (const id of ids) assert.include(id, call.invocationId)
    })
  )
})

describe("a call in a session of the caller's own", () => {
  it.live("passes requests of the server on, and the caller's answers back", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const { servers, upstream } = yield* makeClient()
      const at = serverAt(server.url)
      const call = upstreamCall(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, call.consumerId)
      yield* servers.tell(at, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, call.consumerId)
      const asked: Array<{ readonly id: number; readonly method: string }> = []
      yield* Effect.forkChild(
        Effect.andThen(
          eventually(() => asked.length > 0),
          Effect.suspend(() => {
            const declined = { jsonrpc: "2.0", id: asked[0]!.id, result: { action: "decline" } }
            return servers.tell(at, session, JSON.stringify(declined), call.consumerId)
          })
        )
      )
      const onMessage = (message: string) => asked.push(JSON.parse(message))
      const mcp = exchange({ era: "legacy", session, onMessage })
      const answer = yield* upstream.call(over(server.url, mcp, { toolName: "ask" }))
      assert.strictEqual(asked[0]?.method, "elicitation/create")
      // The tool goes on after the answer, and fails for a reason of its own.
      assert.strictEqual(answer.problem?.kind, "json_rpc_error")
    })
  )

  it.live("ends as a lost session where the server does not know it, and runs nothing", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      server.forget()
      const answer = yield* upstream.call(over(server.url, exchange({ era: "legacy", session })))
      assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["error", "session_lost", 0])
      assert.deepStrictEqual(server.seen.calls, [])
      // The shared session of other callers is not affected.
      assert.strictEqual((yield* upstream.call(upstreamCall(server.url))).status, "success")
    })
  )

  it.live(
    "receives progress of server-everything with the caller's own token",
    () =>
      Effect.gen(function* () {
        const { url } = yield* everythingServer
        const { servers, upstream } = yield* makeClient()
        const call = upstreamCall(url)
        const { session } = yield* servers.initialize(serverAt(url), INITIALIZE, call.consumerId)
        const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
        yield* servers.tell(serverAt(url), session, initialized, call.consumerId)
        const heard: Array<{ readonly method: string; readonly params: { readonly progressToken: unknown } }> = []
        const answer = yield* upstream.call(
          over(
            url,
            exchange({
              era: "legacy",
              session,
              arguments: `{"duration":0.4,"steps":4}`,
              progressToken: `"mine"`,
              onMessage: (message) => heard.push(JSON.parse(message))
            }),
            { toolName: "trigger-long-running-operation" }
          )
        )
        assert.strictEqual(answer.status, "success")
        const progress = heard.filter(({ method }) => method === "notifications/progress")
        assert.deepStrictEqual(
          progress.map(({ params }) => params.progressToken),
          ["mine", "mine", "mine", "mine"]
        )
      }),
    120_000
  )
})

describe("a call that does not finish", () => {
  const pending = (era: McpExchange["era"], script: "modern" | "stateful", answer: unknown, mcp = true) =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: script,
        onCall: (seen, response) => json(response, result(seen, answer))
      })
      const { upstream } = yield* makeClient()
      return yield* upstream.call(mcp ? over(server.url, exchange({ era })) : upstreamCall(server.url))
    })
  const input = {
    resultType: "input_required",
    inputRequests: { who: { method: "elicitation/create" } },
    requestState: "s"
  }
  const task = { resultType: "task", taskId: "t", status: "working" }

  it.live("is reported verbatim to a caller of the same era, beside the failure", () =>
    Effect.gen(function* () {
      const waits = yield* pending("modern", "modern", input)
      assert.deepStrictEqual([waits.status, waits.problem?.kind, waits.result], ["error", "unfinished", undefined])
      assert.deepStrictEqual(waits.pending, {
        kind: "input_required",
        resultText: JSON.stringify(input),
        requestState: "s"
      })
      const works = yield* pending("modern", "modern", task)
      assert.deepStrictEqual(works.pending, { kind: "task", resultText: JSON.stringify(task) })
      const older = { task: { taskId: "t", status: "working" } }
      const legacy = yield* pending("legacy", "stateful", older)
      assert.deepStrictEqual(legacy.pending, { kind: "task", resultText: JSON.stringify(older) })
    })
  )

  it.live("is refused for every other caller", () =>
    Effect.gen(function* () {
      for (const answer of [
        yield* pending("legacy", "modern", input),
        yield* pending("modern", "stateful", { task: { taskId: "t" } }),
        yield* pending("modern", "modern", input, false)
      ]) {
        assert.deepStrictEqual([answer.status, answer.problem?.kind], ["error", "unfinished"])
        assert.isUndefined(answer.pending)
      }
    })
  )

  it.live("continues with the caller's input at a 2.x server", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* sdk2Server()
      const { upstream } = yield* makeClient()
      const answer = yield* upstream.call(
        over(url, exchange({ capabilities: `{"elicitation":{"form":{}}}` }), { toolName: "ask" })
      )
      assert.strictEqual(answer.pending?.kind, "input_required")
      assert.deepStrictEqual(seen.calls, [])
    })
  )
})

describe("a server that floods a caller", () => {
  it.live("is cut off at a number of messages, and its result still arrives", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => {
          stream(response)
          for (let n = 0; n < 5_000; n++) {
            response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: { n } }))
          }
          response.end(event(result(seen, text("done"))))
        }
      })
      let heard = 0
      const { upstream } = yield* makeClient({ messagesMax: 100 })
      const answer = yield* upstream.call(over(server.url, exchange({ onMessage: () => void heard++ })))
      assert.deepStrictEqual([answer.status, heard], ["success", 100])
    })
  )

  it.live("with requests in the caller's session gets refusals for those above the limit", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          stream(response)
          for (let n = 0; n < 8; n++) {
            response.write(event({ jsonrpc: "2.0", id: `s${n}`, method: "elicitation/create", params: {} }))
          }
          response.end(event(result(seen, text("done"))))
        }
      })
      const heard: Array<string> = []
      const { servers, upstream } = yield* makeClient({ messagesMax: 5 })
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      const mcp = exchange({ era: "legacy", session, onMessage: (message) => heard.push(message) })
      const answer = yield* upstream.call(over(server.url, mcp))
      assert.deepStrictEqual([answer.status, heard.length], ["success", 5])
      yield* eventually(() => server.seen.filter((one) => one.text.includes("-32601")).length === 3)
    })
  )

  it.live("with a message that is too large loses that message", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => {
          stream(response)
          response.write(
            event({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(2_000) } })
          )
          response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: { data: "y" } }))
          response.end(event(result(seen, text("done"))))
        }
      })
      const heard: Array<string> = []
      const { upstream } = yield* makeClient({ messageBytesMax: 1_000 })
      const answer = yield* upstream.call(over(server.url, exchange({ onMessage: (message) => heard.push(message) })))
      assert.strictEqual(answer.status, "success")
      assert.deepStrictEqual(
        heard.map((message) => (JSON.parse(message) as { readonly params: unknown }).params),
        [{ data: "y" }]
      )
    })
  )
})

describe("a rejection by the server", () => {
  it.live("is the outcome of a call with an exchange as of any other", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) =>
          json(
            response,
            rpcError(seen, -32021, "Missing required client capability", { requiredCapabilities: {} }),
            400
          )
      })
      const { upstream } = yield* makeClient()
      const answer = yield* upstream.call(over(server.url, exchange()))
      assert.deepStrictEqual([answer.problem?.kind, answer.problem?.rpcError?.code], ["json_rpc_error", -32021])
    })
  )
})
