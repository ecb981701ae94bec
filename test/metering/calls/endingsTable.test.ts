/**
 * Every way in which a call ends, as docs/mcp.md lists them: who ended it, what its caller pays, and whom it counts against.
 * The document says what is expected; each of its rows is run for a tool that charges results and for one that charges attempts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { callResult } from "../../../adapters/http/mcp/CallResults.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import { LEGS_MAX } from "../../../domain/metering/CallStore.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { type CallCause, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { TASK_MS_MAX, TaskStore } from "../../../domain/tasks/CallTask.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import type { UpstreamProblem, UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import {
  aConsumer,
  asked,
  asking,
  callMcp,
  completed,
  MCP_PRICE,
  receiptsOf,
  requestOf,
  tools,
  withState
} from "../../support/metering/McpMarket.ts"
import {
  completedWith,
  memoryTaskMarket,
  isDue,
  seen,
  started,
  taking,
  TaskProvider,
  work,
  working
} from "../../support/metering/TaskMarket.ts"
import { later } from "../../support/metering/TestTime.ts"

type Policy = "success" | "attempt"
type Market = Layer.Success<ReturnType<typeof memoryTaskMarket>>

/** Ends a call of a tool with this policy; returns whose it was. */
type Ending = (provider: TaskProvider, policy: Policy) => Effect.Effect<ConsumerId, unknown, Market>

const INPUT = { status: "input_required", inputRequests: { q: { method: "elicitation/create", params: {} } } }
const LEGACY = { inSession: true, session: { version: "2025-11-25", sessionId: "s" }, clientSession: "c" } as const
const QUESTION = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`
const WAITING = 16

const offered = Effect.fnUntraced(function* (policy: Policy, change: Partial<ToolChange> = {}) {
  const toolId = (yield* tools([{ billingPolicy: policy, ...change }])).tools[0]!.id
  return { consumerId: yield* aConsumer(), toolId }
})

const failing = (status: UpstreamResponse["status"], problem?: UpstreamProblem, attempts = 1): UpstreamResponse => ({
  ...completed(),
  status,
  ...(problem === undefined ? {} : { result: undefined, problem }),
  attempts
})

/** The provider's response to one call. */
const responding = (response: UpstreamResponse, change: Partial<ToolChange> = {}): Ending =>
  Effect.fnUntraced(function* (provider, policy) {
    const { consumerId, toolId } = yield* offered(policy, change)
    provider.calls.respond = () => Effect.succeed(response)
    yield* callMcp(requestOf(consumerId, toolId))
    return consumerId
  })

/** The caller is gone while its call is in flight; the provider then responds. */
const leaving = (response: UpstreamResponse, change: Partial<ToolChange> = {}): Ending =>
  Effect.fnUntraced(function* (provider, policy) {
    const { consumerId, toolId } = yield* offered(policy, change)
    const answer = yield* Deferred.make<void>()
    provider.calls.respond = () => Effect.as(Deferred.await(answer), response)
    const calling = yield* Effect.forkChild(callMcp(requestOf(consumerId, toolId)), { startImmediately: true })
    yield* Fiber.interrupt(calling)
    yield* Deferred.succeed(answer, undefined)
    yield* (yield* Metering).idle
    return consumerId
  })

/** As many calls as may wait do; then one more, at another tool of the provider. */
const beyondLimit = (response: UpstreamResponse): Ending =>
  Effect.fnUntraced(function* (provider, policy) {
    const { tools: made } = yield* tools([{}, { billingPolicy: policy }])
    const waiter = yield* aConsumer()
    provider.calls.respond = () => Effect.succeed(asking())
    for (let n = 0; n < WAITING; n++) yield* asked(requestOf(waiter, made[0]!.id))
    provider.calls.respond = () => Effect.succeed(response)
    yield* callMcp(yield* taking(waiter, made[1]!.id))
    return waiter
  })

/** A legacy provider asks, and what then happens. */
const questioned = (
  then: (respond: (response: UpstreamResponse) => Effect.Effect<unknown>) => Effect.Effect<unknown>
): Ending =>
  Effect.fnUntraced(function* (provider, policy) {
    const { consumerId, toolId } = yield* offered(policy)
    const answer = yield* Deferred.make<UpstreamResponse>()
    provider.calls.respond = (call) =>
      Effect.andThen(
        Effect.sync(() => call.exchange!.onMessage(QUESTION)),
        Deferred.await(answer)
      )
    const calling = yield* Effect.forkChild(callMcp(requestOf(consumerId, toolId, LEGACY)), { startImmediately: true })
    yield* then((response) => Deferred.succeed(answer, response))
    yield* Fiber.join(calling)
    return consumerId
  })

/** A task, and what then becomes of it. */
const asTask = (
  ends: (
    task: Effect.Success<ReturnType<typeof started>>,
    provider: TaskProvider
  ) => Effect.Effect<unknown, unknown, Market>,
  change: Partial<ToolChange> = {}
): Ending =>
  Effect.fnUntraced(function* (provider, policy) {
    provider.saysOfAll(working)
    const task = yield* started({ billingPolicy: policy, ...change })
    yield* ends(task, provider)
    return task.consumerId
  })

const says = (...said: ReadonlyArray<Parameters<TaskProvider["saysOfAll"]>[0]>) =>
  asTask((task, provider) =>
    Effect.forEach(said, (one) => {
      provider.saysOfAll(one)
      return Effect.andThen(seen(task), TestClock.adjust("11 seconds"))
    })
  )

const overdue = (said: Parameters<TaskProvider["saysOfAll"]>[0]) =>
  asTask((task, provider) => {
    provider.saysOfAll(said)
    return seen(task).pipe(
      Effect.andThen(TestClock.adjust("24 hours")),
      Effect.andThen(isDue(task)),
      Effect.andThen(work)
    )
  })

const cancel = (id: string, consumerId: ConsumerId) =>
  Effect.flatMap(Tasks, (tasks) => tasks.cancel({ consumerId, providerId: undefined }, id))

const sweptAfter = (ms: number) =>
  Effect.andThen(
    TestClock.adjust(ms),
    Effect.flatMap(Sweeper, ({ sweep }) => sweep)
  )

const PASS = { onCancel: "pass", canceledCallCosts: "price" } as const
const away = new StoreUnavailable({ reason: "unreachable", cause: undefined })

const ENDINGS: ReadonlyArray<readonly [row: string, ...endings: ReadonlyArray<Ending>]> = [
  ["with a result", responding(completed())],
  [
    "with a result that does not fit the output schema",
    (provider) =>
      responding(completed(), { billingPolicy: "valid_output", outputSchema: { required: ["n"] } })(provider, "success")
  ],
  [
    "with `isError`, a JSON-RPC error",
    responding(failing("error")),
    responding(failing("error", { kind: "json_rpc_error", message: "", rpcError: { code: -32_000, message: "" } })),
    responding(failing("error", { kind: "malformed_answer", message: "" })),
    responding(failing("error", { kind: "connection", message: "" }))
  ],
  ["without a response in time", responding(failing("timeout", { kind: "timeout", message: "" }))],
  ["with HTTP status 429", responding(failing("rate_limited", { kind: "rate_limited", message: "" }))],
  [
    "with JSON-RPC error -32602",
    ...[-32_602, -32_021].map((code) =>
      responding(failing("error", { kind: "json_rpc_error", message: "", rpcError: { code, message: "" } }))
    )
  ],
  ["with a result, though its client canceled it", leaving(completed())],
  ["canceled by its client or with the connection", leaving(completed(), PASS)],
  ["with a question, after its client disconnected", leaving(asking())],
  [
    "`input_required`, never answered",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.calls.respond = () => Effect.succeed(asking())
      yield* asked(requestOf(consumerId, toolId))
      yield* sweptAfter(11 * 60_000)
      return consumerId
    })
  ],
  [
    "`input_required` for the fifth time",
    responding(asking("x".repeat(64 * 1024 + 1))),
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.calls.respond = () => Effect.succeed(asking())
      let { state } = yield* asked(requestOf(consumerId, toolId))
      for (let n = 2; n < LEGS_MAX; n++) ({ state } = yield* asked(requestOf(consumerId, toolId, withState(state))))
      yield* callMcp(requestOf(consumerId, toolId, withState(state)))
      return consumerId
    }),
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.calls.respond = () => Effect.succeed(asking())
      const { state } = yield* asked(requestOf(consumerId, toolId))
      yield* TestClock.adjust("595 seconds")
      provider.calls.respond = () => Effect.as(TestClock.adjust("10 seconds"), asking())
      yield* callMcp(requestOf(consumerId, toolId, withState(state)))
      return consumerId
    })
  ],
  [
    "`input_required`, or with a task, while as many calls",
    beyondLimit(asking()),
    beyondLimit({ ...asking(), pending: { kind: "task", resultText: `{"resultType":"task","taskId":"t"}` } })
  ],
  [
    "with an error, though its provider was not told",
    beyondLimit(failing("error")),
    beyondLimit(failing("error", { kind: "json_rpc_error", message: "", rpcError: { code: -32_021, message: "" } }))
  ],
  ["without the answer to a question", questioned(() => TestClock.adjust("11 minutes"))],
  [
    "with an error of its provider, 10 seconds or longer",
    questioned((respond) => Effect.andThen(TestClock.adjust("11 seconds"), respond(failing("error"))))
  ],
  [
    "because its provider's server is not called",
    responding(failing("error", { kind: "circuit_open", message: "" }, 0)),
    responding(failing("error", { kind: "blocked_endpoint", message: "" }, 0))
  ],
  [
    "because the service has no room",
    responding(failing("error", { kind: "overloaded", message: "" }, 0)),
    responding(failing("error", { kind: "overloaded", message: "" }))
  ],
  [
    "because the service failed",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.calls.respond = () => Effect.die(new Error("a fault of the adapter"))
      yield* Effect.exit(callMcp(requestOf(consumerId, toolId)))
      return consumerId
    })
  ],
  [
    "because its node stopped",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.calls.respond = () => Effect.never
      const calling = yield* Effect.forkChild(callMcp(requestOf(consumerId, toolId)), { startImmediately: true })
      yield* (yield* Metering).cancelAll
      yield* Fiber.await(calling)
      return consumerId
    })
  ],
  [
    "because it could not be settled in time",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      const sweeper = yield* Sweeper
      provider.calls.respond = () => Effect.as(Effect.orDie(later("1 hour")(sweeper.sweep)), completed())
      yield* Effect.exit(callMcp(requestOf(consumerId, toolId)))
      return consumerId
    })
  ],
  ["as a task that is `completed`", says(completedWith("done"))],
  [
    "as a task that is `completed` with `isError`",
    says(completedWith("no", { isError: true })),
    says({ status: "failed", error: { code: -32_000, message: "" } }),
    says({ status: "no such status" }),
    // Its caller had no time to answer.
    asTask((task, provider) => {
      provider.saysOfAll(INPUT)
      return Effect.flatMap(seen(task), () => {
        provider.saysOfAll(completedWith("no", { isError: true }))
        return seen(task)
      })
    })
  ],
  ["as a task that its provider canceled", says({ status: "cancelled" }), says({ rpcCode: -32_602 })],
  ["as a task that does not end in its time", overdue(working), overdue("away")],
  ["as a task that asks its client for input when its time ends", overdue(INPUT)],
  [
    "as a task that its provider ends with an error, 10 seconds",
    says(INPUT, completedWith("no", { isError: true })),
    says(INPUT, { status: "failed", error: { code: -32_000, message: "" } }),
    says(INPUT, { status: "cancelled" }),
    says(INPUT, { rpcCode: -32_602 })
  ],
  [
    "as a task of version 2025-11-25",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      const task = { taskId: "t", status: "working", ttl: null }
      provider.calls.respond = () =>
        Effect.succeed({
          ...asking(),
          pending: {
            kind: "task",
            resultText: JSON.stringify({ task }),
            session: { version: "2025-11-25", sessionId: "s" }
          }
        })
      provider.saysOfAll(working)
      const outcome = yield* callMcp(
        yield* taking(consumerId, toolId, {
          exchange: { ...requestOf(consumerId, toolId, LEGACY).exchange, asTask: true }
        })
      )
      if (outcome._tag !== "TaskStarted") return yield* Effect.die(new Error(outcome._tag))
      const { taskId } = JSON.parse(outcome.resultText) as { readonly taskId: string }
      provider.saysOfAll({ status: "input_required" })
      yield* isDue({ id: taskId })
      yield* work
      return consumerId
    })
  ],
  ["by `tasks/cancel`, where the tool publishes", asTask(({ consumerId, id }) => cancel(id, consumerId), PASS)],
  [
    "as a task that is `completed` after `tasks/cancel`",
    asTask((task, provider) => {
      provider.saysOfAll(completedWith("done"))
      return Effect.andThen(cancel(task.id, task.consumerId), seen(task))
    })
  ],
  [
    "with a task, while the database does not respond",
    Effect.fnUntraced(function* (provider, policy) {
      const { consumerId, toolId } = yield* offered(policy)
      provider.saysOfAll(working)
      const { take } = yield* Tasks.pipe(
        Effect.provide(Tasks.layer(callResult)),
        Effect.provideService(TaskStore, { ...(yield* TaskStore), add: () => Effect.fail(away) })
      )
      yield* Effect.exit(callMcp(yield* taking(consumerId, toolId, { takeTask: take })))
      yield* sweptAfter(3_600_000)
      return consumerId
    })
  ],
  ["as a task, after every node was down", asTask(() => sweptAfter(TASK_MS_MAX + 3_600_000))]
]

const documented = readFileSync(new URL("../../../docs/mcp.md", import.meta.url), "utf8")
  .split("## What each ending costs")[1]!
  .split("\n## ")[0]!
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:-|a call ends)/u.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))

const PRICE = MCP_PRICE as bigint
const COSTS: Readonly<Record<string, Readonly<Record<Policy, bigint>>>> = {
  nothing: { success: 0n, attempt: 0n },
  "as an error": { success: 0n, attempt: PRICE },
  "the price, or what the provider reports up to the hold": { success: PRICE, attempt: PRICE },
  "what the tool publishes for a canceled call": { success: PRICE, attempt: PRICE }
}

const causesOf = (by: string, against: string): ReadonlyArray<CallCause | undefined> => {
  if (by !== "its provider") return ["canceled"]
  return [against.includes("beyond") ? "input_rejected" : undefined]
}

describe("A call ends, as docs/mcp.md says,", () => {
  it("in the ways that are run here", () => {
    const rows = documented.map(([, row]) => ENDINGS.filter(([start]) => isRow(row!, start)).length)
    assert.deepStrictEqual(
      rows,
      documented.map(() => 1)
    )
    assert.lengthOf(ENDINGS, documented.length)
  })

  for (const [, row = "", by = "", pays = "", against = ""] of documented) {
    const [, ...endings] = ENDINGS.find(([start]) => isRow(row, start)) ?? [row]
    for (const policy of ["success", "attempt"] as const) {
      it.effect(`${row} (${policy})`, () =>
        Effect.forEach(endings, (ending) => {
          const provider = new TaskProvider()
          return Effect.gen(function* () {
            yield* TestClock.adjust("1 hour")
            const consumerId = yield* ending(provider, policy)
            const [receipt] = yield* receiptsOf(consumerId)
            const { cause } = Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(receipt!.receipt_id))
            assert.strictEqual(receipt!.cost_microcents, COSTS[pays]![policy])
            assert.include(causesOf(by, against), cause)
            assert.strictEqual(receipt!.status === "success" || cause === "canceled", against === "no one")
          }).pipe(Effect.provide(memoryTaskMarket(provider)))
        })
      )
    }
  }
})

/** The longest that begins it: one may begin another. */
function isRow(row: string, start: string): boolean {
  return (
    ENDINGS.filter(([other]) => row.startsWith(other)).every(([other]) => other.length <= start.length) &&
    row.startsWith(start)
  )
}
