/**
 * A client of the legacy era at the door of a hostile server: of what the server asks, in a call and on the stream of the
 * session, only what the client has declared reaches it.
 */
import { assert, it } from "@effect/vitest"
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { event, result, scriptedServer, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { SETTINGS } from "../../support/mcp/ADoor.ts"
import { aLegacyDoor, aPricedTool, connected } from "../../support/mcp/LegacyClients.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const ASKED = [
  { method: "roots/list" },
  { method: "tools/call", params: { name: "ask", arguments: {} } },
  { method: "initialize", params: {} },
  { method: "sampling/createMessage", params: { messages: [] } },
  {
    method: "elicitation/create",
    params: { mode: "url", url: "javascript:alert(1)", message: "Pay", elicitationId: "1" }
  }
]

it.layer(RawHttp.layer(SETTINGS), LIVE)("A client of the legacy era", (it) => {
  it.effect("is asked only for what it has declared, in a call and on its stream", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const ask = (response: ServerResponse, from: number) => {
        stream(response)
        for (const [n, one] of ASKED.entries()) response.write(event({ jsonrpc: "2.0", id: from + n, ...one }))
      }
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          ask(response, 100)
          response.end(event(result(seen, text("done"))))
        },
        onOther: (seen, response) => {
          if (seen.http === "GET") ask(response, 200)
          return seen.http === "GET"
        }
      })
      const door = yield* aLegacyDoor(`http://127.0.0.1:${port}`, server.url, [aPricedTool("ask")])
      const heard: Array<string> = []
      const { client } = yield* connected(door, {
        capabilities: { roots: {} },
        prepare: (one) => {
          one.setRequestHandler(ListRootsRequestSchema, ({ method }) => {
            heard.push(method)
            return { roots: [] }
          })
          one.fallbackRequestHandler = async ({ method }) => {
            heard.push(method)
            return {}
          }
        }
      })
      const called = yield* Effect.promise(() => client.callTool({ name: "ask", arguments: {} }))
      assert.deepStrictEqual(called["content"], text("done").content)
      const repliedTo = (from: number) =>
        server.seen.filter(
          ({ http, id, method }) => http === "POST" && method === undefined && id! >= from && id! < from + 100
        )
      // A reply to each of them: those of the client, and those that the service declined.
      yield* eventually(() => repliedTo(100).length === ASKED.length && repliedTo(200).length === ASKED.length)
      assert.deepStrictEqual(heard, ["roots/list", "roots/list"])
    })
  )
})
