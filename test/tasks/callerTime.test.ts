/**
 * How long a task takes: the time of its provider, without the time that its caller takes for answers.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import {
  TASK_MS_MAX,
  type TaskProgress,
  timeAfterAnswers,
  timeAfterState,
  waitedMsAt
} from "../../domain/tasks/CallTask.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"
import { asked, asking, callMcp, requestOf, withState } from "../support/metering/McpMarket.ts"
import {
  checkReceipt,
  completedWith,
  memoryTaskMarket,
  receiptOf,
  seen,
  started,
  type StartedTask,
  startedWith,
  taking,
  TaskProvider,
  working
} from "../support/metering/TaskMarket.ts"
import { later } from "../support/metering/TestTime.ts"

const CLIENT = { capabilities: "{}", clientInfo: undefined }
const SECOND_MS = 1_000

const asks = (...names: ReadonlyArray<string>) => ({
  status: "input_required",
  inputRequests: Object.fromEntries(names.map((name) => [name, { method: "elicitation/create", params: {} }]))
})

const answers = ({ consumerId, id }: StartedTask, ...names: ReadonlyArray<string>) =>
  Effect.flatMap(Tasks, (tasks) =>
    tasks.update(
      { consumerId, providerId: undefined },
      id,
      JSON.stringify(Object.fromEntries(names.map((name) => [name, { action: "accept" }]))),
      CLIENT
    )
  )

/** The tests themselves take time too. */
const checkDuration = Effect.fnUntraced(function* (task: Pick<StartedTask, "receiptId">, seconds: number) {
  const { duration_ms: ms = -1 } = (yield* receiptOf(task)) ?? {}
  assert.isAtLeast(ms, seconds * SECOND_MS)
  assert.isBelow(ms, Math.max(seconds, 1) * 10 * SECOND_MS)
})

const provider = new TaskProvider()

it.layer(memoryTaskMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A task", (it) => {
  /** Seconds after its start. */
  const says = Effect.fnUntraced(function* (
    task: StartedTask,
    second: number,
    said: Parameters<typeof provider.saysOfAll>[0]
  ) {
    provider.saysOfAll(said)
    yield* later(second * SECOND_MS)(seen(task))
  })

  it.effect("does not take the time of its caller, before or after several answers", () =>
    Effect.gen(function* () {
      const task = yield* started()
      yield* says(task, 10, asks("one"))
      yield* says(task, 3_000, asks("one"))
      yield* later(3_600 * SECOND_MS)(answers(task, "one"))
      yield* says(task, 3_605, working)
      yield* says(task, 3_610, asks("two", "three"))
      // A part of the answers leaves a question open.
      yield* later(3_700 * SECOND_MS)(answers(task, "two"))
      yield* says(task, 7_000, asks("three"))
      yield* later(7_200 * SECOND_MS)(answers(task, "three"))
      yield* says(task, 7_210, completedWith("done"))
      yield* checkDuration(task, 30)
    })
  )

  it.effect("takes the time of its provider, though this goes on showing questions that were answered", () =>
    Effect.gen(function* () {
      const task = yield* started()
      yield* says(task, 1, asks("one"))
      yield* later(3_600 * SECOND_MS)(answers(task, "one"))
      for (const second of [3_610, 5_000]) yield* says(task, second, asks("one"))
      yield* says(task, 5_400, completedWith("done"))
      yield* checkDuration(task, 1_801)
    })
  )

  it.effect("is a time-out of its provider only where every question was answered", () =>
    Effect.gen(function* () {
      for (const [answered, status] of [
        [["one"], "timeout"],
        [[], "error"]
      ] as const) {
        const task = yield* started()
        yield* says(task, 1, asks("one"))
        yield* later(2 * SECOND_MS)(answers(task, ...answered))
        yield* says(task, TASK_MS_MAX / SECOND_MS + 1, asks("one"))
        yield* checkReceipt(task, status, 0n)
      }
    })
  )

  it.effect("does not take the time that its call waited for input before it was a task", () =>
    Effect.gen(function* () {
      const first = yield* started()
      const { consumerId, toolId } = first
      const respond = provider.calls.respond
      provider.calls.respond = () => Effect.succeed(asking("state"))
      const { receiptId = first.receiptId, state } = yield* asked(requestOf(consumerId, toolId))
      provider.calls.respond = () => Effect.succeed(startedWith({ taskId: "upstream-late", ...working }))
      const outcome = yield* later(300 * SECOND_MS)(
        Effect.flatMap(taking(consumerId, toolId), (request) =>
          callMcp({ ...request, ...requestOf(consumerId, toolId, withState(state), { takeTask: request.takeTask }) })
        )
      )
      provider.calls.respond = respond
      assert.strictEqual(outcome._tag, "TaskStarted")
      const { taskId } = JSON.parse(outcome._tag === "TaskStarted" ? outcome.resultText : "{}") as { taskId: string }
      const task = { ...first, id: taskId, receiptId }
      yield* says(task, 320, completedWith("done"))
      yield* checkDuration(task, 19)
    })
  )
})

const AT = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")
const at = (seconds: number) => DateTime.add(AT, { seconds })
const progress = (state: object, more: Partial<TaskProgress> = {}): TaskProgress => ({
  state: JSON.stringify(state),
  pollMs: 500,
  expiresAt: at(86_400),
  askedAt: AT,
  dueAt: AT,
  failures: 0,
  waitedMs: 0,
  waitingSince: undefined,
  ...more
})

it("counts a wait once, whatever is said during it", () => {
  const waiting = progress(asks("one"), { waitedMs: 500, waitingSince: at(10) })
  assert.strictEqual(waitedMsAt(waiting, at(12)), 2_500)
  assert.strictEqual(waitedMsAt(waiting, at(9)), 500)
  assert.deepStrictEqual(timeAfterState(waiting, JSON.stringify(asks("one", "two")), at(13)), {
    waitedMs: 500,
    waitingSince: at(10)
  })
  assert.deepStrictEqual(timeAfterState(waiting, JSON.stringify(working), at(13)), {
    waitedMs: 3_500,
    waitingSince: undefined
  })
  const answered = { waitedMs: 3_500, waitingSince: undefined }
  assert.deepStrictEqual(timeAfterAnswers(waiting, `{"one":{},"more":{}}`, at(13)), answered)
  // Another answer to the same question changes nothing; another question starts another wait.
  const after = progress(asks("one"), answered)
  assert.deepStrictEqual(timeAfterAnswers(after, `{"one":{}}`, at(20)), answered)
  assert.deepStrictEqual(timeAfterState(after, after.state, at(20)), answered)
  assert.deepStrictEqual(timeAfterState(after, JSON.stringify(asks("one", "two")), at(20)), {
    waitedMs: 3_500,
    waitingSince: at(20)
  })
})
