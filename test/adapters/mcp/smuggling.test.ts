/**
 * Attempts to have a provider's server read a call of a tool in a message that is passed on unbilled.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { json, result, scriptedServer, type Seen, text } from "../../../testing/mcp/ScriptedServer.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../../contracts/providerServers.ts"
import { exchange, exchangeCall } from "../../support/mcp/ExchangeCalls.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"

const CALL = `"method":"tools/call","id":5,"params":{"name":"paid","arguments":{}}`

/** As a server reads it that ignores case, and takes the first or the last of two members. */
const readings = (body: string): ReadonlyArray<string> =>
  [...body.matchAll(/"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)"/gu)]
    .filter(([, name]) => String(JSON.parse(`"${name}"`)).toLowerCase() === "method")
    .map(([, , value]) => String(JSON.parse(`"${value}"`)))

const arranged = Effect.gen(function* () {
  const server = yield* scriptedServer({
    era: "stateful",
    onCall: (seen: Seen, response) => json(response, result(seen, text("a paid result"))),
    onOther: (seen, response) => {
      if (seen.method === "initialize" || seen.method === "server/discover") return false
      if (seen.method === undefined || seen.id === undefined) response.writeHead(202).end()
      else json(response, result(seen, {}))
      return true
    }
  })
  const { servers, upstream } = yield* makeClient()
  const at = serverAt(server.url)
  const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
  return { at, server, servers, session, upstream }
})

describe("a call of a tool", () => {
  it.live("is not hidden in the method, the id or the token of a request", () =>
    Effect.gen(function* () {
      const { at, server, servers, session } = yield* arranged
      const methods = [
        "tools/call",
        `x","method":"tools/call`,
        "x\r\nmcp-method: tools/call",
        "tools/call ",
        "Tools/Call",
        "TOOLS/CALL",
        "tools//call",
        "./tools/call",
        "tools.call",
        "Initialize",
        // Exactly `tasks/get`, `tasks/result`, `tasks/update` and `tasks/cancel` are the service's own: doors answer those of
        // clients.
        "tasks/list",
        "Tasks/result",
        "tasks/get/",
        "Tasks/get",
        "/tasks/get",
        "notifications/cancelled",
        "Notifications/Cancelled",
        "./notifications/cancelled",
        "\u0000",
        "ü",
        "",
        "x".repeat(1_000)
      ]
      for (const method of methods) {
        const reply = yield* servers.ask(at, passed(method, { params: `{"name":"paid","arguments":{}}` }))
        assert.strictEqual(reply._tag, "RpcError", method)
      }
      for (const hidden of [`1,${CALL}`, `"a",${CALL}`, "{}", "null", "1e999", ""]) {
        const own = { inSession: true, session, requestId: hidden, progressToken: hidden } as const
        yield* servers.ask(at, passed("ping", own))
        yield* servers.ask(at, passed("ping", { requestId: hidden, progressToken: hidden }))
      }
      assert.deepStrictEqual([...new Set(server.seen.map(({ method }) => method))].toSorted(), [
        "initialize",
        "notifications/initialized",
        "ping",
        "server/discover"
      ])
      assert.lengthOf(server.of("tools/call"), 0)
      for (const { text: body } of server.seen) assert.notInclude(readings(body), "tools/call")
    })
  )

  it.live("keeps its result from a request of the same session that repeats its id", () =>
    Effect.gen(function* () {
      let answerCall = () => {}
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          answerCall = () => json(response, result(seen, text("a paid result")))
        },
        onOther: (seen, response) => {
          if (seen.method !== "resources/read") return false
          json(response, result(seen, { contents: [] }))
          return true
        }
      })
      const { servers, upstream } = yield* makeClient()
      const at = serverAt(server.url)
      const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
      const call = exchangeCall(server.url, exchange({ inSession: true, session }))
      const calling = yield* Effect.forkChild(upstream.call(call))
      yield* eventually(() => server.of("tools/call").length === 1)
      const callId = server.of("tools/call")[0]!.id
      const forged = passed("resources/read", { inSession: true, session, requestId: JSON.stringify(callId) })
      assert.deepStrictEqual(yield* servers.ask(at, forged), { _tag: "Result", result: `{"contents":[]}` })
      assert.notStrictEqual(server.of("resources/read")[0]!.id, callId)
      answerCall()
      assert.strictEqual((yield* Fiber.join(calling)).status, "success")
    })
  )

  it.live("is not hidden in a notification or a response", () =>
    Effect.gen(function* () {
      const { at, server, servers, session } = yield* arranged
      const refused = [
        `{"jsonrpc":"2.0",${CALL}}`,
        `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"paid"}}`,
        `{"jsonrpc":"2.0","method":"notifications/../tools call"}`,
        `[{"jsonrpc":"2.0",${CALL}}]`,
        `{"jsonrpc":"2.0","Method":"tools/call"}`,
        "5"
      ]
      for (const message of refused) {
        const failed = yield* Effect.flip(servers.tell(at, session, message, CONSUMER))
        assert.strictEqual(failed.problem.rpcError?.code, -32600, message)
      }
      const before = server.seen.length
      const cleaned = [
        [
          `{${CALL},"method":"notifications\\/x","id":null}`,
          `{"jsonrpc":"2.0","method":"notifications\\/x","params":{"name":"paid","arguments":{}}}`
        ],
        [`{"method":"notifications/x","METHOD":"tools/call","Id":5}`, `{"jsonrpc":"2.0","method":"notifications/x"}`],
        [`{"id":1.0,"Method":"tools/call","result":{"n":1.50}}`, `{"jsonrpc":"2.0","id":1.0,"result":{"n":1.50}}`]
      ] as const
      for (const [message] of cleaned) yield* servers.tell(at, session, message, CONSUMER)
      assert.deepStrictEqual(
        server.seen.slice(before).map((seen) => seen.text),
        cleaned.map(([, sent]) => sent)
      )
    })
  )

  it.live("is of the tool that is billed", () =>
    Effect.gen(function* () {
      const { server, upstream } = yield* arranged
      const other = `"Name":"expensive","ARGUMENTS":{"a":1},"_Meta":{"b":2},"n\\u0061me":"x","task":{"ttl":1}`
      yield* upstream.call(
        exchangeCall(
          server.url,
          exchange({ inSession: true, otherParams: other, meta: `{"MARKET/max_cost_microcents":9}` })
        )
      )
      const token = `1,"progressToken":2}},${CALL},"x":{"_meta":{"a":1`
      yield* upstream.call(exchangeCall(server.url, exchange({ inSession: true, progressToken: token })))
      for (const { id, params } of server.of("tools/call"))
        assert.deepStrictEqual(params, { name: "echo", arguments: {}, _meta: { progressToken: id } })
    })
  )
})
