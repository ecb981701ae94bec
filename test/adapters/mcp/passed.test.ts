/**
 * Requests that are passed to providers' servers: texts verbatim in both directions, ids and tokens, cancellation, limits.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { event, json, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../../contracts/providerServers.ts"
import { eventually, makeClient, SIGNING_SECRET } from "../../support/mcp/McpClient.ts"
import { isSignedByMarket } from "../../support/mcp/ProviderCheck.ts"
import { sdk1Server } from "../../support/mcp/servers/RealServers.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const noCall = (seen: Seen, response: Parameters<typeof json>[0]) => json(response, result(seen, text("ok")))

/** A server that answers one method with these bytes. */
const answering = (
  era: "modern" | "stateful" | "stateless",
  method: string,
  body: (seen: Seen) => string,
  status = 200
) =>
  scriptedServer({
    era,
    onCall: noCall,
    onOther: (seen, response) => {
      if (seen.method !== method) return false
      response.writeHead(status, { "content-type": "application/json" }).end(body(seen))
      return true
    }
  })

describe("a passed request", () => {
  it.live("returns the result byte for byte", () =>
    Effect.gen(function* () {
      const odd = `{ "contents" : [{"n":12345678901234567890, "m":1.50,"u":"\\u00fc"}],"\\u0061":{} , "_meta":{"x":1E400}}`
      for (const era of ["modern", "stateful", "stateless"] as const) {
        const server = yield* answering(
          era,
          "resources/read",
          ({ id }) => `{"id":${id},"result":${odd},"jsonrpc":"2.0"}`
        )
        const { servers } = yield* makeClient()
        const reply = yield* servers.ask(serverAt(server.url), passed("resources/read", { params: `{"uri":"a:b"}` }))
        assert.deepStrictEqual(reply, { _tag: "Result", result: odd })
      }
    })
  )

  it.live("returns the error byte for byte, whatever its HTTP status", () =>
    Effect.gen(function* () {
      const odd = `{ "code" : -32602, "data":{"n":12345678901234567890} ,"message":"no"}`
      for (const status of [200, 400, 404]) {
        const server = yield* answering("modern", "prompts/get", ({ id }) => `{"error":${odd},"id":${id}}`, status)
        const { servers } = yield* makeClient()
        const reply = yield* servers.ask(serverAt(server.url), passed("prompts/get", { params: `{"name":"p"}` }))
        assert.deepStrictEqual(reply, { _tag: "RpcError", error: odd })
      }
    })
  )

  it.live("has the headers of its era, a signature for its consumer, and params as they were written", () =>
    Effect.gen(function* () {
      const server = yield* answering("modern", "resources/read", (seen) => JSON.stringify(result(seen, {})))
      const { servers } = yield* makeClient()
      yield* servers.ask(
        serverAt(server.url),
        passed("resources/read", {
          params: `{ "uri":"file:///ü", "n":1.0, "_meta":{"progressToken":"theirs","market/x":1,"note":2.0} }`,
          capabilities: `{"sampling":{}}`,
          clientInfo: `{"name":"c","version":"1"}`,
          progressToken: `"theirs"`
        })
      )
      const [seen] = server.of("resources/read")
      assert.strictEqual(seen?.headers["mcp-method"], "resources/read")
      assert.strictEqual(seen?.headers["mcp-protocol-version"], "2026-07-28")
      assert.strictEqual(seen?.headers["mcp-name"], `=?base64?${Buffer.from("file:///ü").toString("base64")}?=`)
      assert.include(seen?.text, `"uri":"file:///ü","n":1.0,`)
      assert.include(seen?.text, `"note":2.0`)
      assert.deepStrictEqual(seen?.params["_meta"], {
        note: 2,
        progressToken: seen?.id,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { sampling: {} }
      })
      assert.strictEqual(seen?.headers["x-market-consumer"], CONSUMER)
      assert.isTrue(isSignedByMarket(Redacted.make(SIGNING_SECRET), seen!.headers, seen!.text))
    })
  )

  it.live("has an id of the service and the token of the client in the client's own session", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "prompts/get") return false
          stream(response)
          const params = { progressToken: "tok", progress: 1 }
          response.write(event({ jsonrpc: "2.0", method: "notifications/progress", params }))
          response.write(event({ jsonrpc: "2.0", id: 9, method: "roots/list" }))
          response.end(event(result(seen, {})))
          return true
        }
      })
      const { servers } = yield* makeClient()
      const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, CONSUMER)
      const heard: Array<unknown> = []
      const request = passed("prompts/get", {
        inSession: true,
        session,
        requestId: `"\\u0069d of the client"`,
        progressToken: `"tok"`,
        capabilities: `{"roots":{}}`,
        onMessage: (message) => heard.push(JSON.parse(message))
      })
      const reply = yield* servers.ask(serverAt(server.url), request)
      assert.deepStrictEqual(reply, { _tag: "Result", result: "{}" })
      const [seen] = server.of("prompts/get")
      assert.match(String(seen?.id), /^passed\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u)
      assert.strictEqual(seen?.headers["mcp-session-id"], session.sessionId)
      assert.deepStrictEqual(heard, [
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "tok", progress: 1 } },
        { jsonrpc: "2.0", id: 9, method: "roots/list" }
      ])
    })
  )

  it.live("is canceled at the server when its caller disconnects", () =>
    Effect.gen(function* () {
      for (const [era, isOwn] of [
        ["modern", false],
        ["stateful", false],
        ["stateful", true]
      ] as const) {
        let closed = false
        const server = yield* scriptedServer({
          era,
          onCall: noCall,
          onOther: (seen, response) => {
            if (seen.method !== "prompts/get") return false
            response.on("close", () => (closed = true))
            return true
          }
        })
        const { servers } = yield* makeClient()
        const at = serverAt(server.url)
        const own = isOwn ? { session: (yield* servers.initialize(at, INITIALIZE, CONSUMER)).session } : {}
        const asking = yield* Effect.forkChild(servers.ask(at, passed("prompts/get", { inSession: isOwn, ...own })))
        yield* eventually(() => server.of("prompts/get").length === 1)
        yield* Fiber.interrupt(asking)
        yield* eventually(() => closed)
        const canceled = () => server.of("notifications/cancelled")
        if (era === "stateful") {
          yield* eventually(() => canceled().length === 1)
          assert.strictEqual(canceled()[0]?.params["requestId"], server.of("prompts/get")[0]?.id)
        } else assert.lengthOf(canceled(), 0)
      }
    })
  )

  it.live("is sent again over a new shared session, but never over another one than the client's", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const { servers } = yield* makeClient()
      const at = serverAt(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
      yield* servers.ask(at, passed("ping"))
      server.forget()
      assert.strictEqual((yield* servers.ask(at, passed("ping")))._tag, "Result")
      const own = yield* Effect.flip(servers.ask(at, passed("ping", { inSession: true, session })))
      assert.deepStrictEqual([own.sessionLost, own.problem.kind], [true, "session_lost"])
      const told = yield* Effect.flip(
        servers.tell(at, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, CONSUMER)
      )
      assert.isTrue(told.sessionLost)
    })
  )

  it.live("is refused on the shared session if it changes or reads what belongs to one client", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "stateful", onCall: noCall })
      const { servers } = yield* makeClient()
      for (const method of ["logging/setLevel", "resources/subscribe", "tasks/list"]) {
        const reply = yield* servers.ask(serverAt(server.url), passed(method))
        assert.strictEqual(reply._tag, "RpcError")
        assert.lengthOf(server.of(method), 0)
      }
    })
  )

  it.live("shares sockets, era and circuit with the calls of the provider", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (_seen, response) => response.socket?.resetAndDestroy(),
        onOther: (seen, response) => {
          if (seen.method !== "ping") return false
          json(response, result(seen, {}))
          return true
        }
      })
      const { servers, upstream } = yield* makeClient({ circuitFailures: 2 })
      yield* servers.ask(serverAt(server.url), passed("ping"))
      for (let n = 0; n < 2; n++) yield* upstream.call(upstreamCall(server.url))
      assert.lengthOf(server.of("initialize"), 1)
      const open = yield* Effect.flip(servers.ask(serverAt(server.url), passed("ping")))
      assert.strictEqual(open.problem.kind, "circuit_open")
      // What is known of a server does not need it.
      assert.isTrue((yield* servers.profile(serverAt(server.url))).sessions)
    })
  )

  it.live("is limited in number for a consumer, and beside that others are served", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method === "ping") json(response, result(seen, {}))
          return seen.method === "ping" || seen.method === "hang"
        }
      })
      const { servers } = yield* makeClient({ passedPerConsumerMax: 2 })
      const at = serverAt(server.url)
      const hanging = yield* Effect.forkChild(
        Effect.all([servers.ask(at, passed("hang")), servers.ask(at, passed("hang"))], { concurrency: 2 })
      )
      yield* eventually(() => server.of("hang").length === 2)
      const refused = yield* Effect.flip(servers.ask(at, passed("ping")))
      assert.strictEqual(refused.problem.kind, "overloaded")
      const other = { consumerId: "c0000000-0000-4000-8000-000000000002" as never }
      assert.strictEqual((yield* servers.ask(at, passed("ping", other)))._tag, "Result")
      yield* Fiber.interrupt(hanging)
      assert.strictEqual((yield* servers.ask(at, passed("ping")))._tag, "Result")
    })
  )
})
