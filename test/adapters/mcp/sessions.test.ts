/**
 * One session serves all callers without mixing their results; it is renewed when it is lost, and pooled where a
 * server requires one for each request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { json, result, rpcError, scriptedServer, type Seen, text } from "../../../testing/mcp/ScriptedServer.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"

const ok = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

describe("sessions", () => {
  it.live("a lost session (404) is renewed within the attempt", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const upstream = yield* makeUpstream()
      yield* upstream.call(upstreamCall(server.url))
      server.forget()
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) => upstream.call(upstreamCall(server.url, { arguments: { n } }))),
        { concurrency: "unbounded" }
      )
      assert.isTrue(answers.every(({ attempts, status }) => status === "success" && attempts === 1))
      assert.strictEqual(server.seen.methods.filter((method) => method === "initialize").length, 2)
      assert.strictEqual(server.seen.calls.length, 21)
    })
  )

  it.live("a session that the server rejects with 400, as server-everything does, is renewed too", () =>
    Effect.gen(function* () {
      let known = "session-1"
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) =>
          seen.headers["mcp-session-id"] === known
            ? ok(seen, response)
            : json(response, rpcError(seen, -32000, "Bad Request: No valid session ID provided"), 400)
      })
      const upstream = yield* makeUpstream()
      yield* upstream.call(upstreamCall(server.url))
      known = "session-2"
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.attempts], ["success", 1])
    })
  )

  it.live("a server that loses every session immediately is an error, not a loop", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => json(response, rpcError(seen, -32001, "Session not found"), 404)
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.problem?.httpStatus], ["error", 404])
      assert.isAtMost(server.of("tools/call").length, 3)
    })
  )

  it.live("a server that allows one request at a time in a session gets several sessions", () =>
    Effect.gen(function* () {
      const busy = new Set<string>()
      let clashes = 0
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          const session = String(seen.headers["mcp-session-id"])
          if (busy.has(session)) {
            clashes++
            return json(response, rpcError(seen, -32000, "Conflict: a request is under way"), 409)
          }
          busy.add(session)
          return setTimeout(() => {
            busy.delete(session)
            json(response, result(seen, text(String((seen.params["arguments"] as { n: number }).n))))
          }, 10)
        }
      })
      const upstream = yield* makeUpstream({ exclusiveSessionsMax: 4 })
      const round = (from: number) =>
        Effect.all(
          Array.from({ length: 30 }, (_, n) => upstream.call(upstreamCall(server.url, { arguments: { n: from + n } }))),
          { concurrency: "unbounded" }
        )
      const first = yield* round(0)
      assert.deepStrictEqual(
        first.map(({ result: got }) => got?.["content"]),
        first.map((_, n) => text(String(n)).content)
      )
      const clashesBefore = clashes
      const second = yield* round(100)
      assert.isTrue(second.every(({ status }) => status === "success"))
      assert.strictEqual(clashes, clashesBefore)
      assert.isAtMost(server.of("initialize").length, 1 + 4)
    })
  )

  it.live("an exclusive session is freed when its caller disconnects", () =>
    Effect.gen(function* () {
      const busy = new Set<string>()
      let isHanging = true
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          const session = String(seen.headers["mcp-session-id"])
          if (busy.has(session)) return json(response, rpcError(seen, -32000, "Conflict"), 409)
          busy.add(session)
          response.on("close", () => busy.delete(session))
          return isHanging ? undefined : ok(seen, response)
        }
      })
      const upstream = yield* makeUpstream({ exclusiveSessionsMax: 1 })
      for (let n = 0; n < 3; n++) {
        yield* Effect.all([upstream.call(upstreamCall(server.url)), upstream.call(upstreamCall(server.url))], {
          concurrency: "unbounded"
        }).pipe(Effect.timeoutOption(100))
      }
      isHanging = false
      const answer = yield* upstream.call(upstreamCall(server.url, { timeoutMs: 20_000 }))
      assert.strictEqual(answer.status, "success")
    })
  )

  it.live(
    "five hundred concurrent calls over one session each get their own result",
    () =>
      Effect.gen(function* () {
        for (const server of [yield* sdk1Server({ stateful: true }), yield* sdk2Server()]) {
          const upstream = yield* makeUpstream()
          const answers = yield* Effect.all(
            Array.from({ length: 500 }, (_, n) =>
              upstream.call(upstreamCall(server.url, { timeoutMs: 50_000, arguments: { n, secret: `of caller ${n}` } }))
            ),
            { concurrency: "unbounded" }
          )
          for (const [n, answer] of answers.entries()) {
            assert.deepStrictEqual(
              answer.result?.["content"],
              text(JSON.stringify({ n, secret: `of caller ${n}` })).content
            )
          }
          assert.isAtMost(server.seen.methods.filter((method) => method === "initialize").length, 1)
        }
      }),
    180_000
  )

  it.live(
    "five hundred concurrent calls to server-everything do too",
    () =>
      Effect.gen(function* () {
        const { url } = yield* everythingServer
        const upstream = yield* makeUpstream()
        const answers = yield* Effect.all(
          Array.from({ length: 200 }, (_, n) =>
            upstream.call(upstreamCall(url, { timeoutMs: 50_000, arguments: { message: `number ${n}` } }))
          ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers.map(({ result: got }) => got?.["content"]),
          answers.map((_, n) => text(`Echo: number ${n}`).content)
        )
      }),
    180_000
  )
})
