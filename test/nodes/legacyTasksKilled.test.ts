/**
 * Tasks of version 2025-11-25 on two nodes with one database: started at one and used at the other, and taken over from a node
 * that is killed while a task starts, while its provider is asked, and between the steps of the settlement.
 */
import { assert, it } from "@effect/vitest"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { text } from "../../testing/mcp/ScriptedServer.ts"
import { kill, until } from "../support/servers/EmbeddedFolders.ts"
import { got } from "../support/market/HttpMarket.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { walletOf } from "../support/load/LoadMarket.ts"
import { aLegacyDoor, aPricedTool, connected } from "../support/mcp/LegacyClients.ts"
import { codeOf, resultOf, statusOf } from "../support/mcp/LegacyTaskDoor.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { taskServer } from "../support/mcp/servers/TaskServer.ts"
import { aNode, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const PRICE = 1_000
const LOADED = 100_000_000
const TASKS = 4
const CASE_MS_MAX = 120_000
const PAID = { free_tier_calls: 0, timeout_ms: 60_000 }

const onTheDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(PostgresTest, ({ url }) => connectedTo(url)(Effect.flatMap(SqlClient.SqlClient, use)))

const holds = (use: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<object>, unknown>) =>
  Effect.orDie(Effect.map(onTheDatabase(use), (rows) => rows.length > 0))

/** As if the time had passed that a node has for one question to a provider. */
const leasesPass = onTheDatabase((sql) => sql`UPDATE mcp_tasks SET due_at = now() WHERE final IS NULL`)

/** Keeps rows locked until they are released. */
const locking = Effect.fnUntraced(function* (lock: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) {
  const locked = yield* Deferred.make<void>()
  const free = yield* Deferred.make<void>()
  const holding = yield* Effect.forkScoped(
    onTheDatabase((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* lock(sql)
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(free)
        })
      )
    )
  )
  yield* Deferred.await(locked)
  return { release: Effect.andThen(Deferred.succeed(free, undefined), Fiber.join(holding)) }
})

/** A provider with tasks, listed at a node, and what its client does at any node. */
const aTaskDoor = Effect.fnUntraced(function* (url: string) {
  const server = yield* taskServer
  const door = yield* aLegacyDoor(url, server.url, [
    aPricedTool("job", { ...PAID, on_cancel: "pass", canceled_call_costs: "price" }),
    aPricedTool("maybe", PAID)
  ])
  const at = (node: string) =>
    Effect.map(connected({ ...door, door: door.door.replace(url, node) }), ({ client }) => client)
  const start = Effect.fnUntraced(function* (node: string, meta: Readonly<Record<string, unknown>> = {}) {
    const client = yield* at(node)
    const { task } = yield* Effect.promise(
      () =>
        client.request(
          { method: "tools/call", params: { name: "job", arguments: {}, task: {}, _meta: meta } } as never,
          { parse: (value: unknown) => value, safeParse: (data: unknown) => ({ success: true, data }) } as never
        ) as Promise<{ readonly task: { readonly taskId: string } }>
    )
    return task.taskId
  })
  const receipts = (node: string) =>
    Effect.map(
      got(`${node}/api/v1/market/receipts?limit=100`, door.key),
      (body) => body["receipts"] as ReadonlyArray<Readonly<Record<string, unknown>>>
    )
  const finishAll = Effect.promise(() =>
    Promise.all(server.started.map((taskId) => server.finish("completed", text(`of ${taskId}`), taskId)))
  )
  return { server, at, start, receipts, finishAll, wallet: (node: string) => walletOf(node, door.key) }
})

const booksBalance = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  const { findings, open } = yield* connectedTo(url)(
    booksAfter({ acknowledged: [], provider: { invocations: new Map() } })
  )
  assert.deepStrictEqual(findings, [])
  assert.strictEqual(open, 0)
})

type TaskDoor = Effect.Success<ReturnType<typeof aTaskDoor>>

/** Its results are read at this node: each is paid once, and has the id that its client knows. */
const arePaidOnce = Effect.fnUntraced(function* (
  { at, receipts, server, wallet }: TaskDoor,
  url: string,
  ids: ReadonlyArray<string>
) {
  const client = yield* at(url)
  for (const [n, taskId] of ids.entries()) {
    const { _meta, content } = yield* resultOf(client, taskId)
    assert.strictEqual(content[0]?.text, `of ${server.started[n]}`)
    assert.deepStrictEqual(_meta["io.modelcontextprotocol/related-task"], { taskId })
    assert.deepInclude(_meta["agent-tool-billing/billing"], { cost_microcents: PRICE })
  }
  assert.deepStrictEqual(yield* wallet(url), { balance: LOADED - ids.length * PRICE, held: 0 })
  assert.lengthOf(yield* receipts(url), ids.length)
  yield* booksBalance
})

it.layer(SteadyNode.layer, { ...LIVE, timeout: "120 seconds" })("A task of the legacy era on two nodes", (it) => {
  it.effect(
    "is polled, canceled and read at the one that did not start it",
    () =>
      Effect.gen(function* () {
        const [node, other] = [yield* aNode, yield* SteadyNode]
        const door = yield* aTaskDoor(other.url)
        const client = yield* door.at(other.url)
        const [read, canceled] = [yield* door.start(node.url), yield* door.start(node.url)]
        for (const taskId of [read, canceled]) assert.strictEqual(yield* statusOf(client, taskId), "working")
        const listed = yield* Effect.promise(() => client.experimental.tasks.listTasks())
        assert.deepStrictEqual(
          listed.tasks.map(({ taskId }) => taskId),
          [canceled, read]
        )
        assert.deepInclude((yield* Effect.promise(() => client.experimental.tasks.cancelTask(canceled))) as object, {
          taskId: canceled,
          status: "cancelled"
        })
        assert.include(door.server.seen, "tasks/cancel")
        assert.strictEqual(yield* statusOf(yield* door.at(node.url), canceled), "cancelled")
        // It waits at one node for what the other may settle.
        const waiting = client.experimental.tasks.getTaskResult(read, CallToolResultSchema)
        yield* Effect.promise(() => door.server.finish("completed", text("done"), door.server.started[0]))
        const done = yield* Effect.promise(() => waiting)
        assert.deepStrictEqual(yield* resultOf(yield* door.at(node.url), read), done as never)
        assert.strictEqual(yield* codeOf(() => client.experimental.tasks.cancelTask(read)), -32_602)
        assert.deepStrictEqual(yield* door.wallet(other.url), { balance: LOADED - 2 * PRICE, held: 0 })
        assert.lengthOf(yield* door.receipts(other.url), 2)
        yield* booksBalance
      }),
    CASE_MS_MAX
  )

  it.effect(
    "is taken over from one that was killed right after the start, with the client that waited there",
    () =>
      Effect.gen(function* () {
        const [node, other] = [yield* aNode, yield* SteadyNode]
        const door = yield* aTaskDoor(other.url)
        const ids = yield* Effect.forEach(Array.from({ length: TASKS }), () => door.start(node.url))
        const there = yield* door.at(node.url)
        const waiting = codeOf(() =>
          there.experimental.tasks.getTaskResult(ids[0]!, CallToolResultSchema, { timeout: 60_000 })
        )
        const cut = yield* Effect.forkChild(waiting, { startImmediately: true })
        // As if it had not come to mark this call as one that waits.
        yield* onTheDatabase(
          (sql) => sql`UPDATE calls_open SET suspended_leg = NULL, deadline_at = now() + interval '1 hour'
            WHERE invocation_id = (SELECT invocation_id FROM calls_open ORDER BY opened_at DESC LIMIT 1)`
        )
        yield* kill(node.child, "SIGKILL")
        yield* Effect.promise(() => there.close())
        assert.notStrictEqual(yield* Fiber.join(cut), 0)
        yield* leasesPass
        yield* door.finishAll
        yield* arePaidOnce(door, other.url, ids)
      }),
    CASE_MS_MAX
  )

  it.effect(
    "is free if the node is killed before it knows of it, and starts again under its key",
    () =>
      Effect.gen(function* () {
        const [node, other] = [yield* aNode, yield* SteadyNode]
        const door = yield* aTaskDoor(other.url)
        const key = { "agent-tool-billing/idempotency_key": "once" }
        door.server.silent.add("tools/call")
        const starting = yield* Effect.forkChild(Effect.exit(door.start(node.url, key)), { startImmediately: true })
        yield* eventually(() => door.server.started.length === 1)
        assert.deepStrictEqual(yield* door.wallet(other.url), { balance: LOADED, held: PRICE })
        yield* kill(node.child, "SIGKILL")
        yield* Fiber.interrupt(starting)
        yield* onTheDatabase(
          (sql) =>
            sql`UPDATE calls_open SET deadline_at = now() - interval '1 minute', opened_at = now() - interval '2 minutes'`
        )
        yield* until(
          "its hold is released",
          Effect.map(door.wallet(other.url), ({ held }) => held === 0)
        )
        assert.deepStrictEqual(yield* door.wallet(other.url), { balance: LOADED, held: 0 })
        door.server.silent.clear()
        const taskId = yield* door.start(other.url, key)
        assert.strictEqual(yield* door.start(other.url, key), taskId)
        assert.lengthOf(door.server.started, 2)
        yield* door.finishAll
        yield* resultOf(yield* door.at(other.url), taskId)
        assert.deepStrictEqual(yield* door.wallet(other.url), { balance: LOADED - PRICE, held: 0 })
        yield* booksBalance
      }),
    CASE_MS_MAX
  )
})

it.layer(PostgresTest.layerDatabase, { ...LIVE, timeout: "120 seconds" })("The only node is killed", (it) => {
  for (const method of ["tasks/get", "tasks/result"]) {
    it.effect(
      `while it asks the provider with ${method}: another one settles the call once`,
      () =>
        Effect.gen(function* () {
          const node = yield* aNode
          const door = yield* aTaskDoor(node.url)
          const ids = yield* Effect.forEach(Array.from({ length: TASKS }), () => door.start(node.url))
          door.server.silent.add(method)
          const asked = () => door.server.seen.filter((seen) => seen === method).length
          const before = asked()
          if (method === "tasks/result") yield* door.finishAll
          yield* eventually(() => asked() > before)
          yield* kill(node.child, "SIGKILL")
          door.server.silent.clear()
          if (method === "tasks/get") yield* door.finishAll
          const other = yield* aNode
          assert.deepStrictEqual(yield* door.wallet(other.url), { balance: LOADED, held: TASKS * PRICE })
          yield* leasesPass
          yield* arePaidOnce(door, other.url, ids)
        }),
      CASE_MS_MAX
    )
  }

  for (const [title, isSettled] of [
    ["after the end of a task was stored, before its call was settled", false],
    ["after the call was settled, before its task had the result", true]
  ] as const) {
    it.effect(
      `${title}: another one gives the one receipt`,
      () =>
        Effect.gen(function* () {
          const node = yield* aNode
          const door = yield* aTaskDoor(node.url)
          const taskId = yield* door.start(node.url)
          const locked = yield* locking((sql) => sql`SELECT FROM wallets FOR UPDATE`)
          yield* door.finishAll
          yield* until(
            "its end is stored",
            holds((sql) => sql`SELECT FROM mcp_tasks WHERE id = ${taskId} AND ended_at IS NOT NULL`)
          )
          yield* until(
            "its settlement waits",
            holds((sql) => sql`${waitingNow(sql)}`)
          )
          yield* kill(node.child, "SIGKILL")
          // The database goes on with the statement of a killed node, unless its connection ends first.
          if (!isSettled)
            yield* onTheDatabase((sql) => sql`SELECT pg_terminate_backend(pid) FROM (${waitingNow(sql)}) waits`)
          yield* locked.release
          yield* until(
            "only the settlement is decided",
            holds(
              (sql) => sql`
              SELECT FROM mcp_tasks t WHERE t.id = ${taskId} AND t.final IS NULL
                AND ${isSettled} = EXISTS (SELECT FROM receipts r WHERE r.consumer_id = t.consumer_id)`
            )
          )
          const other = yield* aNode
          yield* leasesPass
          yield* arePaidOnce(door, other.url, [taskId])
        }),
      CASE_MS_MAX
    )
  }
})

/** Connections of nodes that wait for the lock. */
const waitingNow = (sql: SqlClient.SqlClient) =>
  sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
