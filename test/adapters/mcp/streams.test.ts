/**
 * An event stream is more than a response: its server may send requests, and may close it early for the client to
 * resume.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { event, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually, makeUpstream } from "../../support/mcp/McpClient.ts"

describe("a stream", () => {
  it.live("answers its server's requests: a ping with a pong, anything else with an error", () =>
    Effect.gen(function* () {
      const answers: Array<string> = []
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          stream(response)
          response.write(event({ jsonrpc: "2.0", id: "p", method: "ping" }))
          response.write(event({ jsonrpc: "2.0", id: 7, method: "sampling/createMessage", params: {} }))
          setTimeout(() => response.end(event(result(seen, text("done")))), 100)
        },
        onOther: (seen, response) => {
          if (seen.method !== undefined || seen.http !== "POST") return false
          answers.push(seen.text)
          response.writeHead(202).end()
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(answer.status, "success")
      assert.deepStrictEqual(
        answers.map((one) => JSON.parse(one) as unknown),
        [
          { jsonrpc: "2.0", id: "p", result: {} },
          {
            jsonrpc: "2.0",
            id: 7,
            error: { code: -32601, message: "Not supported by this client: sampling/createMessage" }
          }
        ]
      )
    })
  )

  it.live("that its server closed early is resumed, after the requested wait", () =>
    Effect.gen(function* () {
      let call: Seen | undefined
      let closedAt = 0
      const waits: Array<number> = []
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          call = seen
          stream(response).end("id: one\nretry: 200\ndata: \n\n")
          closedAt = performance.now()
        },
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          waits.push(performance.now() - closedAt)
          if (waits.length === 1) {
            stream(response).end("id: two\ndata: \n\n")
            closedAt = performance.now()
          } else stream(response).end(event(result(call!, text("at last"))))
          return true
        }
      })
      const upstream = yield* makeUpstream({ resumptionDelayMs: 50 })
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.attempts], ["success", 1])
      assert.deepStrictEqual(answer.result, text("at last"))
      const gets = server.seen.filter(({ http }) => http === "GET")
      assert.deepStrictEqual(
        gets.map(({ headers }) => headers["last-event-id"]),
        ["one", "two"]
      )
      assert.isTrue(gets.every(({ headers }) => headers["mcp-session-id"] === "session-1"))
      assert.isAtLeast(waits[0] ?? 0, 195)
      assert.strictEqual(server.of("tools/call").length, 1)
    })
  )

  it.live("is not resumed immediately, even if its server requests that", () =>
    Effect.gen(function* () {
      let call: Seen | undefined
      let closedAt = 0
      const waits: Array<number> = []
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          call = seen
          stream(response).end("id: one\nretry: 0\ndata: \n\n")
          closedAt = performance.now()
        },
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          waits.push(performance.now() - closedAt)
          closedAt = performance.now()
          stream(response).end(waits.length < 3 ? "id: two\ndata: \n\n" : event(result(call!, text("at last"))))
          return true
        }
      })
      const answer = yield* (yield* makeUpstream({ resumptionDelayMs: 0 })).call(upstreamCall(server.url))
      assert.strictEqual(answer.status, "success")
      assert.strictEqual(waits.length, 3)
      for (const waitedMs of waits) assert.isAtLeast(waitedMs, 10)
    })
  )

  it.live("that cannot be resumed is an error, and the tool is not run again", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (_seen, response) => {
          stream(response).end("id: one\nretry: 1\ndata: \n\n")
        },
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          response.writeHead(405).end()
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["error", "connection", 1])
      assert.strictEqual(server.of("tools/call").length, 1)
    })
  )

  it.live("whose requested wait exceeds the deadline times out", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (_seen, response) => {
          stream(response).end("id: one\nretry: 60000\ndata: \n\n")
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url, { timeoutMs: 2_000 }))
      assert.deepStrictEqual([answer.status, answer.attempts], ["timeout", 1])
      yield* eventually(() => server.of("notifications/cancelled").length === 1)
    })
  )

  it.live("whose server sends too many requests gets a bounded number of responses", () =>
    Effect.gen(function* () {
      let answers = 0
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          stream(response)
          for (let n = 0; n < 200; n++) response.write(event({ jsonrpc: "2.0", id: n, method: "ping" }))
          setTimeout(() => response.end(event(result(seen, text("done")))), 200)
        },
        onOther: (seen, response) => {
          if (seen.method !== undefined || seen.http !== "POST") return false
          answers++
          response.writeHead(202).end()
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(answer.status, "success")
      assert.isAtMost(answers, 16)
    })
  )

  it.live("that stays open after its result is closed, and one that ends keeps its socket for the next call", () =>
    Effect.gen(function* () {
      let closedEarly = 0
      let keepOpen = false
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => {
          response.on("close", () => {
            if (!response.writableFinished) closedEarly++
          })
          stream(response).write(event(result(seen, text("done"))))
          if (!keepOpen) setTimeout(() => response.end(), 20)
        }
      })
      const upstream = yield* makeUpstream({ socketsMax: 1, lingerMs: 5_000 })
      for (let n = 0; n < 5; n++) yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(new Set(server.seen.map(({ socket }) => socket)).size, 1)
      assert.strictEqual(closedEarly, 0)
      keepOpen = true
      yield* upstream.call(upstreamCall(server.url))
      yield* eventually(() => closedEarly === 1)
    })
  )
})
