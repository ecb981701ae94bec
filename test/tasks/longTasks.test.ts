/**
 * A task of version 2025-11-25 that runs longer than one `tasks/result` waits.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Door, DoorRequest } from "../../adapters/http/mcp/Door.ts"
import { makeLegacyTaskMethods } from "../../adapters/http/mcp/legacy/LegacyDialect.ts"
import { OpenStreams } from "../../adapters/http/pipeline/WebRequest.ts"
import { PassThrough } from "../../domain/mcp/PassThrough.ts"
import { checkWallet, MCP_PRICE } from "../support/metering/McpMarket.ts"
import {
  checkReceipt,
  completedWith,
  memoryTaskMarket,
  started,
  type StartedTask,
  TaskProvider,
  working
} from "../support/metering/TaskMarket.ts"

const PRICE = BigInt(MCP_PRICE)
const DOOR = {} as Door

/** A request of its client, and how often its own time limit was stopped. */
const asking = Effect.fnUntraced(function* ({ consumerId, id }: StartedTask) {
  const methods = yield* makeLegacyTaskMethods
  let pauses = 0
  const request = {
    rpc: { _tag: "Request", id: "1", method: "tasks/result", params: { value: { taskId: id }, text: "", members: [] } },
    caller: { role: "consumer", ownerId: consumerId },
    clock: { pause: () => void pauses++ }
  } as unknown as DoorRequest
  const answer = yield* Effect.forkChild(methods(DOOR, request), { startImmediately: true })
  return { answer, pauses: () => pauses }
})

const provider = new TaskProvider()

it.effect("is told after ten minutes to ask again, keeps its hold, and is paid once", () =>
  Effect.gen(function* () {
    provider.saysOfAll(working)
    const task = yield* started()
    const first = yield* asking(task)
    assert.strictEqual(first.pauses(), 1)
    yield* TestClock.adjust("9 minutes")
    assert.isUndefined(first.answer.pollUnsafe())
    yield* TestClock.adjust("70 seconds")
    const { message } = yield* Effect.flip(Fiber.join(first.answer))
    assert.include(message, "Send `tasks/result` again")
    yield* checkWallet(task.consumerId, 0n, PRICE)

    const second = yield* asking(task)
    yield* TestClock.adjust("5 minutes")
    assert.isUndefined(second.answer.pollUnsafe())
    provider.saysOfAll(completedWith("done"))
    yield* TestClock.adjust("10 seconds")
    const answer = yield* Fiber.join(second.answer)
    assert.include(answer._tag === "Result" ? answer.result : "", `"text":"done"`)
    yield* checkWallet(task.consumerId, PRICE, 0n)
    yield* checkReceipt(task, "success", PRICE)
    // What it waited for stays: it is told at once.
    const third = yield* asking(task)
    assert.deepStrictEqual(yield* Fiber.join(third.answer), answer)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.mergeAll(memoryTaskMarket(provider), PassThrough.layer, OpenStreams.layer))
  )
)
