/**
 * `kill -9` of the service between the hold and the settlement of a call at the door of a provider: the hold is released,
 * nothing is charged, and the call that is repeated under its idempotency key is settled once.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { client, kill, makeTemplate, startAnd, type Template, until } from "../support/servers/EmbeddedFolders.ts"
import { aFundedConsumer, loadMarket, OPEN_TO_LOAD, PRICE, walletOf } from "../support/load/LoadMarket.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { json, result, scriptedServer, text } from "../../testing/mcp/ScriptedServer.ts"

let template: Template
beforeAll(async () => {
  template = await makeTemplate()
})
afterAll(() => template.remove())

const FUNDS = 10_000 * 100

const timePassesForOpenCalls = (dataDir: string) =>
  startAnd(dataDir, ({ url }) =>
    Effect.scoped(
      Effect.flatMap(client(url), (sql) =>
        Effect.provideService(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`UPDATE calls_open SET deadline_at = now() - interval '1 second'`
          ),
          SqlClient.SqlClient,
          sql
        )
      )
    )
  )

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "agent-tool-billing/idempotency_key": "the only call"
}

const callAt = (door: string, key: string) =>
  Effect.promise(async (signal) => {
    const response = await fetch(door, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${key}`,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "echo"
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "echo", arguments: {}, _meta: META }
      })
    })
    return response.text()
  })

it.live(
  "A call at the door that a crash interrupts costs nothing, and is settled once when it is repeated",
  () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      let answers = false
      const upstream = yield* scriptedServer({
        era: "stateless",
        onCall: (seen, response) => {
          if (answers) json(response, result(seen, text("done")))
        }
      })
      const PORT = String(yield* freePort)
      const url = `http://127.0.0.1:${PORT}`
      const started = ready({ ...OPEN_TO_LOAD, DATA_DIR: dataDir, PORT, LOG_LEVEL: "Error" })
      const first = yield* started
      const { providerId } = yield* loadMarket(url, upstream, { buyers: 0 })
      const key = yield* aFundedConsumer(url, 100)
      const door = `${url}/mcp/${providerId}`
      yield* Effect.forkChild(Effect.exit(callAt(door, key)))
      yield* until(
        "the server has the call",
        Effect.sync(() => upstream.of("tools/call").length === 1)
      )
      assert.strictEqual((yield* walletOf(url, key)).held, PRICE)
      yield* kill(first.child, "SIGKILL")

      yield* timePassesForOpenCalls(dataDir)
      answers = true
      const second = yield* started
      yield* until(
        "the hold is released",
        Effect.map(walletOf(url, key), ({ held }) => held === 0)
      )
      assert.strictEqual((yield* walletOf(url, key)).balance, FUNDS)

      const [one, again] = [yield* callAt(door, key), yield* callAt(door, key)]
      assert.include(one, "done")
      assert.strictEqual(again, one, "the same bytes again")
      assert.lengthOf(upstream.of("tools/call"), 2)
      const wallet = yield* walletOf(url, key)
      assert.deepStrictEqual([wallet.held, wallet.balance], [0, FUNDS - PRICE])
      yield* kill(second.child, "SIGTERM")
    }),
  300_000
)
