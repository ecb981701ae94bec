/**
 * The methods about tasks of the legacy era, by version 2025-11-25: free of charge, for the account that started a task.
 */
import { DateTime, Effect } from "effect"
import { PassThrough } from "../../../domain/mcp/PassThrough.ts"
import type { TaskCaller, TaskPosition } from "../../../domain/tasks/CallTask.ts"
import { legacyResult, legacyTask } from "../../../domain/tasks/LegacyTasks.ts"
import type { SeenTask } from "../../../domain/tasks/TaskTexts.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import { OpenStreams } from "../pipeline/WebRequest.ts"
import type { Door, DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { invalidParams, invalidRequest, limited, methodNotFound, type RpcFault, serverFailed } from "./RpcFault.ts"
import type { CalledTool } from "./ToolCalls.ts"

/** `tasks/result` waits so long for the end of its task. The client then asks again. */
const RESULT_WAIT_MS_MAX = 10 * 60_000
/** The store is asked this often at first, and less often the longer it takes. The provider is asked at its own interval. */
const LOOK_MS_MIN = 500
const LOOK_MS_MAX = 5_000
const LOOK_GROWTH = 1.3

type Answered = Effect.Effect<DoorAnswer, DoorFailure>

export const makeLegacyTaskMethods = Effect.gen(function* () {
  const tasks = yield* Tasks
  const passThrough = yield* PassThrough
  const streams = yield* OpenStreams

  /** Counted like a request that is passed on. */
  const counted = (request: DoorRequest, answered: Answered): Answered =>
    passThrough
      .limit(request.caller.ownerId, request.rpc.params?.text.length ?? 0, answered, (answer) =>
        answer._tag === "Result" ? answer.result.length : answer.error.length
      )
      .pipe(
        Effect.catchTag("PassThroughLimited", (exceeded) =>
          Effect.fail(limited(exceeded.message, exceeded.retryAfterSeconds))
        )
      )

  const seen = (caller: TaskCaller, taskId: string): Effect.Effect<SeenTask, DoorFailure> =>
    Effect.catchTag(tasks.get(caller, taskId), "TaskUnknown", ({ message }) => Effect.fail(invalidParams(message)))

  const canceled = Effect.fnUntraced(function* (
    caller: TaskCaller,
    taskId: string
  ): Effect.fn.Return<DoorAnswer, DoorFailure> {
    const became = yield* Effect.catchTag(tasks.cancel(caller, taskId), "TaskUnknown", ({ message }) =>
      Effect.fail(invalidParams(message))
    )
    if (became._tag === "RunsOn") return yield* invalidRequest(RUNS_ON)
    if (became._tag === "EndedBefore" || isOver(became.task)) return yield* invalidParams(ENDED)
    return resultOf(legacyTask(became.task))
  })

  const listed = Effect.fnUntraced(function* (
    caller: TaskCaller,
    cursor: unknown
  ): Effect.fn.Return<DoorAnswer, DoorFailure> {
    const after = positionIn(cursor)
    if (after === "malformed")
      return yield* invalidParams("`cursor` is malformed: send `nextCursor` of the page before.")
    const page = yield* tasks.list(caller, after)
    const next = page.last === undefined ? "" : `,"nextCursor":"${cursorOf(page.last)}"`
    return resultOf(`{"tasks":[${page.tasks.map(legacyTask).join(",")}]${next}}`)
  })

  /** Until the task has ended, and its call is settled. */
  const ended = Effect.fnUntraced(function* (
    request: DoorRequest,
    caller: TaskCaller,
    taskId: string
  ): Effect.fn.Return<DoorAnswer, DoorFailure> {
    const look = counted(
      request,
      Effect.map(seen(caller, taskId), (task): DoorAnswer => (isFinal(task) ? answerOf(task) : RUNNING))
    )
    const untilMs = (yield* DateTime.now).epochMilliseconds + RESULT_WAIT_MS_MAX
    for (let waitMs = LOOK_MS_MIN; ; waitMs = Math.min(waitMs * LOOK_GROWTH, LOOK_MS_MAX)) {
      const answer = yield* look
      if (answer !== RUNNING) return answer
      if ((yield* DateTime.now).epochMilliseconds >= untilMs) return yield* serverFailed(STILL_RUNNING)
      yield* Effect.sleep(waitMs)
    }
  })

  const awaited = (request: DoorRequest, caller: TaskCaller, taskId: string): Answered => {
    request.clock.pause()
    const stopping = Effect.succeed(errorOf(serverFailed(STILL_RUNNING)))
    return Effect.catchTag(
      streams.keep(request.caller.ownerId, ended(request, caller, taskId), stopping),
      "TooManyStreams",
      ({ message, retryAfterSeconds }) => Effect.fail(limited(message, retryAfterSeconds))
    )
  }

  const answered = (door: Door, request: DoorRequest): Answered => {
    const { method, params } = request.rpc
    const caller = { consumerId: request.caller.ownerId, providerId: door.server?.providerId }
    if (method === "tasks/list") return counted(request, listed(caller, params?.value["cursor"]))
    if (!OF_ONE.has(method)) return Effect.fail(methodNotFound(`Method \`${method}\` does not exist.`))
    const taskId = params?.value["taskId"]
    if (typeof taskId !== "string") return Effect.fail(invalidParams("`taskId` is required, the id of a task."))
    if (method === "tasks/result") return awaited(request, caller, taskId)
    return method === "tasks/cancel"
      ? counted(request, canceled(caller, taskId))
      : counted(
          request,
          Effect.map(seen(caller, taskId), (task) => resultOf(legacyTask(task)))
        )
  }

  return (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure> =>
    Effect.map(answered(door, request), (answer) => ({ answer, headers: {} }))
})

const OF_ONE: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/cancel"])

const RUNS_ON =
  "This tool does not accept cancellations: the task runs to its end, and the call costs what its outcome costs. Its result can be read then."
const ENDED = "This task has ended: it cannot be canceled any more."
const CANCELED = "This task was canceled, and has no result."
const STILL_RUNNING = "The task still runs. Send `tasks/result` again."

const isFinal = ({ status }: SeenTask): boolean => status !== "working" && status !== "input_required"

/** Otherwise than by its cancellation. */
const isOver = ({ status }: SeenTask): boolean => status === "completed" || status === "failed"

const answerOf = (task: SeenTask): DoorAnswer => {
  const given = legacyResult(task)
  if (given === undefined) return errorOf(invalidParams(CANCELED))
  return "result" in given ? resultOf(given.result) : { _tag: "Error", error: given.error, status: 200 }
}

const resultOf = (result: string): DoorAnswer => ({ _tag: "Result", result })

const RUNNING: DoorAnswer = resultOf("")

const errorOf = ({ code, message, status }: RpcFault): DoorAnswer => ({
  _tag: "Error",
  error: JSON.stringify({ code, message }),
  status
})

const CURSOR = /^(\d{1,13})\.([0-9a-f]{1,64})$/u

/** Forged ones tell nothing: a list has only the account's own tasks. */
const positionIn = (cursor: unknown): TaskPosition | undefined | "malformed" => {
  if (cursor === undefined) return undefined
  const [, ms, id] = (typeof cursor === "string" ? CURSOR.exec(cursor) : null) ?? []
  return ms === undefined || id === undefined ? "malformed" : { createdAt: DateTime.makeUnsafe(Number(ms)), id }
}

const cursorOf = ({ createdAt, id }: TaskPosition): string => `${createdAt.epochMilliseconds}.${id}`
