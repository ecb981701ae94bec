/**
 * Servers that send too much, too slowly, or without end: every operation ends within its limits.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, json, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { publicOnly } from "../../../adapters/mcp/egress/AddressGuard.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../../contracts/providerServers.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"

type Response = Parameters<typeof json>[0]

const noCall = (seen: Seen, response: Response) => json(response, result(seen, text("ok")))

describe("any operation", () => {
  it.live("fails for an address that may not be called", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: noCall })
      const { servers } = yield* makeClient({ policy: publicOnly })
      const session = { version: "2025-11-25", sessionId: "s" }
      for (const at of [serverAt(server.url), serverAt("ftp://example.com/"), serverAt("no url")]) {
        for (const operation of [
          servers.profile(at),
          servers.tools(at, 0),
          servers.initialize(at, INITIALIZE, CONSUMER),
          servers.ask(at, passed("ping")),
          servers.ask(at, passed("ping", { inSession: true, session })),
          servers.tell(at, session, '{"id":1,"result":{}}', CONSUMER),
          servers.listen(at, session, undefined, CONSUMER, () => {})
        ]) {
          const failed = yield* Effect.flip(
            operation as Effect.Effect<unknown, { readonly problem: { readonly kind: string } }>
          )
          assert.strictEqual(failed.problem.kind, "blocked_endpoint")
        }
      }
      assert.strictEqual(server.connections(), 0)
    })
  )

  it.live("ends at its time limit on a stream that never ends", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "prompts/get") return false
          stream(response)
          const drip = setInterval(() => response.write(": still here\n\n"), 20)
          response.on("close", () => clearInterval(drip))
          return true
        }
      })
      const { servers } = yield* makeClient()
      const failed = yield* Effect.flip(servers.ask(serverAt(server.url), passed("prompts/get", { timeoutMs: 500 })))
      assert.strictEqual(failed.problem.kind, "timeout")
    })
  )

  it.live("ends at its size limit", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "resources/read") return false
          json(response, result(seen, { data: "x".repeat(200_000) }))
          return true
        }
      })
      const { servers } = yield* makeClient({ responseBodyBytesMax: 100_000 })
      const failed = yield* Effect.flip(servers.ask(serverAt(server.url), passed("resources/read")))
      assert.strictEqual(failed.problem.kind, "too_large")
    })
  )

  it.live("fails for a server that describes itself without end", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "initialize") return false
          const instructions = "x".repeat(10_000)
          json(
            response,
            result(seen, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {}, instructions })
          )
          return true
        }
      })
      const { servers } = yield* makeClient({ profileBytesMax: 5_000 })
      const failed = yield* Effect.flip(servers.profile(serverAt(server.url)))
      assert.strictEqual(failed.problem.kind, "too_large")
    })
  )
})

describe("a stream of messages", () => {
  const streaming = (write: (response: Response) => void) =>
    scriptedServer({
      era: "stateful",
      onCall: noCall,
      onOther: (seen, response) => {
        if (seen.http !== "GET") return false
        write(stream(response))
        return true
      }
    })
  const listenTo = (url: string, settings: Parameters<typeof makeClient>[0]) =>
    Effect.gen(function* () {
      let heard = 0
      const { servers } = yield* makeClient(settings)
      const { session } = yield* servers.initialize(serverAt(url), INITIALIZE, CONSUMER)
      const failed = yield* Effect.flip(servers.listen(serverAt(url), session, undefined, CONSUMER, () => void heard++))
      return { heard, kind: failed.problem.kind }
    })
  const one = event({ jsonrpc: "2.0", method: "n" })

  it.live("ends when the server floods it", () =>
    Effect.gen(function* () {
      const { url } = yield* streaming((response) => response.write(one.repeat(5_000)))
      assert.deepStrictEqual(yield* listenTo(url, { listenMessagesPerMinuteMax: 50 }), {
        heard: 50,
        kind: "overloaded"
      })
    })
  )

  it.live("ends at a message that is too large, and not at many small ones", () =>
    Effect.gen(function* () {
      const { url } = yield* streaming((response) => {
        // One by one, so that each arrives before the next.
        let left = 100
        const next = () => {
          if (left-- > 0) return void response.write(one, () => setImmediate(next))
          return void response.write(`data: ${"x".repeat(5_000)}`)
        }
        next()
      })
      const { heard, kind } = yield* listenTo(url, { messageBytesMax: 4_000 })
      assert.deepStrictEqual([heard, kind], [100, "too_large"])
    })
  )

  it.live("ends when the server sends only what is no message", () =>
    Effect.gen(function* () {
      const { url } = yield* streaming((response) => response.write("event: other\ndata: x\n\n".repeat(1_000)))
      assert.strictEqual((yield* listenTo(url, { messageBytesMax: 4_000 })).kind, "too_large")
    })
  )

  it.live("is limited in number for a consumer", () =>
    Effect.gen(function* () {
      const { url } = yield* streaming((response) => response.write(one))
      const { servers } = yield* makeClient({ listenersPerConsumerMax: 1 })
      const { session } = yield* servers.initialize(serverAt(url), INITIALIZE, CONSUMER)
      let opened = false
      const listen = servers.listen(serverAt(url), session, undefined, CONSUMER, () => (opened = true))
      yield* Effect.forkChild(listen)
      yield* eventually(() => opened)
      assert.strictEqual((yield* Effect.flip(listen)).problem.kind, "overloaded")
    })
  )
})
