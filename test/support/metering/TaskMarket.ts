/**
 * A market whose provider starts tasks, and answers requests about them by functions of the test.
 */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { callResult } from "../../../adapters/http/mcp/CallResults.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import type { McpCallRequest } from "../../../domain/metering/Call.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { TaskStore } from "../../../domain/tasks/CallTask.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import {
  type PassedReply,
  type PassedRequest,
  ProviderServers,
  ServerFailed
} from "../../../domain/upstream/ProviderServers.ts"
import type { UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import { overBoth } from "../servers/PostgresTest.ts"
import { aConsumer, callMcp, memoryMcpMarket, postgresMcpMarket, Provider, requestOf, tools } from "./McpMarket.ts"

type Said = Readonly<Record<string, unknown>> | "away" | { readonly rpcCode: number }

const TASK = {
  createdAt: "2026-11-20T12:00:00Z",
  lastUpdatedAt: "2026-11-20T12:00:01Z",
  ttlMs: null,
  pollIntervalMs: 500
}

export const working = { status: "working" }
export const completedWith = (text: string, more = {}) => ({
  status: "completed",
  result: { content: [{ type: "text", text }], ...more }
})

/** What the provider does with its tasks; a test sets it, and reads what the provider was asked. */
export class TaskProvider {
  readonly calls = new Provider()
  readonly asked: Array<PassedRequest> = []
  /** What `tasks/get` responds, by the provider's id. */
  says: (taskId: string) => Effect.Effect<Said> = () => Effect.succeed(working)
  private started = 0

  /** From now on, of each task. */
  saysOfAll(said: Said): void {
    this.says = () => Effect.succeed(said)
  }

  constructor() {
    this.calls.respond = () => Effect.sync(() => startedWith({ taskId: `upstream-${++this.started}`, ...working }))
  }

  /** How often the provider was asked this, of all tasks or of the one that it started last. */
  timesAsked(method: string, ofLast = false): number {
    return this.asked.filter(
      (request) => request.method === method && (!ofLast || request.params!.includes(`"upstream-${this.started}"`))
    ).length
  }

  readonly servers = Layer.sync(ProviderServers, () => {
    const unreachable = Effect.fail(
      new ServerFailed({ problem: { kind: "connection", message: "away" }, sessionLost: false })
    )
    const reply = (method: string, taskId: string): Effect.Effect<PassedReply, ServerFailed> =>
      method === "tasks/get"
        ? Effect.flatMap(this.says(taskId), (said): Effect.Effect<PassedReply, ServerFailed> => {
            if (said === "away") return unreachable
            return Effect.succeed(
              "rpcCode" in said
                ? { _tag: "RpcError", error: JSON.stringify({ code: said.rpcCode, message: "no" }) }
                : { _tag: "Result", result: JSON.stringify({ resultType: "complete", taskId, ...TASK, ...said }) }
            )
          })
        : Effect.succeed({ _tag: "Result", result: `{"resultType":"complete"}` })
    return ProviderServers.of({
      profile: () => unreachable,
      tools: () => unreachable,
      initialize: () => unreachable,
      ask: (_, request) =>
        Effect.suspend(() => {
          this.asked.push(request)
          return reply(request.method, (JSON.parse(request.params!) as { readonly taskId: string }).taskId)
        }),
      tell: () => unreachable,
      listen: () => unreachable,
      end: () => Effect.void
    })
  })
}

export const startedWith = (task: Readonly<Record<string, unknown>>): UpstreamResponse => ({
  status: "error",
  result: undefined,
  problem: { kind: "unfinished", message: "The tool started a task" },
  pending: { kind: "task", resultText: JSON.stringify({ resultType: "task", ...TASK, ...task }) },
  attempts: 1,
  latencyMs: 7,
  requestBytes: 100,
  responseBytes: 200
})

const withTasks =
  <A, E>(market: (provider: Provider) => Layer.Layer<A, E>) =>
  (provider: TaskProvider) =>
    Tasks.layer(callResult).pipe(Layer.provideMerge(provider.servers), Layer.provideMerge(market(provider.calls)))

export const memoryTaskMarket = withTasks(memoryMcpMarket)

/** For races. */
export const everyTaskMarket = () => overBoth(memoryTaskMarket, withTasks(postgresMcpMarket))

/** The request of a caller that takes tasks. */
export const taking = (consumerId: ConsumerId, toolId: string, more: Partial<McpCallRequest> = {}) =>
  Effect.map(Tasks, ({ take }) => requestOf(consumerId, toolId, {}, { takeTask: take, ...more }))

export interface StartedTask {
  readonly id: string
  readonly text: string
  readonly receiptId: ReceiptId
  readonly consumerId: ConsumerId
  readonly toolId: string
}

/** A call that started a task, of a new consumer unless one is given. */
export const started = Effect.fnUntraced(function* (
  changes: Partial<ToolChange> = {},
  more: Partial<McpCallRequest> = {},
  given?: { readonly consumerId: ConsumerId; readonly toolId: string }
) {
  const toolId = given?.toolId ?? (yield* tools([changes])).tools[0]!.id
  const consumerId = given?.consumerId ?? (yield* aConsumer())
  const outcome = yield* callMcp(yield* taking(consumerId, toolId, more))
  if (outcome._tag !== "TaskStarted") return yield* Effect.die(new Error(`No task: ${outcome._tag}`))
  const { taskId } = JSON.parse(outcome.resultText) as { readonly taskId: string }
  const task: StartedTask = { id: taskId, text: outcome.resultText, receiptId: outcome.receiptId, consumerId, toolId }
  return task
})

const LONG_AGO = DateTime.makeUnsafe(0)

/** The provider may be asked about it again. */
export const isDue = Effect.fnUntraced(function* ({ id }: Pick<StartedTask, "id">) {
  const store = yield* TaskStore
  const task = Option.getOrThrow(yield* store.find(id))
  yield* store.note(id, { ...task.progress, askedAt: LONG_AGO, dueAt: LONG_AGO })
})

export interface SeenTask {
  readonly status: string
  readonly result?: { readonly content: ReadonlyArray<{ readonly text: string }>; readonly isError?: boolean }
  readonly error?: { readonly code: number }
  readonly inputRequests?: unknown
  readonly _meta?: Readonly<Record<string, { readonly cost_microcents: number; readonly receipt_id: string }>>
}

export const textOf = ({ consumerId, id }: Pick<StartedTask, "id" | "consumerId">) =>
  Effect.flatMap(Tasks, (tasks) => Effect.map(tasks.get({ consumerId, providerId: undefined }, id), ({ text }) => text))

/** As `tasks/get` tells it, after its provider was asked. */
export const seen = Effect.fnUntraced(function* (task: StartedTask) {
  yield* isDue(task)
  return JSON.parse(yield* textOf(task)) as SeenTask
})

export const work = Effect.flatMap(Tasks, (tasks) => tasks.work)

export const receiptOf = ({ receiptId }: Pick<StartedTask, "receiptId">) =>
  Effect.flatMap(ReceiptStore, (store) => Effect.map(store.find(receiptId), Option.getOrUndefined))

export const checkReceipt = Effect.fnUntraced(function* (task: StartedTask, status: string, cost: bigint) {
  const receipt = yield* receiptOf(task)
  assert.deepStrictEqual([receipt?.status, receipt?.cost_microcents], [status, cost])
})
