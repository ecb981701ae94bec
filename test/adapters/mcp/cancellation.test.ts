/**
 * A caller who disconnects ends the upstream call: the connection closes, and a server of the legacy era, where that
 * means nothing, gets a notification.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { scriptedServer, stream } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually, makeUpstream } from "../../support/mcp/McpClient.ts"

const slow = (url: string) => upstreamCall(url, { toolName: "slow" })

describe("a caller who disconnects", () => {
  for (const { name, server } of [
    { name: "SDK 1.x", server: sdk1Server({ stateful: true }) },
    { name: "SDK 2.x", server: sdk2Server() },
    { name: "SDK 2.x with streams", server: sdk2Server({ mode: "sse" }) }
  ]) {
    it.live(`stops the tool on a server of ${name} immediately`, () =>
      Effect.gen(function* () {
        const { seen, url } = yield* server
        const upstream = yield* makeUpstream()
        const fiber = yield* Effect.forkChild(upstream.call(slow(url)))
        yield* eventually(() => seen.calls.length === 1)
        yield* Fiber.interrupt(fiber)
        // Not canceled, it would run longer than this waits.
        yield* eventually(() => seen.canceled === 1)
      })
    )
  }

  it.live("sends notifications/cancelled with the request's id, in its session, and closes the connection", () =>
    Effect.gen(function* () {
      let closed = false
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (_seen, response) => {
          stream(response).write(": working\n\n")
          response.on("close", () => {
            closed = true
          })
        }
      })
      const upstream = yield* makeUpstream()
      const fiber = yield* Effect.forkChild(upstream.call(slow(server.url)))
      yield* eventually(() => server.of("tools/call").length === 1)
      yield* Fiber.interrupt(fiber)
      yield* eventually(() => closed && server.of("notifications/cancelled").length === 1)
      const [cancelled] = server.of("notifications/cancelled")
      assert.strictEqual(cancelled?.params["requestId"], server.of("tools/call")[0]?.id)
      assert.strictEqual(cancelled?.headers["mcp-session-id"], "session-1")
      assert.isUndefined(cancelled?.id)
    })
  )

  it.live("ends a stream that waits to be resumed, too", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (_seen, response) => {
          stream(response).end("id: one\nretry: 5000\ndata: \n\n")
        }
      })
      const upstream = yield* makeUpstream()
      const fiber = yield* Effect.forkChild(upstream.call(slow(server.url)))
      yield* eventually(() => server.of("tools/call").length === 1)
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(fiber)
      yield* eventually(() => server.of("notifications/cancelled").length === 1)
    })
  )

  it.live("only closes the connection of a modern server", () =>
    Effect.gen(function* () {
      let closed = false
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (_seen, response) => {
          response.on("close", () => {
            closed = true
          })
        }
      })
      const upstream = yield* makeUpstream()
      const fiber = yield* Effect.forkChild(upstream.call(slow(server.url)))
      yield* eventually(() => server.of("tools/call").length === 1)
      yield* Fiber.interrupt(fiber)
      yield* eventually(() => closed)
      assert.strictEqual(server.of("notifications/cancelled").length, 0)
    })
  )

  it.live("before its call was sent sends nothing at all", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: () => {} })
      const upstream = yield* makeUpstream({ socketsMax: 1 })
      const first = yield* Effect.forkChild(upstream.call(slow(server.url)))
      yield* eventually(() => server.of("tools/call").length === 1)
      const queued = yield* Effect.forkChild(upstream.call(slow(server.url)))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(queued)
      yield* Fiber.interrupt(first)
      yield* eventually(() => server.of("notifications/cancelled").length === 1)
      yield* Effect.sleep(50)
      assert.strictEqual(server.of("tools/call").length, 1)
      assert.strictEqual(server.of("notifications/cancelled").length, 1)
    })
  )
})

it.live("a call that times out is canceled as well", () =>
  Effect.gen(function* () {
    const { seen, url } = yield* sdk1Server({ stateful: true })
    const upstream = yield* makeUpstream()
    const answer = yield* upstream.call({ ...slow(url), timeoutMs: 2_000 })
    assert.strictEqual(answer.status, "timeout")
    yield* eventually(() => seen.canceled === 1)
  })
)
