/**
 * Lists of tools: read in pages within limits, verbatim, and kept for a time.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, json, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { passed, serverAt } from "../../contracts/providerServers.ts"
import { makeClient } from "../../support/mcp/McpClient.ts"

type Response = Parameters<typeof json>[0]

const noCall = (seen: Seen, response: Response) => json(response, result(seen, text("ok")))

/** A server whose pages of tools are written by the test. */
const listing = (
  era: "modern" | "stateful",
  page: (cursor: string | undefined, seen: Seen, response: Response) => unknown
) =>
  scriptedServer({
    era,
    onCall: noCall,
    onOther: (seen, response) => {
      if (seen.method !== "tools/list") return false
      const value = page(seen.params["cursor"] as string | undefined, seen, response)
      if (value !== undefined) json(response, result(seen, value))
      return true
    }
  })

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
const namesOf = ({ tools }: { readonly tools: ReadonlyArray<{ readonly name: string }> }) =>
  tools.map(({ name }) => name)

describe("a list of tools", () => {
  for (const era of ["modern", "stateful"] as const) {
    it.live(`is read in pages from a ${era} server, each tool verbatim`, () =>
      Effect.gen(function* () {
        const texts = [`{"name":"a", "inputSchema":{"maximum":1.0}}`, `{"inputSchema":{},"n\\u0061me":"b","x":1E400}`]
        const server = yield* scriptedServer({
          era,
          onCall: noCall,
          onOther: (seen, response) => {
            if (seen.method !== "tools/list") return false
            const [first, second] = texts
            const page =
              seen.params["cursor"] === undefined ? `{"tools":[${first} ],"nextCursor":"2"}` : `{"tools":[ ${second}]}`
            response.writeHead(200, { "content-type": "application/json" })
            response.end(`{"jsonrpc":"2.0","id":${seen.id},"result":${page}}`)
            return true
          }
        })
        const { servers } = yield* makeClient()
        const list = yield* servers.tools(serverAt(server.url), 60_000)
        assert.deepStrictEqual(
          list.tools.map((one) => one.text),
          texts
        )
        assert.isFalse(list.truncated)
      })
    )
  }

  it.live("is read once for concurrent and later callers, again after its age, and after a change", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method === "tools/list") json(response, result(seen, { tools: [tool("a")] }))
          else if (seen.method === "change") {
            stream(response).write(event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }))
            response.end(event(result(seen, {})))
          } else return false
          return true
        }
      })
      const { servers } = yield* makeClient()
      const at = serverAt(server.url)
      const reads = () => server.of("tools/list").length
      yield* Effect.all(
        Array.from({ length: 20 }, () => servers.tools(at, 60_000)),
        { concurrency: "unbounded" }
      )
      yield* servers.tools(at, 60_000)
      assert.strictEqual(reads(), 1)
      yield* servers.tools(at, 0)
      assert.strictEqual(reads(), 2)
      yield* servers.ask(at, passed("change"))
      yield* servers.tools(at, 60_000)
      assert.strictEqual(reads(), 3)
    })
  )

  it.live("has a limit of tools, of bytes, and of the bytes of one definition", () =>
    Effect.gen(function* () {
      const server = yield* listing("stateful", () => ({ tools: Array.from({ length: 50 }, (_, n) => tool(`t${n}`)) }))
      const few = yield* makeClient({ toolsMax: 10 })
      const list = yield* few.servers.tools(serverAt(server.url), 60_000)
      assert.deepStrictEqual([list.tools.length, list.truncated], [10, true])
      const short = yield* makeClient({ toolListBytesMax: 500 })
      const cut = yield* short.servers.tools(serverAt(server.url), 60_000)
      assert.isTrue(cut.truncated)
      assert.isAtMost(
        cut.tools.reduce((sum, one) => sum + one.text.length, 0),
        500
      )
      const mixed = yield* listing("stateful", () => ({
        tools: [tool("a"), tool("huge", { description: "x".repeat(2_000) }), tool("b")]
      }))
      const small = yield* makeClient({ toolDefinitionBytesMax: 1_000 })
      const rest = yield* small.servers.tools(serverAt(mixed.url), 60_000)
      assert.deepStrictEqual([namesOf(rest), rest.truncated], [["a", "b"], true])
    })
  )

  it.live("ends at a cursor that comes again, and at a number of pages", () =>
    Effect.gen(function* () {
      let page = 0
      const cyclic = yield* listing("modern", (cursor) => ({
        tools: [tool(`t${page++}`)],
        nextCursor: cursor === "a" ? "b" : "a"
      }))
      const { servers } = yield* makeClient()
      const list = yield* servers.tools(serverAt(cyclic.url), 60_000)
      assert.isTrue(list.truncated)
      assert.isAtMost(list.tools.length, 4)
      let next = 0
      const endless = yield* listing("stateful", () => ({ tools: [], nextCursor: String(next++) }))
      const bounded = yield* makeClient({ toolPagesMax: 7 })
      assert.isTrue((yield* bounded.servers.tools(serverAt(endless.url), 60_000)).truncated)
      assert.strictEqual(endless.of("tools/list").length, 7)
    })
  )

  it.live("fails as a whole where its pages are too slow", () =>
    Effect.gen(function* () {
      const server = yield* listing("stateful", (cursor, seen, response) => {
        if (cursor === undefined) return { tools: [tool("a")], nextCursor: "2" }
        setTimeout(() => json(response, result(seen, { tools: [] })), 60_000).unref()
        return undefined
      })
      const { servers } = yield* makeClient({ setupTimeoutMs: 500 })
      const failed = yield* Effect.flip(servers.tools(serverAt(server.url), 60_000))
      assert.strictEqual(failed.problem.kind, "timeout")
    })
  )

  it.live("leaves out what is no tool, and of tools with one name the later ones", () =>
    Effect.gen(function* () {
      const invalid = { properties: { a: { type: "number", "x-mcp-header": "A" } } }
      const server = yield* listing("modern", () => ({
        tools: [
          tool("a", { title: "first" }),
          5,
          null,
          tool(""),
          { inputSchema: {} },
          tool("a"),
          tool("bad", { inputSchema: invalid })
        ]
      }))
      const { servers } = yield* makeClient()
      const list = yield* servers.tools(serverAt(server.url), 60_000)
      assert.deepStrictEqual(namesOf(list), ["a"])
      assert.strictEqual(list.tools[0]?.definition["title"], "first")
    })
  )

  it.live("is empty for a server without tools, and fails for one whose list is none", () =>
    Effect.gen(function* () {
      const without = yield* scriptedServer({
        era: "stateful",
        onCall: noCall,
        onOther: (seen, response) => {
          if (seen.method !== "tools/list") return false
          json(response, { jsonrpc: "2.0", id: seen.id, error: { code: -32601, message: "Method not found" } })
          return true
        }
      })
      const { servers } = yield* makeClient()
      assert.deepStrictEqual(yield* servers.tools(serverAt(without.url), 0), { tools: [], truncated: false })
      const odd = yield* listing("stateful", () => ({ tools: "all of them" }))
      const failed = yield* Effect.flip(servers.tools(serverAt(odd.url), 0))
      assert.strictEqual(failed.problem.kind, "malformed_answer")
    })
  )

  it.live("that cannot be read is not replaced by an older one", () =>
    Effect.gen(function* () {
      let up = true
      const server = yield* listing("stateful", (_cursor, _seen, response) => {
        if (up) return { tools: [tool("a")] }
        response.writeHead(503).end()
        return undefined
      })
      const { servers } = yield* makeClient()
      yield* servers.tools(serverAt(server.url), 60_000)
      up = false
      const failed = yield* Effect.flip(servers.tools(serverAt(server.url), 0))
      assert.strictEqual(failed.problem.httpStatus, 503)
    })
  )
})
