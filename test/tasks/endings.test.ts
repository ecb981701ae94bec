/**
 * What the call of a task costs in each ending, and what its client gets.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import { TASK_MS_MAX, TaskStore } from "../../domain/tasks/CallTask.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"
import { BILLING_META } from "../../domain/upstream/Protocol.ts"
import { checkWallet, MCP_PRICE } from "../support/metering/McpMarket.ts"
import {
  checkReceipt,
  completedWith,
  memoryTaskMarket,
  isDue,
  receiptOf,
  seen,
  started,
  type StartedTask,
  TaskProvider,
  textOf,
  work,
  working
} from "../support/metering/TaskMarket.ts"
import { later } from "../support/metering/TestTime.ts"

const PRICE = BigInt(MCP_PRICE)

const provider = new TaskProvider()

it.layer(memoryTaskMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A task", (it) => {
  it.effect("keeps its hold while it runs, and is billed once when it completes", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const task = yield* started()
      assert.notInclude(task.text, "upstream-")
      yield* checkWallet(task.consumerId, 0n, PRICE)
      assert.strictEqual((yield* seen(task)).status, "working")
      assert.isUndefined(yield* receiptOf(task))
      provider.saysOfAll(completedWith("done"))
      const { _meta, result, status } = yield* seen(task)
      assert.deepStrictEqual([status, result?.content[0]?.text], ["completed", "done"])
      assert.deepStrictEqual(_meta?.[BILLING_META], { receipt_id: task.receiptId, cost_microcents: Number(PRICE) })
      yield* checkReceipt(task, "success", PRICE)
      yield* checkWallet(task.consumerId, PRICE, 0n)
    })
  )

  it.effect("is settled in the background if its client never asks", () =>
    Effect.gen(function* () {
      provider.saysOfAll(completedWith("unread"))
      const task = yield* started()
      yield* isDue(task)
      yield* work
      yield* checkWallet(task.consumerId, PRICE, 0n)
      const asked = provider.timesAsked("tasks/get", true)
      assert.include(yield* textOf(task), "unread")
      yield* work
      assert.strictEqual(provider.timesAsked("tasks/get", true), asked)
    })
  )

  it.effect("returns the same bytes again, whatever the provider says later", () =>
    Effect.gen(function* () {
      provider.saysOfAll(completedWith("first"))
      const task = yield* started()
      yield* isDue(task)
      const text = yield* textOf(task)
      provider.saysOfAll(completedWith("second"))
      yield* work
      assert.strictEqual(yield* textOf(task), text)
      assert.include(text, "first")
    })
  )

  it.effect.each([
    ["a result with isError", completedWith("no", { isError: true }), "completed", 0n],
    ["a JSON-RPC error", { status: "failed", error: { code: -32_000, message: "no" } }, "failed", 0n],
    ["a cancellation by the provider", { status: "cancelled" }, "completed", 0n],
    ["a provider that forgot it", { rpcCode: -32_602 }, "completed", 0n],
    ["a result that is no object", { status: "completed", result: "x" }, "completed", 0n],
    ["a result that is another task", { status: "completed", result: { resultType: "task" } }, "completed", 0n],
    ["no known status", { status: "done" }, "completed", 0n]
  ] as const)("that ends with %s costs nothing", ([, said, status, cost]) =>
    Effect.gen(function* () {
      provider.saysOfAll(said)
      const task = yield* started()
      const ended = yield* seen(task)
      assert.strictEqual(ended.status, status)
      assert.isTrue(ended.result === undefined ? ended.error !== undefined : ended.result.isError)
      yield* checkReceipt(task, "error", cost)
      yield* checkWallet(task.consumerId, cost, 0n)
    })
  )

  it.effect("that fails costs the price where the tool charges attempts", () =>
    Effect.gen(function* () {
      provider.saysOfAll(completedWith("no", { isError: true }))
      const task = yield* started({ billingPolicy: "attempt" })
      yield* seen(task)
      yield* checkReceipt(task, "error", PRICE)
    })
  )

  it.effect("is billed by the output schema of the time of its call, where valid output is billed", () =>
    Effect.gen(function* () {
      const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
      for (const [structuredContent, cost] of [
        [{ n: 1 }, PRICE],
        [{ n: "one" }, 0n]
      ] as const) {
        provider.saysOfAll(completedWith("done", { structuredContent }))
        const task = yield* started({ billingPolicy: "valid_output", outputSchema })
        const store = yield* TaskStore
        assert.include(Option.getOrThrow(yield* store.find(task.id)).terms, '"required":["n"]')
        yield* seen(task)
        yield* checkReceipt(task, "success", cost)
      }
    })
  )

  it.effect("is billed by what the provider reports, up to the hold", () =>
    Effect.gen(function* () {
      for (const [reported, billed] of [
        [300, 300n],
        [9_000_000, PRICE]
      ] as const) {
        provider.saysOfAll(completedWith("done", { _meta: { "agent-tool-billing/cost_microcents": reported } }))
        const task = yield* started()
        yield* seen(task)
        yield* checkReceipt(task, "success", billed)
      }
    })
  )

  it.effect("is asked for again while its provider is away, and ends as a time-out after its time", () =>
    Effect.gen(function* () {
      provider.saysOfAll("away")
      const task = yield* started()
      assert.strictEqual((yield* seen(task)).status, "working")
      yield* checkWallet(task.consumerId, 0n, PRICE)
      yield* isDue(task)
      yield* later(TASK_MS_MAX)(work)
      assert.isTrue((JSON.parse(yield* textOf(task)) as { result: { isError: boolean } }).result.isError)
      yield* checkReceipt(task, "timeout", 0n)
      yield* checkWallet(task.consumerId, 0n, 0n)
    })
  )

  it.effect("that still runs after its time is a time-out, and its provider is told", () =>
    Effect.gen(function* () {
      provider.saysOfAll({ status: "working", ttlMs: 120_000 })
      const task = yield* started()
      yield* isDue(task)
      yield* later("119 seconds")(work)
      yield* checkWallet(task.consumerId, 0n, PRICE)
      yield* isDue(task)
      yield* later("121 seconds")(work)
      yield* checkReceipt(task, "timeout", 0n)
      while (provider.timesAsked("tasks/cancel", true) === 0) yield* Effect.sleep("5 millis")
    })
  )

  it.effect("that was voided by the sweeper is not delivered", () =>
    Effect.gen(function* () {
      provider.saysOfAll(completedWith("too late"))
      const task = yield* started()
      yield* later(TASK_MS_MAX + 3_600_000)(Effect.flatMap(Sweeper, ({ sweep }) => sweep))
      yield* checkReceipt(task, "error", 0n)
      const { result } = yield* seen(task)
      assert.isTrue(result?.isError)
      assert.notInclude(JSON.stringify(result), "too late")
      yield* checkWallet(task.consumerId, 0n, 0n)
    })
  )

  it.effect("that is canceled runs to its end and is billed by it, unless the tool passes cancellations", () =>
    Effect.gen(function* () {
      const cancel = (task: StartedTask) =>
        Effect.flatMap(Tasks, (tasks) => tasks.cancel({ consumerId: task.consumerId, providerId: undefined }, task.id))
      for (const [canceledCallCosts, cost] of [
        ["nothing", 0n],
        ["price", PRICE]
      ] as const) {
        provider.saysOfAll(working)
        const passing = yield* started({ onCancel: "pass", canceledCallCosts })
        yield* cancel(passing)
        provider.saysOfAll(completedWith("too late"))
        const canceled = yield* seen(passing)
        assert.deepStrictEqual([canceled.status, canceled.result], ["cancelled", undefined])
        yield* checkReceipt(passing, "error", cost)
      }
      provider.saysOfAll(working)
      const finishing = yield* started()
      yield* cancel(finishing)
      assert.strictEqual((yield* seen(finishing)).status, "working")
      provider.saysOfAll(completedWith("done"))
      assert.strictEqual((yield* seen(finishing)).status, "completed")
      yield* checkReceipt(finishing, "success", PRICE)
      assert.strictEqual(provider.timesAsked("tasks/cancel", true), 0)
      // What is done already is paid, also where cancellations are passed.
      const done = yield* started({ onCancel: "pass" })
      yield* cancel(done)
      assert.strictEqual((yield* seen(done)).status, "completed")
      yield* checkReceipt(done, "success", PRICE)
    })
  )
})
