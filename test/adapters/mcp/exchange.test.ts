/**
 * Calls of a caller that speaks MCP itself: what reaches the server, and what comes back before the result.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, json, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { INITIALIZE, serverAt } from "../../contracts/providerServers.ts"
import { exchange, exchangeCall as over } from "../../support/mcp/ExchangeCalls.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const ok = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

const told = (params: unknown) => event({ jsonrpc: "2.0", method: "notifications/progress", params })

/** The text of the params. */
const paramsIn = (seen: Seen) => seen.text.slice(seen.text.indexOf('"params":') + '"params":'.length, -1)

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
          progressToken: seen.id,
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

  it.live("has a request id that no caller can choose or guess", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: ok })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      const call = over(server.url, exchange({ inSession: true, session, requestId: "5" }))
      const answers = yield* Effect.all([upstream.call(call), upstream.call(call)], { concurrency: 2 })
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        ["success", "success"]
      )
      const ids = server.of("tools/call").map(({ id }) => String(id))
      assert.strictEqual(new Set(ids).size, 2)
      for (const id of ids) {
        assert.isTrue(id.startsWith(`${call.invocationId}.`))
        assert.match(id.slice(call.invocationId.length + 1), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u)
      }
    })
  )

  it.live("does not tell its request id as the progress token in the caller's session", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: ok })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      yield* upstream.call(over(server.url, exchange({ inSession: true, session })))
      const [{ id, params }] = server.of("tools/call") as readonly [Seen]
      const { progressToken } = params["_meta"] as { readonly progressToken: string }
      assert.match(progressToken, /^progress\.[0-9a-f-]{36}$/u)
      assert.notInclude(String(id), progressToken.slice("progress.".length))
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
      const capabilities = `{"elicitation":{}}`
      const mcp = exchange({ inSession: true, session, capabilities, onMessage: (message) => heard.push(message) })
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
