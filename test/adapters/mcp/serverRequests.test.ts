/**
 * What a hostile server asks of a client: only what the client has declared reaches it, in both eras and on every way, and no
 * address that is not https. Anything else is declined, and responses that the client did not ask for are dropped.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  event,
  result,
  rpcError,
  scriptedServer,
  type Seen,
  stream,
  text
} from "../../../testing/mcp/ScriptedServer.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../../contracts/providerServers.ts"
import { exchange, exchangeCall } from "../../support/mcp/ExchangeCalls.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"

interface Asked {
  readonly method: string
  readonly params?: object
}

const form = { method: "elicitation/create", params: { message: "Name?", requestedSchema: {} } }
const open = (url: unknown, more: object = {}) => ({
  method: "elicitation/create",
  params: { mode: "url", message: "Pay", elicitationId: "1", url, ...more }
})
const sampling = (more: object = {}) => ({ method: "sampling/createMessage", params: { messages: [], ...more } })
const roots = { method: "roots/list" }
const ALL = { roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } }

const cases: ReadonlyArray<readonly [declared: object, permitted: ReadonlyArray<Asked>, others: ReadonlyArray<Asked>]> =
  [
    [{}, [], [roots, sampling(), form, open("https://a.example")]],
    [{ roots: {} }, [roots], [sampling(), form]],
    [{ sampling: {} }, [sampling()], [roots, sampling({ tools: [] }), sampling({ toolChoice: {} })]],
    [{ elicitation: {} }, [form], [open("https://a.example")]],
    [{ elicitation: { url: {} } }, [open("https://a.example/?x=1")], [form]],
    [ALL, [roots, sampling({ tools: [] }), form, open("https://a.example")], []],
    [
      ALL,
      [],
      [
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "http://a.example",
        "file:///etc/passwd",
        "https://a.example/\u202e",
        "https:\\\\a.example",
        "//a.example",
        "",
        7,
        undefined
      ].map((url) => open(url))
    ],
    [
      ALL,
      [],
      [
        { method: "tools/call", params: { name: "echo", arguments: {} } },
        { method: "Tools/Call", params: { name: "echo" } },
        { method: "initialize", params: {} },
        { method: "tasks/get", params: { taskId: "1" } },
        { method: "vendor/x" },
        open("https://a.example", { URL: "javascript:alert(1)" }),
        { ...form, params: { ...form.params, url: "javascript:alert(1)" } },
        { ...form, params: { ...form.params, task: {} } }
      ]
    ]
  ]

const requestText = (asked: Asked, id: number) => JSON.stringify({ jsonrpc: "2.0", id, ...asked })

/** Sends these before the response, on every stream that it has. */
const asker = (era: "modern" | "stateful", texts: ReadonlyArray<string>) =>
  scriptedServer({
    era,
    onCall: (seen, response) => {
      stream(response)
      for (const one of texts) response.write(`data: ${one}\n\n`)
      response.end(event(result(seen, text("done"))))
    },
    onOther: (seen, response) => {
      if (seen.http !== "GET" && seen.method !== "prompts/get") return false
      stream(response)
      for (const one of texts) response.write(`data: ${one}\n\n`)
      if (seen.http !== "GET") response.end(event(result(seen, {})))
      return true
    }
  })

/** On all ways of a session of the client's own; what it receives, and the ids of what was declined. */
const askedOf = Effect.fnUntraced(function* (declared: object, texts: ReadonlyArray<string>, declines: number) {
  const capabilities = JSON.stringify(declared)
  const server = yield* asker("stateful", texts)
  const { servers, upstream } = yield* makeClient()
  const at = serverAt(server.url)
  const { session } = yield* servers.initialize(at, INITIALIZE, CONSUMER)
  const heard: Array<string> = []
  const onMessage = (message: string) => void heard.push(message)
  const mcp = exchange({ inSession: true, session, capabilities, onMessage })
  assert.strictEqual((yield* upstream.call(exchangeCall(server.url, mcp))).status, "success")
  yield* servers.ask(at, passed("prompts/get", { inSession: true, session, capabilities, onMessage }))
  const before = heard.length
  const listening = yield* Effect.forkChild(
    servers.listen(at, session, undefined, CONSUMER, ({ message }) => onMessage(message), capabilities)
  )
  const declined = () => server.seen.filter((one) => one.text.includes('"error"'))
  yield* eventually(() => heard.length === (before / 2) * 3 && declined().length === declines * 3)
  yield* Fiber.interrupt(listening)
  for (const { text: reply } of declined()) assert.strictEqual(JSON.parse(reply).error.code, -32_601)
  return heard
})

describe("a server of the legacy era", () => {
  for (const [n, [declared, permitted, others]] of cases.entries()) {
    it.live(`asks a client only for what it declares: ${JSON.stringify(declared)}, ${n}`, () =>
      Effect.gen(function* () {
        const texts = [...permitted, ...others].map(requestText)
        const heard = yield* askedOf(declared, texts, others.length)
        assert.deepStrictEqual(
          heard,
          [1, 2, 3].flatMap(() => texts.slice(0, permitted.length))
        )
      })
    )
  }

  it.live("sends nothing that is a request for one reader, and another message for another one", () =>
    Effect.gen(function* () {
      const texts = [
        `{"jsonrpc":"2.0","id":1,"method":"roots/list","result":{}}`,
        `{"jsonrpc":"2.0","id":2,"method":"tools/call","method":"roots/list"}`,
        `{"jsonrpc":"2.0","id":3,"method":"roots/list","Method":"tools/call"}`
      ]
      assert.deepStrictEqual(yield* askedOf(ALL, texts, texts.length), [])
    })
  )

  it.live("sends no response that the client did not ask for", () =>
    Effect.gen(function* () {
      const texts = [
        `{"jsonrpc":"2.0","id":"client's","result":{"content":[]}}`,
        `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`,
        `{"jsonrpc":"2.0","id":8,"method":5,"result":{}}`
      ]
      assert.deepStrictEqual(yield* askedOf(ALL, texts, 0), [])
    })
  )

  it.live("names no other address in an error that requires them", () =>
    Effect.gen(function* () {
      for (const [declared, url, kind] of [
        [ALL, "https://a.example", "json_rpc_error"],
        [ALL, "javascript:alert(1)", "malformed_answer"],
        [{}, "https://a.example", "malformed_answer"]
      ] as const) {
        const server = yield* scriptedServer({
          era: "stateful",
          onCall: (seen, response) =>
            stream(response).end(event(rpcError(seen, -32_042, "open", { elicitations: [open(url).params] })))
        })
        const { servers, upstream } = yield* makeClient()
        const { session } = yield* servers.initialize(serverAt(server.url), INITIALIZE, CONSUMER)
        const mcp = exchange({ inSession: true, session, capabilities: JSON.stringify(declared) })
        const { problem } = yield* upstream.call(exchangeCall(server.url, mcp))
        assert.strictEqual(problem?.kind, kind, url)
      }
    })
  )
})

describe("a server of the modern era", () => {
  it.live("asks a client for nothing on a stream", () =>
    Effect.gen(function* () {
      const texts = [roots, sampling(), form, { method: "ping" }].map(requestText)
      const server = yield* asker("modern", texts)
      const { servers, upstream } = yield* makeClient()
      const heard: Array<string> = []
      const onMessage = (message: string) => void heard.push(message)
      const capabilities = JSON.stringify(ALL)
      const mcp = exchange({ capabilities, onMessage })
      assert.strictEqual((yield* upstream.call(exchangeCall(server.url, mcp))).status, "success")
      yield* servers.ask(serverAt(server.url), passed("prompts/get", { capabilities, onMessage }))
      assert.deepStrictEqual(heard, [])
    })
  )

  it.live("asks a client in its results only for what the client declares", () =>
    Effect.gen(function* () {
      let inputRequests: object = {}
      const answer = (seen: Seen, response: Parameters<typeof stream>[0]) =>
        stream(response).end(event(result(seen, { resultType: "input_required", inputRequests, requestState: "s" })))
      const server = yield* scriptedServer({
        era: "modern",
        onCall: answer,
        onOther: (seen, response) => {
          if (seen.method !== "prompts/get") return false
          answer(seen, response)
          return true
        }
      })
      const { servers, upstream } = yield* makeClient()
      const outcomes = Effect.fnUntraced(function* (declared: object, asked: Asked) {
        inputRequests = { fine: { method: "ping" }, asked }
        const capabilities = JSON.stringify(declared)
        const { pending, problem } = yield* upstream.call(exchangeCall(server.url, exchange({ capabilities })))
        const { _tag } = yield* servers.ask(serverAt(server.url), passed("prompts/get", { capabilities }))
        return [pending?.kind, problem?.kind, _tag]
      })
      for (const [declared, permitted, others] of cases) {
        for (const one of permitted)
          assert.deepStrictEqual(yield* outcomes(declared, one), ["input_required", "unfinished", "Result"])
        for (const one of others)
          assert.deepStrictEqual(yield* outcomes(declared, one), [undefined, "malformed_answer", "RpcError"])
      }
    })
  )
})
