/**
 * A server of the legacy era that asks its client inside a call, through the door: the tool's time limit stops, the hold
 * stays, and the call is settled once, whatever the client does.
 */
import { assert, it } from "@effect/vitest"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Context, Effect, Fiber, Layer } from "effect"
import type { ServerResponse } from "node:http"
import { event, result, type Seen, scriptedServer, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { aDeveloper } from "../../support/market/HttpMarket.ts"
import { walletOf } from "../../support/load/LoadMarket.ts"
import { aLegacyDoor, aPricedTool, connected, type LegacyDoor, rpc } from "../../support/mcp/LegacyClients.ts"
import { call, canceled, settled } from "../../support/mcp/LegacyWire.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const PRICE = 1_000
const LOADED = 100_000_000
const TOOL_MS = 4_000
const QUESTION_ID = 77

class Running extends Context.Service<Running, { readonly url: string }>()("agent-tool-billing/test/mcp/LegacyInput") {
  static readonly layer = Layer.effect(Running, ready({ PROFILE: "memory", RATE_LIMIT_RPM: "0", LOG_LEVEL: "Warn" }))
}

/** Asks in each call, and answers with the client's answer. */
const askingServer = Effect.gen(function* () {
  const open: Array<readonly [seen: Seen, response: ServerResponse]> = []
  const params = { message: "Who?", requestedSchema: { type: "object", properties: {} } }
  const server = yield* scriptedServer({
    era: "stateful",
    onCall: (seen, response) => {
      open.push([seen, response])
      stream(response).write(event({ jsonrpc: "2.0", id: QUESTION_ID, method: "elicitation/create", params }))
    },
    onOther: (seen, response) => {
      if (seen.method !== undefined || seen.id === undefined) return false
      response.writeHead(202).end()
      const at = open.findIndex(([asked]) => sessionOf(asked) === sessionOf(seen))
      if (at === -1) return true
      const [[asked, waiting]] = open.splice(at, 1) as [(typeof open)[number]]
      const { result: answer } = JSON.parse(seen.text)
      waiting.end(event(result(asked, text(`answered ${JSON.stringify(answer)}`))))
      return true
    }
  })
  return { server, open }
})

const sessionOf = ({ headers }: Seen) => headers["mcp-session-id"]

const aDoor = Effect.gen(function* () {
  const { url } = yield* Running
  const { open, server } = yield* askingServer
  const tool = aPricedTool("ask", { timeout_ms: TOOL_MS, unlisted: true })
  const door = yield* aLegacyDoor(url, server.url, [tool])
  return { door, open, server, wallet: walletOf(url, door.key) }
})

/** A client whose call waits for its own answer; `answered` gives it, and returns the text of the call's result. */
const asking = Effect.fnUntraced(function* (door: LegacyDoor) {
  let answer: (() => void) | undefined
  const { client, transport } = yield* connected(door, {
    capabilities: { elicitation: {} },
    prepare: (one) =>
      one.setRequestHandler(
        ElicitRequestSchema,
        () =>
          new Promise((resolve) => {
            answer = () => resolve({ action: "accept", content: { name: "Ada" } })
          })
      )
  })
  const calling = client.callTool({ name: "ask", arguments: {} })
  yield* eventually(() => answer !== undefined)
  const answered = Effect.promise(async () => {
    answer!()
    const { content } = (await calling) as { readonly content: ReadonlyArray<{ readonly text: string }> }
    return content[0]!.text
  })
  return { answered, transport }
})

it.layer(Running.layer, { timeout: "60 seconds", excludeTestServices: true })(
  "A server that asks inside a call",
  (it) => {
    it.effect("waits for the client's answer beyond the tool's time limit, with the hold, and is billed once", () =>
      Effect.gen(function* () {
        const { door, wallet, server } = yield* aDoor
        const { answered } = yield* asking(door)
        yield* Effect.sleep(1.5 * TOOL_MS)
        assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
        assert.include(yield* answered, '"name":"Ada"')
        const [receipt] = yield* settled(door, 1)
        assert.deepStrictEqual([receipt!["status"], receipt!["cost_microcents"]], ["success", PRICE])
        assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
        assert.lengthOf(server.of("tools/call"), 1)
      })
    )

    it.effect("keeps the hold where the client cancels or ends its session, and is billed by its outcome", () =>
      Effect.gen(function* () {
        const { door, open, wallet } = yield* aDoor
        for (const [n, leaves] of ["cancels", "ends"].entries()) {
          const headers = yield* Effect.promise(async () => {
            const params = {
              protocolVersion: "2025-11-25",
              capabilities: { elicitation: {} },
              clientInfo: { name: "wire", version: "1" }
            }
            const response = await rpc(door, { jsonrpc: "2.0", id: 0, method: "initialize", params })
            return { "mcp-session-id": String(response.headers.get("mcp-session-id")) }
          })
          const calling = yield* Effect.forkChild(Effect.promise(() => rpc(door, call("ask"), headers)))
          yield* eventually(() => open.length === 1)
          yield* Fiber.join(calling)
          if (leaves === "cancels") yield* Effect.promise(() => rpc(door, canceled(1), headers))
          else {
            const authorization = `Bearer ${door.key}`
            yield* Effect.promise(() => fetch(door.door, { method: "DELETE", headers: { ...headers, authorization } }))
          }
          assert.deepStrictEqual(yield* wallet, { balance: LOADED - n * PRICE, held: PRICE })
          // The client's answer does not arrive any more; the server goes on without it.
          const [asked, waiting] = open.pop()!
          waiting.end(event(result(asked, text("done without an answer"))))
          const receipts = yield* settled(door, n + 1)
          for (const receipt of receipts) assert.strictEqual(receipt["cost_microcents"], PRICE)
          assert.deepStrictEqual(yield* wallet, { balance: LOADED - (n + 1) * PRICE, held: 0 })
        }
      })
    )

    it.effect("gets answers only from its own session: those of another session and account do not end its wait", () =>
      Effect.gen(function* () {
        const { door, open, wallet, server } = yield* aDoor
        const { answered, transport } = yield* asking(door)
        const forged = { jsonrpc: "2.0", id: QUESTION_ID, result: { action: "accept", content: { name: "a thief" } } }
        const thief = yield* aDeveloper((yield* Running).url)
        const own = { "mcp-session-id": transport.sessionId! }
        const stolen = yield* Effect.promise(() => rpc({ door: door.door, key: thief }, forged, own))
        assert.strictEqual(stolen.status, 404)
        const other = yield* connected(door)
        yield* Effect.promise(() => rpc(door, forged, { "mcp-session-id": other.transport.sessionId! }))
        const [asked] = open[0]!
        const answers = () => server.seen.filter(({ id, method }) => method === undefined && id === QUESTION_ID)
        for (const seen of answers()) assert.notStrictEqual(sessionOf(seen), sessionOf(asked))
        yield* Effect.sleep(1.5 * TOOL_MS)
        assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
        assert.include(yield* answered, '"name":"Ada"')
        yield* settled(door, 1)
      })
    )
  }
)
