/**
 * Streams of messages of providers' servers: subscriptions of the modern era, and streams of the legacy era.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import type { ServerEvent } from "../../../domain/upstream/ProviderServers.ts"
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
import { CONSUMER, INITIALIZE, passed, serverAt } from "../../contracts/providerServers.ts"
import { eventually, makeClient, SIGNING_SECRET } from "../../support/mcp/McpClient.ts"
import { isSignedByMarket } from "../../support/mcp/ProviderCheck.ts"
import { everythingServer } from "../../support/mcp/servers/RealServers.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const noCall = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

describe("a subscription of the modern era", () => {
  it.live("lasts until the server ends it, with the client's own id", () =>
    Effect.gen(function* () {
      const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
      const server = yield* scriptedServer({
        era: "modern",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "subscriptions/listen") return false
          const _meta = { [SUBSCRIPTION]: seen.id }
          stream(response)
          for (const method of ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]) {
            response.write(event({ jsonrpc: "2.0", method, params: { _meta } }))
          }
          response.end(event(result(seen, { resultType: "complete", _meta })))
          return true
        }
      })
      const { servers } = yield* makeClient()
      const heard: Array<string> = []
      const request = passed("subscriptions/listen", {
        params: `{"notifications":{"toolsListChanged":true}}`,
        requestId: `"s-1"`,
        onMessage: (message) => heard.push(message)
      })
      const reply = yield* servers.ask(serverAt(server.url), request)
      assert.deepStrictEqual(reply, {
        _tag: "Result",
        result: `{"resultType":"complete","_meta":{"${SUBSCRIPTION}":"s-1"}}`
      })
      assert.deepStrictEqual(
        heard.map((message) => JSON.parse(message)),
        ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"].map((method) => ({
          jsonrpc: "2.0",
          method,
          params: { _meta: { [SUBSCRIPTION]: "s-1" } }
        }))
      )
    })
  )

  it.live("ends in order at its time limit, and does not take the sockets of calls", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "subscriptions/listen") return false
          stream(response).write(": here\n\n")
          return true
        }
      })
      const { servers, upstream } = yield* makeClient({ socketsMax: 1, inFlightMax: 2 })
      const at = serverAt(server.url)
      yield* upstream.call(upstreamCall(server.url))
      const listening = yield* Effect.forkChild(
        Effect.all(
          [1, 2, 3].map((id) =>
            servers.ask(at, passed("subscriptions/listen", { requestId: String(id), timeoutMs: 3_000 }))
          ),
          { concurrency: 3 }
        )
      )
      yield* eventually(() => server.of("subscriptions/listen").length === 3)
      assert.strictEqual((yield* upstream.call(upstreamCall(server.url))).status, "success")
      const replies = yield* Fiber.join(listening)
      assert.deepStrictEqual(
        replies.map(({ _tag }) => _tag),
        ["Result", "Result", "Result"]
      )
    })
  )
})

describe("the stream of a client's own session", () => {
  it.live("delivers messages with their ids until the server ends it, and resumes after one", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          const from = Number(seen.headers["last-event-id"] ?? 0)
          stream(response)
          for (let id = from + 1; id <= from + 2; id++) {
            response.write(`id: ${id}\ndata: {"jsonrpc":"2.0","method":"n","params":{"n":${id}.0}}\n\n`)
          }
          response.end(`data: {"jsonrpc":"2.0","method":"last"}\n\n`)
          return true
        }
      })
      const { servers } = yield* makeClient()
      const at = serverAt(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
      const heard: Array<ServerEvent> = []
      yield* servers.listen(at, session, undefined, CONSUMER, (one) => heard.push(one))
      yield* servers.listen(at, session, "2", CONSUMER, (one) => heard.push(one))
      assert.deepStrictEqual(
        heard.map(({ eventId }) => eventId),
        ["1", "2", undefined, "3", "4", undefined]
      )
      assert.strictEqual(heard[3]?.message, `{"jsonrpc":"2.0","method":"n","params":{"n":3.0}}`)
      const [first] = server.seen.filter(({ http }) => http === "GET")
      assert.strictEqual(first?.headers["mcp-session-id"], session.sessionId)
      assert.isTrue(isSignedByMarket(Redacted.make(SIGNING_SECRET), first!.headers, ""))
    })
  )

  it.live("ends where the server ends it without a message, and fails where it does not begin", () =>
    Effect.gen(function* () {
      let isUp = true
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          if (isUp) stream(response).end()
          else response.socket?.resetAndDestroy()
          return true
        }
      })
      const { servers } = yield* makeClient()
      const at = serverAt(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
      const listen = servers.listen(at, session, undefined, CONSUMER, () => {})
      yield* listen
      isUp = false
      assert.strictEqual((yield* Effect.flip(listen)).problem.kind, "connection")
    })
  )

  it.live("fails with 405 where the server has none, and as lost where the session is unknown", () =>
    Effect.gen(function* () {
      let status = 405
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          json(response, rpcError(seen, -32000, "no"), status)
          return true
        }
      })
      const { servers } = yield* makeClient()
      const at = serverAt(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
      const listen = Effect.flip(servers.listen(at, session, undefined, CONSUMER, () => {}))
      const none = yield* listen
      assert.deepStrictEqual([none.problem.httpStatus, none.sessionLost], [405, false])
      status = 404
      assert.isTrue((yield* listen).sessionLost)
    })
  )

  it.live(
    "brings what server-everything sends without a request",
    () =>
      Effect.gen(function* () {
        const { url } = yield* everythingServer
        const { servers } = yield* makeClient()
        const at = serverAt(url)
        const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
        const heard: Array<string> = []
        const listening = yield* Effect.forkChild(
          servers.listen(at, session, undefined, CONSUMER, ({ message }) => heard.push(message), `{"roots":{}}`)
        )
        yield* servers.tell(at, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, CONSUMER)
        // It asks for the roots of a client that has some.
        yield* eventually(() => heard.some((message) => message.includes("roots/list")))
        yield* Fiber.interrupt(listening)
        yield* servers.end(at, session)
      }),
    120_000
  )
})
