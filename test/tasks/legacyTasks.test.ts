/**
 * Tasks of version 2025-11-25 at both doors: the official 1.x SDK's client and server, and what each ending costs.
 */
import { assert, it } from "@effect/vitest"
import { CallToolResultSchema, ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { json, result, scriptedServer, text } from "../../testing/mcp/ScriptedServer.ts"
import { aDeveloper, posted } from "../support/market/HttpMarket.ts"
import { aLegacyDoor, aPricedTool, connected } from "../support/mcp/LegacyClients.ts"
import {
  arranged,
  codeOf,
  codeOfStart,
  LOADED,
  PRICE,
  resultOf,
  statusOf,
  TaskDoor,
  TTL
} from "../support/mcp/LegacyTaskDoor.ts"
import { eventually } from "../support/mcp/McpClient.ts"

it.layer(TaskDoor.layer, { timeout: "60 seconds", excludeTestServices: true })("A task of the legacy era", (it) => {
  it.effect("runs through the SDK's stream at both doors, and is one call with one receipt each", () =>
    Effect.gen(function* () {
      const { client, key, market, wallet, receipts, server, tasks, url } = yield* arranged
      assert.deepStrictEqual(client.getServerCapabilities()?.tasks, {
        list: {},
        cancel: {},
        requests: { tools: { call: {} } }
      })
      const { client: atMarket } = yield* connected({ door: market, key })
      yield* posted(`${url}/api/market/toolbox`, { tools: ["ada-tools/job"] }, key)
      const runs = [
        { at: client, name: () => "job" },
        {
          at: atMarket,
          name: (tools: ReadonlyArray<{ readonly name: string }>) =>
            tools.find(({ name }) => name.endsWith("__job"))!.name
        }
      ]
      for (const { at, name } of runs) {
        const kinds: Array<string> = []
        const { tools } = yield* Effect.promise(() => at.listTools())
        const run = async () => {
          for await (const message of at.experimental.tasks.callToolStream({ name: name(tools), arguments: {} })) {
            kinds.push(message.type)
            if (message.type === "taskCreated") {
              assert.notStrictEqual(message.task.taskId, server.started.at(-1))
              await server.finish("completed", { ...text("done"), structuredContent: { n: 1.5 } })
            }
            if (message.type === "result") return message.result
          }
          throw new Error(kinds.join())
        }
        const done = (yield* Effect.promise(run)) as Readonly<Record<string, unknown>>
        assert.deepStrictEqual(done["content"], text("done").content)
        assert.deepStrictEqual(done["structuredContent"], { n: 1.5 })
        assert.notInclude(JSON.stringify(done), server.started.at(-1)!)
        assert.deepStrictEqual([kinds[0], kinds.at(-1)], ["taskCreated", "result"])
      }
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - 2 * PRICE, held: 0 })
      assert.lengthOf(yield* receipts, 2)
      assert.deepStrictEqual(server.ttls.slice(-2), [TTL, TTL])
      // A list is of the account, at both doors.
      for (const at of [tasks, atMarket.experimental.tasks]) {
        const listed = yield* Effect.promise(() => at.listTasks())
        assert.deepStrictEqual(
          listed.tasks.map(({ status }) => status),
          ["completed", "completed"]
        )
      }
    })
  )

  it.effect("has its result only after the settlement: `tasks/result` waits for it", () =>
    Effect.gen(function* () {
      const { client, wallet, server, start } = yield* arranged
      const taskId = yield* start()
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
      assert.strictEqual(yield* statusOf(client, taskId), "working")
      let isOver = false
      const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema).finally(() => {
        isOver = true
      })
      yield* eventually(() => server.seen.filter((method) => method === "tasks/get").length >= 2)
      assert.isFalse(isOver)
      yield* Effect.promise(() => server.finish("completed", text("done")))
      const done = (yield* Effect.promise(() => waiting)) as { readonly _meta: Readonly<Record<string, object>> }
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
      assert.deepStrictEqual(done._meta["io.modelcontextprotocol/related-task"], { taskId })
      assert.deepInclude(done._meta["agent-tool-billing/billing"], { cost_microcents: PRICE })
      assert.deepStrictEqual(yield* resultOf(client, taskId), done as never)
    })
  )

  it.effect("beyond those that may wait is rejected before its server is asked; a call without a task runs", () =>
    Effect.gen(function* () {
      const { client, receipts, server, start, wallet } = yield* arranged
      for (let n = 0; n < 16; n++) yield* start()
      const calls = () => server.seen.filter((method) => method === "tools/call").length
      const before = calls()
      const params = { name: "job", arguments: {}, task: {} }
      const refused = yield* Effect.promise(() => client.request({ method: "tools/call", params }, ResultSchema))
      const billing = refused._meta!["agent-tool-billing/billing"]
      assert.deepInclude(billing, { code: "RATE_LIMITED", charged: false, retryable: true, calls_waiting_max: 32 })
      assert.strictEqual(calls(), before)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 16 * PRICE })
      assert.lengthOf(yield* receipts, 0)
      yield* Effect.promise(() => client.callTool({ name: "plain", arguments: {} }))
      assert.strictEqual(calls(), before + 1)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 16 * PRICE })
    })
  )

  it.effect("that fails costs nothing, and says why", () =>
    Effect.gen(function* () {
      const { client, wallet, server, start } = yield* arranged
      const taskId = yield* start()
      yield* Effect.promise(() => server.finish("failed", { ...text("broken"), isError: true }))
      const failed = yield* resultOf(client, taskId)
      assert.isTrue(failed.isError)
      const { status, statusMessage } = yield* Effect.promise(() => client.experimental.tasks.getTask(taskId))
      assert.deepStrictEqual([status, statusMessage], ["failed", "broken"])
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      const lying = yield* start()
      // A failure with a result that is no error is not billed either.
      yield* Effect.promise(() => server.finish("failed", text("free?")))
      yield* resultOf(client, lying)
      assert.strictEqual(yield* statusOf(client, lying), "failed")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
    })
  )

  it.effect("ends with its provider's cancellation, its questions, and the loss of its session, free of charge", () =>
    Effect.gen(function* () {
      const { client, wallet, receipts, server, start } = yield* arranged
      for (const [change, says] of [
        [() => server.become("cancelled"), "canceled the task"],
        [() => server.become("input_required"), "asked for input"],
        [async () => server.forget(), "session of its task"]
      ] as const) {
        const taskId = yield* start()
        yield* Effect.promise(change)
        const ended = yield* resultOf(client, taskId)
        assert.include(ended.content[0]?.text, says)
        assert.strictEqual(yield* statusOf(client, taskId), "failed")
      }
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      assert.lengthOf(yield* receipts, 3)
    })
  )

  it.effect("that is canceled costs what the tool publishes, and is not canceled where it publishes nothing", () =>
    Effect.gen(function* () {
      const { client, wallet, server, start, tasks } = yield* arranged
      const taskId = yield* start()
      const canceled = yield* Effect.promise(() => tasks.cancelTask(taskId))
      assert.deepInclude(canceled as object, { taskId, status: "cancelled" })
      assert.include(server.seen, "tasks/cancel")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
      assert.strictEqual(yield* codeOf(() => tasks.cancelTask(taskId)), -32_602)
      assert.strictEqual(yield* codeOf(() => tasks.getTaskResult(taskId, CallToolResultSchema)), -32_602)
      const runsOn = yield* start("maybe")
      assert.strictEqual(yield* codeOf(() => tasks.cancelTask(runsOn)), -32_600)
      assert.strictEqual(yield* statusOf(client, runsOn), "working")
      yield* Effect.promise(() => server.finish("completed", text("done")))
      yield* resultOf(client, runsOn)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - 2 * PRICE, held: 0 })
      // Too late: the work that was done is paid.
      const late = yield* start()
      yield* Effect.promise(() => server.finish("completed", text("done")))
      assert.strictEqual(yield* codeOf(() => tasks.cancelTask(late)), -32_602)
      assert.strictEqual((yield* resultOf(client, late)).content[0]?.text, "done")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - 3 * PRICE, held: 0 })
    })
  )

  it.effect("belongs to its account, under the service's id, and outlives the client's session", () =>
    Effect.gen(function* () {
      const { client, door, key, wallet, server, start, url } = yield* arranged
      const taskId = yield* start()
      const theirs = server.started.at(-1)!
      const strangerKey = yield* aDeveloper(url)
      const { client: stranger } = yield* connected({ door, key: strangerKey })
      for (const [at, id] of [
        [stranger, taskId],
        [client, theirs],
        [client, "guess"]
      ] as const) {
        const { tasks } = at.experimental
        for (const ask of [
          () => tasks.getTask(id),
          () => tasks.getTaskResult(id, CallToolResultSchema),
          () => tasks.cancelTask(id)
        ]) {
          assert.strictEqual(yield* codeOf(ask), -32_602)
        }
      }
      assert.deepStrictEqual((yield* Effect.promise(() => stranger.experimental.tasks.listTasks())).tasks, [])
      yield* Effect.promise(() => client.close())
      yield* Effect.promise(() => server.finish("completed", text("done")))
      // It is settled though its client does not ask.
      while ((yield* wallet).held !== 0) yield* Effect.sleep("20 millis")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
      const { client: again } = yield* connected({ door, key })
      assert.strictEqual((yield* resultOf(again, taskId)).content[0]?.text, "done")
    })
  )

  it.effect("has a session of its own at the provider, which ends with it", () =>
    Effect.gen(function* () {
      const { client, server, start } = yield* arranged
      const before = server.sessions()
      const taskId = yield* start()
      assert.strictEqual(server.sessions(), before + 1)
      yield* Effect.promise(() => server.finish("completed", text("done")))
      yield* resultOf(client, taskId)
      yield* eventually(() => server.sessions() === before)
      // Not a task after all: the session ends at once.
      assert.strictEqual(yield* codeOfStart(start("plain")), -32_601)
      yield* eventually(() => server.sessions() === before)
    })
  )

  it.effect("takes a time to live of any length, and no other value", () =>
    Effect.gen(function* () {
      const { client, wallet, server, start } = yield* arranged
      for (const ttl of [0, 365 * TTL]) {
        const taskId = yield* start("job", ttl)
        assert.strictEqual(server.ttls.at(-1), TTL)
        const { ttl: given } = yield* Effect.promise(() => client.experimental.tasks.getTask(taskId))
        // Until it may end, and a day for its result.
        assert.isAtLeast(given!, TTL)
        assert.isAtMost(given!, 2 * TTL)
        yield* Effect.promise(() => server.finish("completed", text("done")))
        yield* resultOf(client, taskId)
      }
      const { balance } = yield* wallet
      for (const task of [1, "a", [], { ttl: -1 }, { ttl: "1" }]) {
        const call = () =>
          client.request({ method: "tools/call", params: { name: "job", task } } as never, undefined as never)
        assert.strictEqual(yield* codeOf(call), -32_602)
      }
      assert.deepStrictEqual(yield* wallet, { balance, held: 0 })
    })
  )

  it.effect("is not offered for tools and servers without tasks", () =>
    Effect.gen(function* () {
      const { client, key, market, wallet, start, url } = yield* arranged
      assert.strictEqual(yield* codeOfStart(start("plain")), -32_601)
      const { client: atMarket } = yield* connected({ door: market, key })
      const task = { name: "balance", arguments: {}, task: {} }
      const own = () => atMarket.request({ method: "tools/call", params: task } as never, undefined as never)
      assert.strictEqual(yield* codeOf(own), -32_601)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      const plain = yield* Effect.promise(() => client.callTool({ name: "plain" }))
      assert.deepStrictEqual((plain["content"] as ReadonlyArray<object>)[0], { type: "text", text: "plain" })
      const modern = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => json(response, result(seen, text("fine")))
      })
      const other = yield* aLegacyDoor(url, modern.url, [aPricedTool("echo", { unlisted: true })])
      const { client: ofOther } = yield* connected(other)
      assert.isUndefined(ofOther.getServerCapabilities()?.tasks)
      const ignored = yield* Effect.promise(() =>
        ofOther.callTool({ name: "echo", arguments: {}, task: { ttl: 1 } } as never)
      )
      assert.strictEqual((ignored["content"] as ReadonlyArray<{ readonly text: string }>)[0]?.text, "fine")
      assert.isUndefined(modern.of("tools/call")[0]?.params["task"])
    })
  )

  it.effect("is the same task for a call that is repeated with its key", () =>
    Effect.gen(function* () {
      const { client, wallet, server } = yield* arranged
      const call = () =>
        Effect.promise(() =>
          client.request(
            {
              method: "tools/call",
              params: { name: "job", arguments: {}, task: {}, _meta: { "agent-tool-billing/idempotency_key": "once" } }
            } as never,
            { parse: (value: unknown) => value, safeParse: (data: unknown) => ({ success: true, data }) } as never
          )
        ) as Effect.Effect<{ readonly task: { readonly taskId: string } }>
      const before = server.started.length
      const { task } = yield* call()
      assert.strictEqual((yield* call()).task.taskId, task.taskId)
      assert.lengthOf(server.started, before + 1)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
    })
  )
})
