/**
 * How a caller could keep a task from being settled, pay less for it than agreed, or spoil figures and storage with it; and how
 * a provider could keep its caller from other providers.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { SUSPENDED_CALLS_MAX } from "../../domain/metering/CallStore.ts"
import { ReceiptStore } from "../../domain/receipts/Receipts.ts"
import { TASK_MS_MAX, TaskStore } from "../../domain/tasks/CallTask.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { callMcp, checkWallet, MCP_PRICE, tools } from "../support/metering/McpMarket.ts"
import {
  checkReceipt,
  completedWith,
  everyTaskMarket,
  memoryTaskMarket,
  isDue,
  seen,
  started,
  type StartedTask,
  taking,
  TaskProvider,
  textOf,
  work,
  working
} from "../support/metering/TaskMarket.ts"
import { later } from "../support/metering/TestTime.ts"

const HALF = SUSPENDED_CALLS_MAX / 2
const PRICE = BigInt(MCP_PRICE)
const CLIENT = { capabilities: "{}", clientInfo: undefined }

const callerOf = ({ consumerId }: StartedTask) => ({ consumerId, providerId: undefined })
const stored = ({ id }: StartedTask) =>
  Effect.flatMap(TaskStore, (store) => Effect.map(store.find(id), Option.getOrThrow))

const provider = new TaskProvider()

it.layer(memoryTaskMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A task", (it) => {
  it.effect("is settled in the background though its caller keeps sending input", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const task = yield* started()
      provider.saysOfAll(completedWith("done"))
      yield* isDue(task)
      yield* (yield* Tasks).update(callerOf(task), task.id, "{}", CLIENT)
      yield* work
      yield* checkWallet(task.consumerId, PRICE, 0n)
    })
  )

  it.effect("is settled in the background though its caller disconnects from each request for it", () =>
    Effect.gen(function* () {
      provider.says = () => Effect.never
      const task = yield* started()
      yield* isDue(task)
      const asking = yield* Effect.forkChild(textOf(task))
      yield* eventually(() => provider.timesAsked("tasks/get", true) === 1)
      yield* Fiber.interrupt(asking)
      provider.saysOfAll(completedWith("done"))
      yield* work
      yield* checkWallet(task.consumerId, PRICE, 0n)
    })
  )

  it.effect("that is canceled is canceled at its provider too, though its caller or the node leaves at once", () =>
    Effect.gen(function* () {
      provider.saysOfAll(working)
      const task = yield* started({ onCancel: "pass" })
      yield* isDue(task)
      yield* (yield* TaskStore).cancel(task.id)
      yield* work
      assert.strictEqual(provider.timesAsked("tasks/cancel", true), 1)
      yield* checkWallet(task.consumerId, 0n, 0n)
    })
  )

  it.effect("costs what its tool publishes for a cancellation, also where another request sees its end first", () =>
    Effect.gen(function* () {
      const task = yield* started({ onCancel: "pass", canceledCallCosts: "price" })
      const store = yield* TaskStore
      // The provider is asked before the cancellation, and responds after it.
      provider.says = () => Effect.as(Effect.orDie(store.cancel(task.id)), { status: "cancelled" })
      assert.strictEqual((yield* seen(task)).status, "cancelled")
      yield* checkWallet(task.consumerId, PRICE, 0n)
    })
  )

  it.effect("that waits for its caller until its time is over is no failure of its provider", () =>
    Effect.gen(function* () {
      const causeOf = Effect.fnUntraced(function* (task: StartedTask) {
        yield* later(TASK_MS_MAX + 1_000)(work)
        return Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(task.receiptId)).cause
      })
      provider.saysOfAll({ status: "input_required", inputRequests: {} })
      const asking = yield* started()
      assert.strictEqual(yield* causeOf(asking), "canceled")
      yield* checkWallet(asking.consumerId, 0n, 0n)
      // A provider that is paid for every attempt is paid, and not blamed.
      const paid = yield* started({ billingPolicy: "attempt" })
      assert.strictEqual(yield* causeOf(paid), "canceled")
      yield* checkReceipt(paid, "error", PRICE)
    })
  )

  it.effect("ends though the error of its provider grows when it is stored, and leaves little behind", () =>
    Effect.gen(function* () {
      const task = yield* started()
      const error = { code: -32_000, message: "m".repeat(100_000), data: Array.from({ length: 800_000 }, () => 1e20) }
      provider.saysOfAll({ status: "failed", error })
      const { status, error: shown } = yield* seen(task)
      assert.deepStrictEqual([status, shown?.code], ["failed", -32_000])
      yield* checkWallet(task.consumerId, 0n, 0n)

      provider.saysOfAll({ status: "input_required", inputRequests: { question: "q".repeat(60_000) } })
      const asked = yield* started()
      yield* seen(asked)
      provider.saysOfAll(completedWith("done"))
      yield* seen(asked)
      assert.isBelow((yield* stored(asked)).progress.state.length, 100)
    })
  )
})

for (const [name, market] of everyTaskMarket()) {
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(`A task over ${name}`, (it) => {
    it.effect("leaves half of its account's tasks to other providers, of many at the same time too", () =>
      Effect.gen(function* () {
        provider.saysOfAll(working)
        const { consumerId, toolId } = yield* started()
        const [other, third] = [yield* tools(), yield* tools()]
        const start = (tool: string) =>
          Effect.map(Effect.flatMap(taking(consumerId, tool), callMcp), (outcome) => outcome._tag === "TaskStarted")
        const startMany = (tool: string) =>
          Effect.map(
            Effect.all(
              Array.from({ length: SUSPENDED_CALLS_MAX }, () => start(tool)),
              { concurrency: 8 }
            ),
            (all) => all.filter((isStarted) => isStarted).length
          )
        assert.strictEqual(yield* startMany(toolId), HALF - 1)
        assert.strictEqual(yield* startMany(other.tools[0]!.id), SUSPENDED_CALLS_MAX - HALF)
        assert.isFalse(yield* start(third.tools[0]!.id))
        yield* checkWallet(consumerId, 0n, PRICE * BigInt(SUSPENDED_CALLS_MAX))
      })
    )
  })
}
