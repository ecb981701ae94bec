/**
 * Calls of a caller that speaks MCP itself: in a session of its own, and endings that other callers do not have.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, json, result, rpcError, scriptedServer, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { INITIALIZE, serverAt } from "../../contracts/providerServers.ts"
import { exchange, exchangeCall as over } from "../../support/mcp/ExchangeCalls.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

/** Of a client that its user can be asked through. */
const ASKABLE = `{"elicitation":{"form":{}}}`

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
      const mcp = exchange({ inSession: true, session, capabilities: ASKABLE, onMessage })
      const answer = yield* upstream.call(over(server.url, mcp, { toolName: "ask" }))
      assert.strictEqual(asked[0]?.method, "elicitation/create")
      // The tool goes on after the answer, and fails for a reason of its own.
      assert.strictEqual(answer.problem?.kind, "json_rpc_error")
    })
  )

  it.live("has the caller's own time beside the tool's", () =>
    Effect.gen(function* () {
      let respond: () => void = () => {}
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          stream(response).write(event({ jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} }))
          respond = () => response.end(event(result(seen, text("done"))))
        }
      })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      let extraMs = 0
      const call = (onMessage: () => void) =>
        upstream.call(
          over(server.url, exchange({ inSession: true, session, capabilities: ASKABLE, onMessage }), {
            timeoutMs: 200,
            extraMs: () => extraMs
          })
        )
      const answered = yield* call(() => {
        extraMs = 60_000
        setTimeout(() => {
          extraMs = 1_500
          respond()
        }, 1_500).unref()
      })
      assert.strictEqual(answered.status, "success")
      // Time that the caller did not use is no time of the tool.
      extraMs = 0
      const silent = yield* call(() => {
        extraMs = 60_000
        setTimeout(() => (extraMs = 0), 100).unref()
      })
      assert.strictEqual(silent.status, "timeout")
      assert.isBelow(silent.latencyMs, 30_000)
    })
  )

  it.live("ends as a lost session where the server does not know it, and runs nothing", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const { servers, upstream } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, upstreamCall("").consumerId)
      server.forget()
      const answer = yield* upstream.call(over(server.url, exchange({ inSession: true, session })))
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
              inSession: true,
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
  const pending = (era: "legacy" | "modern", script: "modern" | "stateful", answer: unknown, mcp = true) =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: script,
        onCall: (seen, response) => json(response, result(seen, answer))
      })
      const { upstream } = yield* makeClient()
      return yield* upstream.call(
        mcp
          ? over(server.url, exchange({ inSession: era === "legacy", capabilities: ASKABLE }))
          : upstreamCall(server.url)
      )
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
      assert.deepStrictEqual(legacy.pending, {
        kind: "task",
        resultText: JSON.stringify(older),
        session: { sessionId: "session-1", version: "2025-11-25" }
      })
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
