/**
 * Tasks through the doors over HTTP: what a client of the modern era sends and gets, and that another one gets nothing.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type Answer, json, result, rpcError, type Script, text } from "../../testing/mcp/ScriptedServer.ts"
import { got } from "../support/market/HttpMarket.ts"
import { aFundedConsumer, PRICE } from "../support/load/LoadMarket.ts"
import { aDoor, fine, LOADED, onOther, SETTINGS } from "../support/mcp/ADoor.ts"
import { type Answered, ask, at, errorCode, type Json, opened } from "../support/mcp/DoorClient.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import { post } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const EXTENSION = { extensions: { "io.modelcontextprotocol/tasks": {} } }
const CAPABILITIES = { elicitation: {}, ...EXTENSION }
const TAKING = { "io.modelcontextprotocol/clientCapabilities": CAPABILITIES }
const TASK = {
  status: "working",
  createdAt: "2026-11-20T12:00:00Z",
  lastUpdatedAt: "2026-11-20T12:00:00Z",
  ttlMs: 600_000,
  pollIntervalMs: 500
}

const starting: Answer = (seen, response) =>
  json(response, result(seen, { resultType: "task", taskId: "theirs-1", ...TASK }))

/** What the provider says of its task; a test changes it. */
class Working {
  says: Json = {}
  readonly onOther: NonNullable<Script["onOther"]> = (seen, response) => {
    const { method, params } = seen
    if (method === "tasks/get") {
      const known = params["taskId"] === "theirs-1"
      json(
        response,
        known
          ? result(seen, { resultType: "complete", taskId: "theirs-1", ...TASK, ...this.says })
          : rpcError(seen, -32_602, "Unknown")
      )
      return true
    }
    if (method === "tasks/cancel" || method === "tasks/update") {
      json(response, result(seen, { resultType: "complete" }))
      return true
    }
    return onOther!(seen, response)
  }
}

const aTaskDoor = Effect.fnUntraced(function* (tool: object = {}) {
  const working = new Working()
  const door = yield* aDoor(starting, { onOther: working.onOther, tool })
  const tasks = (method: string, taskId: string, more: Json = {}, url = door.url, key = door.key) =>
    ask({
      url,
      key,
      method: `tasks/${method}`,
      params: { taskId, ...more },
      meta: TAKING,
      headers: { "mcp-name": taskId }
    })
  const start = (meta: Json = {}) => door.call({}, { ...TAKING, ...meta })
  return { ...door, working, tasks, start }
})

/** Asks until the answer is as expected. */
const eventually = <A>(asking: Effect.Effect<A>, isSo: (answer: A) => boolean): Effect.Effect<A> =>
  Effect.repeat(asking, { until: isSo, schedule: Schedule.spaced("20 millis") })

const taskIdOf = (answer: Answered): string => {
  assert.strictEqual(at(answer.body, "result", "resultType"), "task", answer.text)
  return String(at(answer.body, "result", "taskId"))
}

const receipts = ({ base, key }: { readonly base: string; readonly key: string }) =>
  Effect.map(
    got(`${base}/api/v1/market/receipts?limit=100`, key),
    (body) => body["receipts"] as ReadonlyArray<Readonly<Record<string, unknown>>>
  )

it.layer(RawHttp.layer(SETTINGS), LIVE)("A task at a door", (it) => {
  it.effect("is one call with one receipt, which is billed when it completes", () =>
    Effect.gen(function* () {
      const { base, key, wallet, server, start, tasks, working } = yield* aTaskDoor()
      const answer = yield* start()
      const taskId = taskIdOf(answer)
      assert.notInclude(answer.text, "theirs-1")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
      assert.strictEqual(at((yield* tasks("get", taskId)).body, "result", "status"), "working")
      assert.lengthOf(yield* receipts({ base, key }), 0)
      working.says = { status: "completed", result: { ...text("done"), n: 1.5 } }
      const done = yield* eventually(tasks("get", taskId), ({ text: said }) => said.includes('"completed"'))
      assert.strictEqual(at(done.body, "result", "resultType"), "complete")
      assert.strictEqual(at(done.body, "result", "result", "content", "0", "text"), "done")
      const billing = at(done.body, "result", "result", "_meta", "agent-tool-billing/billing")
      assert.strictEqual(at(billing as Json, "cost_microcents"), PRICE)
      assert.strictEqual(at(billing as Json, "receipt_id"), answer.headers.get("x-market-receipt"))
      assert.strictEqual((yield* tasks("get", taskId)).text, done.text)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
      assert.lengthOf(yield* receipts({ base, key }), 1)
      // What the provider is asked names its own task, to a client that declares the extension.
      const [asked] = server.of("tasks/get")
      assert.strictEqual(asked!.headers["mcp-name"], "theirs-1")
      assert.deepInclude(asked!.params, { taskId: "theirs-1" })
      assert.deepStrictEqual(at(asked!.params, "_meta", "io.modelcontextprotocol/clientCapabilities"), EXTENSION)
    })
  )

  it.effect("is settled though its client never asks", () =>
    Effect.gen(function* () {
      const { wallet, start, working } = yield* aTaskDoor()
      working.says = { status: "completed", result: text("done") }
      taskIdOf(yield* start())
      yield* eventually(wallet, ({ balance, held }) => balance === LOADED - PRICE && held === 0)
    })
  )

  it.effect("is the same task for a call that is repeated with its key", () =>
    Effect.gen(function* () {
      const { wallet, server, start } = yield* aTaskDoor()
      const meta = { "agent-tool-billing/idempotency_key": "once" }
      const first = yield* start(meta)
      assert.strictEqual(taskIdOf(yield* start(meta)), taskIdOf(first))
      assert.lengthOf(server.of("tools/call"), 1)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
    })
  )

  it.effect("passes questions and answers on, and a cancellation where the tool publishes that", () =>
    Effect.gen(function* () {
      const { key, wallet, server, start, tasks, url, working } = yield* aTaskDoor({
        on_cancel: "pass",
        canceled_call_costs: "nothing"
      })
      working.says = { status: "input_required", inputRequests: { who: { method: "elicitation/create", params: {} } } }
      const taskId = taskIdOf(yield* start())
      const asking = yield* eventually(tasks("get", taskId), ({ text: said }) => said.includes("inputRequests"))
      assert.strictEqual(at(asking.body, "result", "status"), "input_required")
      const method = "tasks/get"
      const headers = { "mcp-name": taskId }
      const meta = { "io.modelcontextprotocol/clientCapabilities": EXTENSION }
      const undeclared = yield* ask({ url, key, method, params: { taskId }, meta, headers })
      assert.deepStrictEqual([undeclared.status, at(undeclared.body, "error", "code")], [400, -32_021])
      const answers = { who: { action: "accept", content: { n: 1 } } }
      const updated = yield* tasks("update", taskId, { inputResponses: answers })
      assert.deepStrictEqual(updated.body["result"], { resultType: "complete" })
      assert.deepStrictEqual(server.of("tasks/update")[0]!.params["inputResponses"], answers)
      const canceled = yield* tasks("cancel", taskId)
      assert.deepStrictEqual(canceled.body["result"], { resultType: "complete" })
      assert.strictEqual(server.of("tasks/cancel")[0]!.params["taskId"], "theirs-1")
      assert.strictEqual(at((yield* tasks("get", taskId)).body, "result", "status"), "cancelled")
      assert.deepStrictEqual((yield* tasks("cancel", taskId)).body["result"], { resultType: "complete" })
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
    })
  )

  it.effect("is unknown to other accounts, and under the provider's id, and needs the extension", () =>
    Effect.gen(function* () {
      const { base, key, start, tasks, url, working } = yield* aTaskDoor()
      working.says = { status: "completed", result: text("secret") }
      const taskId = taskIdOf(yield* start())
      const stranger = yield* aFundedConsumer(base, 1_000)
      const others = [
        tasks("get", taskId, {}, url, stranger),
        tasks("get", taskId, {}, `${base}/mcp`, stranger),
        tasks("get", "theirs-1"),
        tasks("cancel", "theirs-1"),
        tasks("update", "theirs-1", { inputResponses: {} })
      ]
      for (const other of others) assert.deepStrictEqual(errorCode(yield* other), [200, -32_602])
      const undeclared = yield* ask({
        url,
        key,
        method: "tasks/get",
        params: { taskId },
        headers: { "mcp-name": taskId }
      })
      assert.deepStrictEqual(errorCode(undeclared), [400, -32_021])
      assert.deepStrictEqual(at(undeclared.body, "error", "data", "requiredCapabilities"), EXTENSION)
      const mismatched = yield* ask({
        url,
        key,
        method: "tasks/get",
        params: { taskId },
        meta: TAKING,
        headers: { "mcp-name": "another" }
      })
      assert.deepStrictEqual(errorCode(mismatched), [400, -32_020])
      for (const removed of ["result", "list", "Get"]) {
        assert.deepStrictEqual(errorCode(yield* tasks(removed, taskId)), [404, -32_601])
      }
      // At the door of the market it is the account's too.
      yield* eventually(tasks("get", taskId, {}, `${base}/mcp`), ({ text: said }) => said.includes("secret"))
    })
  )

  it.effect("cannot be subscribed to: its states are not passed on", () =>
    Effect.gen(function* () {
      const { base, key, server, start, url } = yield* aTaskDoor()
      const taskId = taskIdOf(yield* start())
      const params = { notifications: { taskIds: [taskId, "theirs-1"], promptsListChanged: true } }
      for (const path of [url, `${base}/mcp`]) {
        const undeclared = yield* ask({ url: path, key, method: "subscriptions/listen", params })
        assert.deepStrictEqual(errorCode(undeclared), [400, -32_021])
      }
      const connection = new AbortController()
      const { signal } = connection
      yield* Effect.forkChild(opened({ url, key, method: "subscriptions/listen", params, meta: TAKING, signal }))
      yield* eventually(
        Effect.sync(() => server.of("subscriptions/listen")),
        (seen) => seen.length > 0
      )
      connection.abort()
      const passed = server.of("subscriptions/listen")[0]!
      assert.deepStrictEqual(passed.params["notifications"], { promptsListChanged: true })
      assert.notInclude(passed.text, "modelcontextprotocol/tasks")
    })
  )

  it.effect("is not passed to a client by any other way", () =>
    Effect.gen(function* () {
      const working = new Working()
      const pushed = JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/tasks",
        params: { taskId: "theirs-1", status: "completed", result: text("unpaid") }
      })
      const door = yield* aDoor(
        (seen, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(`data: ${pushed}\n\n`)
          response.write(`data: ${pushed.replace("/tasks", "\\u002ftasks")}\n\n`)
          response.end(`data: ${JSON.stringify(result(seen, { resultType: "complete", ...text("paid") }))}\n\n`)
        },
        { onOther: working.onOther }
      )
      const answer = yield* door.call({}, TAKING)
      assert.include(answer.text, "paid")
      assert.notInclude(answer.text, "unpaid")
    })
  )

  it.effect("that a server starts for a client without the extension is an error, and `task` is ignored", () =>
    Effect.gen(function* () {
      const { call, wallet, server } = yield* aTaskDoor()
      const answer = yield* call()
      assert.isTrue(at(answer.body, "result", "isError"))
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      const declared = at(server.of("tools/call")[0]!.params, "_meta", "io.modelcontextprotocol/clientCapabilities")
      assert.deepStrictEqual(declared, {})
      const other = yield* aDoor(fine)
      const params = { name: "echo", arguments: {}, task: { ttl: 60_000 } }
      const ignored = yield* other.send({ method: "tools/call", params, meta: TAKING })
      assert.strictEqual(at(ignored.body, "result", "resultType"), "complete")
    })
  )

  it.effect("is not started for a call of the REST API: its caller gets an error, free of charge", () =>
    Effect.gen(function* () {
      const { base, key, server, url, wallet } = yield* aTaskDoor()
      const called = { tool_name: "echo", provider_id: url.split("/").at(-1), input: {} }
      const { body } = yield* post(`${base}/api/market/proxy`, called, key)
      assert.include(JSON.stringify(body), "task")
      assert.notInclude(JSON.stringify(body), "theirs")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      assert.notInclude(server.of("tools/call")[0]!.text, "io.modelcontextprotocol/tasks")
      const [receipt, ...others] = yield* receipts({ base, key })
      assert.deepStrictEqual([receipt?.["status"], receipt?.["cost_microcents"], others], ["error", 0, []])
    })
  )
})
