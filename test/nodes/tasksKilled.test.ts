/**
 * A node is killed while tasks of its calls run, and at each step of their settlement. Another node asks for them and settles
 * each call once.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, result, scriptedServer, text } from "../../testing/mcp/ScriptedServer.ts"
import { kill, until } from "../support/servers/EmbeddedFolders.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { aFundedConsumer, posted, walletOf } from "../support/load/LoadMarket.ts"
import { onOther } from "../support/mcp/ADoor.ts"
import { ask, at } from "../support/mcp/DoorClient.ts"
import { aNode, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const PRICE = 1_000
const LOADED = 1_000_000
const TASKS = 6
const TAKING = {
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } }
}
const TASK = {
  createdAt: "2026-11-20T12:00:00Z",
  lastUpdatedAt: "2026-11-20T12:00:00Z",
  ttlMs: null,
  pollIntervalMs: 500
}

const onTheDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(PostgresTest, ({ url }) => connectedTo(url)(Effect.flatMap(SqlClient.SqlClient, use)))

/** As if the time had passed that a node has for one question to a provider. */
const leasesPass = onTheDatabase((sql) => sql`UPDATE mcp_tasks SET due_at = now() WHERE final IS NULL`)

/** A provider whose tasks run until it is told to complete them. It may leave questions about them without an answer. */
const aTaskServer = Effect.fnUntraced(function* (url: string) {
  const state = { started: 0, isDone: false, isSilent: false, asked: 0 }
  const server = yield* scriptedServer({
    era: "modern",
    onCall: (seen, response) =>
      json(
        response,
        result(seen, { resultType: "task", taskId: `theirs-${++state.started}`, status: "working", ...TASK })
      ),
    onOther: (seen, response) => {
      if (seen.method !== "tasks/get") return onOther!(seen, response)
      state.asked++
      const { taskId } = seen.params
      const ending = state.isDone ? { status: "completed", result: text(`of ${taskId}`) } : { status: "working" }
      if (!state.isSilent) json(response, result(seen, { resultType: "complete", taskId, ...TASK, ...ending }))
      return true
    }
  })
  const { provider_id: id } = yield* posted(`${url}/api/market/register-provider`, {
    name: "Task Works",
    email: "tasks@example.org",
    endpoint_url: server.url,
    tools: [{ tool_name: "echo", price_microcents: PRICE, free_tier_calls: 0 }]
  })
  const key = yield* aFundedConsumer(url, LOADED / 10_000)
  const request = (node: string, method: string, params: Readonly<Record<string, unknown>>) =>
    ask({
      url: `${node}/mcp/${String(id)}`,
      key,
      method,
      params,
      meta: TAKING,
      ...("taskId" in params ? { headers: { "mcp-name": String(params["taskId"]) } } : {})
    })
  const start = Effect.fnUntraced(function* (node: string) {
    const answer = yield* request(node, "tools/call", { name: "echo", arguments: {} })
    assert.strictEqual(at(answer.body, "result", "resultType"), "task", answer.text)
    return String(at(answer.body, "result", "taskId"))
  })
  const textOf = (node: string, taskId: string) =>
    Effect.map(request(node, "tasks/get", { taskId }), (answer) => JSON.stringify(answer.body["result"]))
  return { key, server, start, state, textOf }
})

const booksBalance = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  const { findings, open } = yield* connectedTo(url)(
    booksAfter({ acknowledged: [], provider: { invocations: new Map() } })
  )
  assert.deepStrictEqual(findings, [])
  assert.strictEqual(open, 0)
})

it.layer(SteadyNode.layer, { ...LIVE, timeout: "90 seconds" })(
  "Another node takes over tasks from a killed one",
  (it) => {
    it.effect(
      "while they run, and while their provider is asked",
      () =>
        Effect.gen(function* () {
          const node = yield* aNode
          const other = yield* SteadyNode
          const { key, start, state, textOf } = yield* aTaskServer(other.url)
          const ids = yield* Effect.all(Array.from({ length: TASKS }, () => start(node.url)))
          const wallet = walletOf(other.url, key)
          assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: TASKS * PRICE })
          state.isSilent = true
          const before = state.asked
          yield* until(
            "a node asks",
            Effect.sync(() => state.asked > before)
          )
          yield* kill(node.child, "SIGKILL")
          state.isSilent = false
          state.isDone = true
          yield* leasesPass
          yield* until(
            "all are settled",
            Effect.map(wallet, ({ held }) => held === 0)
          )
          assert.deepStrictEqual(yield* wallet, { balance: LOADED - TASKS * PRICE, held: 0 })
          for (const id of ids) assert.include(yield* textOf(other.url, id), '"status":"completed"')
          yield* booksBalance
        }),
      90_000
    )

    it.effect(
      "whose end was stored, and whose call was settled, with one receipt",
      () =>
        Effect.gen(function* () {
          const other = yield* SteadyNode
          const { key, start, state, textOf } = yield* aTaskServer(other.url)
          const wallet = walletOf(other.url, key)
          const [ended, settled] = [yield* start(other.url), yield* start(other.url)]
          // The node stopped before the settlement: whatever the provider says now, the stored end counts.
          const outcome = JSON.stringify({ status: "success", canceled: false, waitedMs: 0, result: text("stored") })
          yield* onTheDatabase(
            (sql) =>
              sql`UPDATE mcp_tasks SET outcome = ${outcome}, ended_at = date_trunc('milliseconds', now()), due_at = now()
              WHERE id IN (${ended}, ${settled})`
          )
          state.isDone = true
          yield* until(
            "both are settled",
            Effect.map(wallet, ({ held }) => held === 0)
          )
          const final = yield* textOf(other.url, settled)
          assert.include(final, "stored")
          assert.include(yield* textOf(other.url, ended), "stored")
          // The node stopped after the settlement, before it was noted with the task.
          yield* onTheDatabase(
            (sql) => sql`UPDATE mcp_tasks SET final = NULL, status = NULL, outcome = ${outcome}, due_at = now()
              WHERE id = ${settled}`
          )
          const isNoted = onTheDatabase(
            (sql) => sql`SELECT FROM mcp_tasks WHERE id = ${settled} AND final IS NOT NULL`
          ).pipe(Effect.map((rows) => rows.length === 1))
          yield* until("it is noted again", Effect.orDie(isNoted))
          const again = JSON.parse(yield* textOf(other.url, settled)) as { result: { _meta: Record<string, object> } }
          const first = JSON.parse(final) as typeof again
          const receipt = { ...first.result._meta["agent-tool-billing/billing"], remaining_balance_microcents: 0 }
          assert.deepStrictEqual(
            { ...again.result._meta["agent-tool-billing/billing"], remaining_balance_microcents: 0 },
            receipt
          )
          assert.deepStrictEqual(yield* wallet, { balance: LOADED - 2 * PRICE, held: 0 })
          yield* booksBalance
        }),
      90_000
    )
  }
)
