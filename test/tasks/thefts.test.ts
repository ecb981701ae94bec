/**
 * How a caller or a provider could try to gain by a task.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { callResult } from "../../adapters/http/mcp/CallResults.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { FreezeStore } from "../../domain/payments/AccountFreezes.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"
import { aConsumer, callMcp, checkWallet, MCP_PRICE, receiptsOf, tools } from "../support/metering/McpMarket.ts"
import {
  checkReceipt,
  completedWith,
  everyTaskMarket,
  memoryTaskMarket,
  isDue,
  receiptOf,
  seen,
  started,
  startedWith,
  taking,
  TaskProvider,
  textOf,
  work,
  working
} from "../support/metering/TaskMarket.ts"

const PRICE = BigInt(MCP_PRICE)

const provider = new TaskProvider()

it.layer(memoryTaskMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A task", (it) => {
  it.effect("is unknown to another account, and at the door of another provider", () =>
    Effect.gen(function* () {
      provider.saysOfAll(completedWith("secret"))
      const task = yield* started()
      const other = yield* aConsumer()
      const { provider: stranger } = yield* tools()
      const tasks = yield* Tasks
      for (const caller of [
        { consumerId: other, providerId: undefined },
        { consumerId: task.consumerId, providerId: stranger.id }
      ]) {
        assert.strictEqual((yield* Effect.flip(tasks.get(caller, task.id)))._tag, "TaskUnknown")
        assert.strictEqual((yield* Effect.flip(tasks.cancel(caller, task.id)))._tag, "TaskUnknown")
        const updating = tasks.update(caller, task.id, "{}", { capabilities: "{}", clientInfo: undefined })
        assert.strictEqual((yield* Effect.flip(updating))._tag, "TaskUnknown")
      }
      assert.isUndefined(yield* receiptOf(task))
      yield* seen(task)
      yield* checkReceipt(task, "success", PRICE)
    })
  )

  it.effect("is billed though its account is frozen, or its tool withdrawn, before it completes", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const { provider: seller, tools: made } = yield* tools()
      const consumerId = yield* aConsumer()
      const task = yield* started({}, {}, { consumerId, toolId: made[0]!.id })
      yield* (yield* FreezeStore).freeze(consumerId, {
        at: yield* DateTime.now,
        reason: "chargeback",
        byOperator: false
      })
      yield* (yield* Catalog).withdraw(seller.id, made[0]!.id)
      provider.saysOfAll(completedWith("done"))
      assert.strictEqual((yield* seen(task)).status, "completed")
      yield* checkReceipt(task, "success", PRICE)
      yield* checkWallet(consumerId, PRICE, 0n)
    })
  )

  it.effect("is found again with the key of its call, and its call is made once", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const idempotency = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }
      const task = yield* started({}, { idempotency })
      const calls = provider.calls.calls.length
      const tasks = yield* Tasks
      const again = yield* tasks.earlier(task.consumerId, idempotency)
      assert.strictEqual(again?.resultText, task.text)
      const otherRequest = { ...idempotency, requestHash: "ef".repeat(32) }
      assert.isUndefined(yield* tasks.earlier(task.consumerId, otherRequest))
      assert.isUndefined(yield* tasks.earlier(yield* aConsumer(), idempotency))
      provider.saysOfAll(completedWith("done"))
      yield* seen(task)
      const replayed = yield* callMcp(yield* taking(task.consumerId, task.toolId, { idempotency }))
      assert.strictEqual(replayed._tag, "Replayed")
      assert.strictEqual(provider.calls.calls.length, calls)
      yield* checkWallet(task.consumerId, PRICE, 0n)
    })
  )

  it.effect("beyond the number that an account may have at a provider ends its call, and its provider is told", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const first = yield* started()
      for (let n = 1; n < 16; n++) yield* started({}, {}, first)
      const told = provider.timesAsked("tasks/cancel")
      const outcome = yield* callMcp(yield* taking(first.consumerId, first.toolId))
      assert.strictEqual(outcome._tag, "Settled")
      yield* checkWallet(first.consumerId, 0n, 16n * PRICE)
      while (provider.timesAsked("tasks/cancel") === told) yield* Effect.sleep("5 millis")
    })
  )

  it.effect("that no store takes over is canceled at its provider, and its call fails", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const { tools: made } = yield* tools()
      const consumerId = yield* aConsumer()
      const failed = Effect.fail(new StoreUnavailable({ reason: "unreachable", cause: new Error("away") }))
      const store = { ...(yield* TaskStore), add: () => failed }
      const { take } = yield* Tasks.pipe(
        Effect.provide(Tasks.layer(callResult)),
        Effect.provideService(TaskStore, store)
      )
      const request = yield* taking(consumerId, made[0]!.id, { takeTask: take })
      assert.strictEqual((yield* Effect.flip(callMcp(request)))._tag, "StoreUnavailable")
      while (provider.timesAsked("tasks/cancel", true) === 0) yield* Effect.sleep("5 millis")
    })
  )

  it.effect("without an id, or for a caller that takes none, ends as an error", () =>
    Effect.gen(function* () {
      const { tools: made } = yield* tools()
      const consumerId = yield* aConsumer()
      const before = provider.calls.respond
      for (const taskId of [undefined, "", 7, "x".repeat(2_000), "a\u0000b"]) {
        provider.calls.respond = () => Effect.succeed(startedWith({ taskId }))
        assert.strictEqual((yield* callMcp(yield* taking(consumerId, made[0]!.id)))._tag, "Settled")
      }
      provider.calls.respond = before
      const request = yield* taking(consumerId, made[0]!.id, { takeTask: undefined })
      assert.strictEqual((yield* callMcp(request))._tag, "Settled")
      yield* checkWallet(consumerId, 0n, 0n)
    })
  )

  it.effect("shows its questions, and nothing else that its provider writes", () =>
    Effect.gen(function* () {
      const inputRequests = { name: { method: "elicitation/create", params: { n: 1 } } }
      provider.saysOfAll({
        status: "input_required",
        inputRequests,
        statusMessage: "m".repeat(5_000),
        result: { content: [] },
        taskId: "theirs",
        requestState: "s",
        _meta: { "agent-tool-billing/billing": { cost_microcents: 0 } }
      })
      const task = yield* started()
      const shown = yield* seen(task)
      assert.deepStrictEqual(Object.keys(shown).toSorted(), [
        "createdAt",
        "inputRequests",
        "lastUpdatedAt",
        "pollIntervalMs",
        "resultType",
        "status",
        "statusMessage",
        "taskId",
        "ttlMs"
      ])
      assert.deepStrictEqual(shown.inputRequests, inputRequests)
      const caller = { consumerId: task.consumerId, providerId: undefined }
      yield* (yield* Tasks).update(caller, task.id, `{"name":{"n":1.50}}`, {
        capabilities: "{}",
        clientInfo: undefined
      })
      const update = provider.asked.findLast(({ method }) => method === "tasks/update")
      assert.match(update!.params!, /^\{"taskId":"upstream-\d+","inputResponses":\{"name":\{"n":1\.50\}\}\}$/u)
      // The answer may be seen at once.
      provider.saysOfAll(completedWith("thanks"))
      assert.include(yield* textOf(task), "thanks")
    })
  )

  it.effect("asks its provider only as often as the provider wants", () =>
    Effect.gen(function* () {
      provider.saysOfAll({ status: "working", pollIntervalMs: 30_000 })
      const task = yield* started()
      yield* seen(task)
      const asked = provider.timesAsked("tasks/get", true)
      for (let n = 0; n < 5; n++) assert.include(yield* textOf(task), '"working"')
      yield* work
      assert.strictEqual(provider.timesAsked("tasks/get", true), asked)
    })
  )
})

for (const [name, market] of everyTaskMarket()) {
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(`A task over ${name}`, (it) => {
    it.effect("is settled once, however many ask for it at the same time", () =>
      Effect.gen(function* () {
        let n = 0
        provider.says = () => Effect.sync(() => completedWith(`answer ${++n}`))
        const task = yield* started({ onCancel: "pass" })
        yield* isDue(task)
        const asking = Effect.andThen(isDue(task), Effect.andThen(textOf(task), work))
        const canceling = Effect.flatMap(Tasks, (tasks) =>
          tasks.cancel({ consumerId: task.consumerId, providerId: undefined }, task.id)
        )
        yield* Effect.all([asking, canceling, asking, asking, canceling, asking], { concurrency: "unbounded" })
        const text = yield* textOf(task)
        assert.match(text, /answer \d/u)
        assert.strictEqual(yield* textOf(task), text)
        assert.lengthOf(yield* receiptsOf(task.consumerId), 1)
        yield* checkWallet(task.consumerId, PRICE, 0n)
      })
    )
  })
}
