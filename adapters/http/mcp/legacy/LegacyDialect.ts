/**
 * The differences for clients of versions up to 2025-11-25. They open sessions, and decide which calls run as tasks.
 */
import { DateTime, Effect } from "effect"
import { withMembers, withMeta } from "../../../../domain/mcp/PassedResults.ts"
import { ToolDirectory, type ToolReference } from "../../../../domain/metering/ToolDirectory.ts"
import { isObject, memberOf, membersOf } from "../../../../domain/shared/JsonText.ts"
import type { SeenTask, TaskCaller, TaskPosition } from "../../../../domain/tasks/CallTask.ts"
import { makeTaskTools } from "../../../../domain/tasks/SessionTasks.ts"
import { Tasks } from "../../../../domain/tasks/Tasks.ts"
import {
  RELATED_TASK_META,
  SESSION_TASKS,
  SESSION_VERSIONS,
  VERSION_META,
  withoutTasks
} from "../../../../domain/upstream/Protocol.ts"
import type { ServerProfile } from "../../../../domain/upstream/ProviderServers.ts"
import type { HandlerError } from "../../metering/CallProblems.ts"
import { header, OpenStreams, type WebRequest } from "../../pipeline/WebRequest.ts"
import type { Door, DoorDialect, DoorFailure, DoorRequest, TaskCall } from "../Door.ts"
import { listMembers, makeCounted, unknownTask } from "../MethodDispatch.ts"
import {
  type DoorAnswer,
  invalidParams,
  invalidRequest,
  limited,
  methodNotFound,
  resultAnswer,
  type RpcBatch,
  type RpcFault,
  type RpcMessage,
  serverFailed
} from "../RpcMessages.ts"
import { plainCapabilities } from "../Subscriptions.ts"
import { notAsTask } from "../ToolCalls.ts"

const isLegacyVersion = (version: unknown): boolean => SESSION_VERSIONS.some((known) => known === version)

/**
 * Decides by the version in the message, else by the headers. Without any, a client is one of the first version over
 * HTTP. Only the legacy era has `initialize`; clients that speak both send it with the header of the modern one.
 */
export const isModern = (request: WebRequest, message: RpcMessage | RpcBatch): boolean => {
  const inBody =
    message._tag === "Request" || message._tag === "Notification" ? message.meta?.value[VERSION_META] : undefined
  if (inBody !== undefined) return !isLegacyVersion(inBody)
  if (message._tag === "Request" && message.method === "initialize") return false
  const inHeader = header(request, "mcp-protocol-version")
  return inHeader === undefined ? header(request, "mcp-method") !== undefined : !isLegacyVersion(inHeader)
}

/** The capabilities of a server. */
export const offeredInSession = ({ capabilities, sessions }: ServerProfile): string =>
  sessions ? withoutTasks(capabilities) : plainCapabilities(capabilities)

export const makeLegacyDialect = Effect.gen(function* () {
  const directory = yield* ToolDirectory
  const useOf = yield* makeTaskTools
  const tasks = yield* makeLegacyTaskMethods

  const wanted = Effect.fnUntraced(function* (
    door: Door,
    reference: ToolReference
  ): Effect.fn.Return<TaskCall, RpcFault | HandlerError> {
    const { provider, tool } = yield* directory.find(reference)
    const use = yield* Effect.catchTag(
      useOf({ providerId: provider.id, endpointUrl: provider.endpointUrl }, tool.toolName),
      "ServerFailed",
      ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }))
    )
    // A server that declares no tasks ignores the param. The door of the market declares them for the servers that do.
    if (use === "none" && door.server !== undefined) return "none"
    return use === "none" || use === "forbidden" ? yield* methodNotFound(notAsTask(tool.toolName)) : "started"
  })

  const dialect: DoorDialect = {
    result: (_, result) => result,
    listResult: (list) => `{${listMembers(list)}}`,
    structuredErrors: false,
    offered: offeredInSession,
    withTasks: (capabilities) => withMembers(capabilities, { tasks: SESSION_TASKS }),
    parametersFault: undefined,
    wantsTask: (params) => {
      const task = params?.value["task"]
      return task === undefined || isTask(task)
        ? task !== undefined
        : invalidParams("`task` must be an object; its `ttl` is a number of milliseconds, at least 0.")
    },
    taskCall: (door, _, tool, wantsTask) => (wantsTask ? wanted(door, tool) : Effect.succeed("none")),
    started: createdText,
    tasks
  }
  return dialect
})

/** The service itself decides how long a task may take, and its result is kept. */
const isTask = (task: unknown): boolean => {
  if (!isObject(task)) return false
  const { ttl } = task
  return ttl === undefined || (typeof ttl === "number" && ttl >= 0)
}

// The methods about tasks of the legacy era, by version 2025-11-25: free of charge, for the account that started a task.

/** `tasks/result` waits so long for the end of its task. The client then asks again. */
const RESULT_WAIT_MS_MAX = 10 * 60_000
/** The store is asked this often at first, and less often the longer it takes. The provider is asked at its own interval. */
const LOOK_MS_MIN = 500
const LOOK_MS_MAX = 5_000
const LOOK_GROWTH = 1.3

type Answered = Effect.Effect<DoorAnswer, DoorFailure>

export const makeLegacyTaskMethods = Effect.gen(function* () {
  const tasks = yield* Tasks
  const counted = yield* makeCounted
  const streams = yield* OpenStreams

  const seen = (caller: TaskCaller, taskId: string): Effect.Effect<SeenTask, DoorFailure> =>
    Effect.catchTag(tasks.get(caller, taskId), "TaskUnknown", unknownTask)

  const canceled = Effect.fnUntraced(function* (
    caller: TaskCaller,
    taskId: string
  ): Effect.fn.Return<DoorAnswer, DoorFailure> {
    const became = yield* Effect.catchTag(tasks.cancel(caller, taskId), "TaskUnknown", unknownTask)
    if (became._tag === "RunsOn") return yield* invalidRequest(RUNS_ON)
    if (became._tag === "EndedBefore" || isOver(became.task)) return yield* invalidParams(ENDED)
    return resultAnswer(taskText(became.task))
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
    return resultAnswer(`{"tasks":[${page.tasks.map(taskText).join(",")}]${next}}`)
  })

  /** Waits until the task has ended and its call is settled. */
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
      limited
    )
  }

  const answered = (door: Door, request: DoorRequest): Answered => {
    const { method, params } = request.rpc
    const caller = { consumerId: request.caller.ownerId, providerId: door.server?.providerId }
    if (method === "tasks/list") {
      // Tasks do not say which key started them: a key with bounds finds its own by their ids.
      if (request.caller.levels.length > 0) return counted(request, Effect.succeed(resultAnswer('{"tasks":[]}')))
      return counted(request, listed(caller, params?.value["cursor"]))
    }
    if (!OF_ONE.has(method)) return Effect.fail(methodNotFound(`Method \`${method}\` does not exist.`))
    const taskId = params?.value["taskId"]
    if (typeof taskId !== "string") return Effect.fail(invalidParams("`taskId` is required, the id of a task."))
    if (method === "tasks/result") return awaited(request, caller, taskId)
    return method === "tasks/cancel"
      ? counted(request, canceled(caller, taskId))
      : counted(
          request,
          Effect.map(seen(caller, taskId), (task) => resultAnswer(taskText(task)))
        )
  }

  return answered
})

const OF_ONE: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/cancel"])

const RUNS_ON =
  "This tool does not accept cancellations: the task runs to its end, and the call costs what its outcome costs. Its result can be read then."
const ENDED = "This task has ended: it cannot be canceled any more."
const CANCELED = "This task was canceled, and has no result."
const STILL_RUNNING = "The task still runs. Send `tasks/result` again."

const isFinal = ({ status }: SeenTask): boolean => status !== "working" && status !== "input_required"

/** Tells whether it ended otherwise than by its cancellation. */
const isOver = ({ status }: SeenTask): boolean => status === "completed" || status === "failed"

/** Answers `tasks/result`. */
const answerOf = ({ text }: SeenTask): DoorAnswer => {
  const result = memberOf(text, 0, "result")
  if (result !== undefined) {
    const related = `{"taskId":${memberOf(text, 0, "taskId")}}`
    return resultAnswer(withMeta(result, { [RELATED_TASK_META]: related }))
  }
  const error = memberOf(text, 0, "error")
  return error === undefined ? errorOf(invalidParams(CANCELED)) : { _tag: "Error", error, status: 200 }
}

const RUNNING: DoorAnswer = resultAnswer("")

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

// A task as a client gets it.

const STATUS_MESSAGE_CHARS_MAX = 1_000

/** The result of `tasks/get`. */
const taskText = ({ status, text }: SeenTask): string => {
  const members = new Map(membersOf(text).map((member) => [member.name, member.text]))
  const statusMessage = status === "failed" ? reasonIn(members) : members.get("statusMessage")
  const given = Object.entries({
    taskId: members.get("taskId"),
    status: `"${status}"`,
    statusMessage,
    createdAt: members.get("createdAt"),
    lastUpdatedAt: members.get("lastUpdatedAt"),
    ttl: members.get("ttlMs"),
    pollInterval: members.get("pollIntervalMs")
  }).flatMap(([name, value]) => (value === undefined ? [] : [`"${name}":${value}`]))
  return `{${given.join(",")}}`
}

/** The result of the call that started it. `created`: the one for a client without a session. */
const createdText = (created: string): string => `{"task":${taskText({ status: "working", text: created })}}`

/** Returns the failure's reason as JSON: the error's message, or the first text of the result. */
const reasonIn = (members: ReadonlyMap<string, string>): string | undefined => {
  const [error, result] = ["error", "result"].map((name) => {
    const text = members.get(name)
    return text === undefined ? undefined : (JSON.parse(text) as Failure)
  })
  const content: unknown = result?.content
  const reason = error?.message ?? (Array.isArray(content) ? (content[0] as Failure | null)?.text : undefined)
  return typeof reason === "string" ? JSON.stringify(reason.slice(0, STATUS_MESSAGE_CHARS_MAX)) : undefined
}

interface Failure {
  readonly content?: unknown
  readonly message?: unknown
  readonly text?: unknown
}
