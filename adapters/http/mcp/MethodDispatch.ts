/**
 * Answers a request at a door: the methods about tools, and those about tasks of the extension `io.modelcontextprotocol/tasks`, here;
 * everything else by the door.
 */
import { Effect } from "effect"
import { type ServerFeature, turnedOff } from "../../../domain/accounts/Account.ts"
import { isNeverPassed, PassThrough, PassThroughLimited } from "../../../domain/mcp/PassThrough.ts"
import { withoutOwn } from "../../../domain/mcp/PassedResults.ts"
import { isInputPermitted } from "../../../domain/mcp/ServerRequests.ts"
import { isObject, memberOf } from "../../../domain/shared/JsonText.ts"
import { ACKNOWLEDGED, type TaskCaller } from "../../../domain/tasks/CallTask.ts"
import { Tasks, type TaskUnknown } from "../../../domain/tasks/Tasks.ts"
import { declaresTasks, isTaskMethod, TASKS_EXTENSION } from "../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { Dispatch, Door, DoorFailure, DoorRequest, ToolList } from "./Door.ts"
import {
  type DoorAnswer,
  errorAnswer,
  faultsReplied,
  invalidParams,
  limited,
  methodNotFound,
  missingCapability,
  replyOf,
  resultAnswer,
  type RpcFault,
  serverFailed,
  textAt
} from "./RpcMessages.ts"
import { type CalledTool, makeToolCalls } from "./ToolCalls.ts"

const METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

type Answered = Effect.Effect<DoorAnswer, DoorFailure>

/** Counts a request that is free of charge. */
export const makeCounted = Effect.map(
  PassThrough,
  (passThrough) =>
    <E>(
      { caller, rpc }: DoorRequest,
      answered: Effect.Effect<DoorAnswer, E>
    ): Effect.Effect<DoorAnswer, E | RpcFault> =>
      passThrough
        .limit(caller.ownerId, rpc.params?.text.length ?? 0, answered, (answer) =>
          answer._tag === "Result" ? answer.result.length : answer.error.length
        )
        .pipe(
          Effect.catch((error): Effect.Effect<never, E | RpcFault> =>
            error instanceof PassThroughLimited ? limited(error) : Effect.fail(error)
          )
        )
)

export const unknownTask = ({ message }: TaskUnknown): Effect.Effect<never, RpcFault> =>
  Effect.fail(invalidParams(message))

export const makeTaskMethods = Effect.gen(function* () {
  const tasks = yield* Tasks
  const counted = yield* makeCounted

  const gotten = (caller: TaskCaller, taskId: string, { capabilities }: DoorRequest): Answered =>
    tasks.get(caller, taskId).pipe(
      Effect.flatMap(({ text }) => {
        const asked = memberOf(text, 0, "inputRequests")
        return asked === undefined || isInputPermitted(capabilities, JSON.parse(asked))
          ? Effect.succeed(resultAnswer(text))
          : Effect.fail(missingInput)
      }),
      Effect.catchTag("TaskUnknown", unknownTask)
    )

  const updated = (caller: TaskCaller, taskId: string, { capabilities, clientInfo, rpc }: DoorRequest): Answered => {
    const inputResponses = textAt(rpc.params, "inputResponses")
    if (inputResponses?.startsWith("{") !== true) {
      return Effect.fail(invalidParams("`inputResponses` is required, an object."))
    }
    return tasks.update(caller, taskId, inputResponses, { capabilities, clientInfo }).pipe(
      Effect.map((reply) => (reply?._tag === "RpcError" ? errorAnswer(reply.error) : resultAnswer(ACKNOWLEDGED))),
      Effect.catchTags({
        TaskUnknown: unknownTask,
        ServerFailed: ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }))
      })
    )
  }

  const canceled = (caller: TaskCaller, taskId: string): Answered =>
    tasks
      .cancel(caller, taskId)
      .pipe(Effect.as(resultAnswer(ACKNOWLEDGED)), Effect.catchTag("TaskUnknown", unknownTask))

  const answered = (door: Door, request: DoorRequest): Answered => {
    const { method, params } = request.rpc
    const taskId = params?.value["taskId"]
    if (typeof taskId !== "string") return Effect.fail(invalidParams("`taskId` is required, the id of a task."))
    const caller = { consumerId: request.caller.ownerId, providerId: door.server?.providerId }
    if (method === "tasks/get") return gotten(caller, taskId, request)
    return method === "tasks/update" ? updated(caller, taskId, request) : canceled(caller, taskId)
  }

  return (door: Door, request: DoorRequest): Answered => {
    const { method } = request.rpc
    if (!METHODS.has(method)) return Effect.fail(methodNotFound(`Method \`${method}\` does not exist.`))
    if (!declaresTasks(request.capabilities)) return Effect.fail(missingTasks)
    return counted(request, answered(door, request))
  }
})

const MISSING = `Tasks are for clients that declare the extension \`${TASKS_EXTENSION}\` in the capabilities of each request.`

const missingTasks = missingCapability(MISSING, {
  requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } }
})

const missingInput = missingCapability(
  "The task asks for input of a kind that the capabilities of this request do not declare, such as `elicitation`.",
  undefined
)

export const makeDispatch = Effect.gen(function* () {
  const callTool = yield* makeToolCalls

  const called = (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure | HandlerError> => {
    const { dialect, rpc } = request
    if (rpc.method === "tools/call") return callTool(door, request)
    const answered =
      rpc.method === "tools/list"
        ? Effect.map(listed(door, request), (page) => resultAnswer(dialect.listResult(page)))
        : isTaskMethod(rpc.method)
          ? dialect.tasks(door, request)
          : passed(door, request)
    return Effect.map(answered, (answer) => ({ answer, headers: {} }))
  }

  const dispatch: Dispatch = (door, request) => {
    const { id, method } = request.rpc
    const replied = Effect.map(called(door, request), ({ answer, headers }) => {
      if (answer._tag === "Error") return replyOf(id, answer, headers)
      const result = method === "tools/list" ? answer.result : request.dialect.result(method, answer.result)
      const reply = replyOf(id, { ...answer, result }, headers)
      answer.release?.()
      return reply
    })
    return faultsReplied(replied, id)
  }
  return dispatch
})

const passed = (door: Door, request: DoorRequest): Effect.Effect<DoorAnswer, DoorFailure> => {
  if (isNeverPassed(request.rpc.method)) return Effect.fail(methodNotFound(NEVER_PASSED))
  if (wantsTasks(request) && !declaresTasks(request.capabilities)) return Effect.fail(missingTasks)
  const off = turnedOff(door.featuresOff, request.rpc)
  return off === undefined ? door.pass(request) : Effect.fail(methodNotFound(turnedOffText(off)))
}

/** A subscription to the states of tasks. */
const wantsTasks = ({ rpc: { method, params } }: DoorRequest): boolean => {
  const notifications = method === "subscriptions/listen" ? params?.value["notifications"] : undefined
  return isObject(notifications) && notifications["taskIds"] !== undefined
}

const turnedOffText = (feature: ServerFeature): string => `The provider of this server has turned off ${feature}.`

const NEVER_PASSED = "This method is not passed to providers' servers as a request."

export const listMembers = ({ meta, nextCursor, tools }: ToolList): string => {
  const cursor = nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`
  return `"tools":${tools}${cursor}${meta === undefined ? "" : `,"_meta":${withoutOwn(meta)}`}`
}

const listed = (door: Door, request: DoorRequest): Effect.Effect<ToolList, DoorFailure> => {
  const cursor = request.rpc.params?.value["cursor"]
  return cursor === undefined || typeof cursor === "string"
    ? door.tools(request, cursor)
    : Effect.fail(invalidParams("`cursor` must be a string, the `nextCursor` of the page before."))
}
