/**
 * One MCP session at two nodes on one database: requests, streams, cancellations and the end of the session go to either. A
 * node that is killed between hold and settlement leaves exactly one settlement, and its client gets a clear answer.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { kill } from "../support/servers/EmbeddedFolders.ts"
import { eventsOf, gatedServer } from "../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, type LegacyDoor, rpc } from "../support/mcp/LegacyClients.ts"
import { aSession, aStream, canceled, resume, settled } from "../support/mcp/LegacyWire.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { aNode, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

/** A door at two nodes: this one, and one that stays. */
const twoNodes = Effect.gen(function* () {
  const node = yield* aNode
  const other = yield* SteadyNode
  const gated = yield* gatedServer
  const there = yield* aLegacyDoor(other.url, gated.server.url, [
    aPricedTool("wait"),
    aPricedTool("drop", { on_cancel: "pass", canceled_call_costs: "nothing" })
  ])
  const here: LegacyDoor = { ...there, url: node.url, door: there.door.replace(other.url, node.url) }
  return { gated, here, node, there }
})

const status = (door: LegacyDoor, message: unknown, headers: Record<string, string>) =>
  Effect.promise(async () => (await rpc(door, message, headers)).status)

it.layer(SteadyNode.layer, { ...LIVE, timeout: "90 seconds" })("A legacy session at two nodes", (it) => {
  it.effect("has one upstream session, streams that move, cancellations that arrive, and one end", () =>
    Effect.gen(function* () {
      const { gated, here, there } = yield* twoNodes
      const headers = yield* aSession(here)
      assert.strictEqual(yield* status(there, { jsonrpc: "2.0", id: 1, method: "prompts/list" }, headers), 200)

      const { stream } = yield* aStream(here, headers)
      const moved = eventsOf(yield* resume(there, headers, stream.events[0]!.id!))
      yield* eventually(() => moved.events.length === 1)
      assert.deepStrictEqual(moved.events[0], stream.events[1])
      gated.finish(0)
      yield* eventually(() => moved.ended)
      assert.strictEqual(JSON.parse(moved.events.at(-1)!.data).result.content[0].text, "done")
      yield* settled(there, 1)

      const { stream: second } = yield* aStream(here, headers, "drop", "two")
      assert.strictEqual(yield* status(there, canceled("two"), headers), 202)
      yield* eventually(() => second.ended && gated.server.of("notifications/cancelled").length === 1)
      const receipts = yield* settled(there, 2)
      assert.sameMembers(
        receipts.map((receipt) => receipt["cost_microcents"]),
        [1_000, 0]
      )
      const own = gated.server.of("initialize").filter(({ text }) => text.includes('"wire"'))
      assert.lengthOf(own, 1)

      const authorization = `Bearer ${there.key}`
      yield* Effect.promise(() => fetch(there.door, { method: "DELETE", headers: { ...headers, authorization } }))
      let last = 200
      while (last !== 404) last = yield* status(here, { jsonrpc: "2.0", id: 1, method: "ping" }, headers)
    })
  )

  it.effect("settles the call of a killed node once, and tells its client", () =>
    Effect.gen(function* () {
      const { here, node, there } = yield* twoNodes
      const headers = yield* aSession(here)
      const { stream } = yield* aStream(here, headers, "wait", "lost")
      yield* kill(node.child, "SIGKILL")
      const { url } = yield* PostgresTest
      yield* connectedTo(url)(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE calls_open SET deadline_at = now() - interval '1 minute', opened_at = now() - interval '2 minutes'`
        )
      )
      const [receipt] = yield* settled(there, 1)
      const answer = eventsOf(yield* resume(there, headers, stream.events[1]!.id!))
      yield* eventually(() => answer.ended, 60_000)
      assert.lengthOf(answer.events, 1)
      const [{ data, id }] = answer.events as [(typeof answer.events)[number]]
      const response = JSON.parse(data)
      assert.strictEqual(response.id, "lost")
      assert.isTrue(response.result.isError)
      const billing = response.result._meta["agent-tool-billing/billing"]
      assert.deepStrictEqual(billing, { receipt_id: receipt!["receipt_id"], cost_microcents: 0 })
      assert.strictEqual(receipt!["cost_microcents"], 0)
      assert.strictEqual((yield* resume(there, headers, id!)).status, 405)
      // The session goes on at the other node.
      assert.strictEqual(yield* status(there, { jsonrpc: "2.0", id: 1, method: "prompts/list" }, headers), 200)
    })
  )
})
