/**
 * Requests about tasks, of the extension `io.modelcontextprotocol/tasks`.
 */
import { Effect } from "effect"
import { PassThrough, PassThroughLimited } from "../../../domain/mcp/PassThrough.ts"
import { isInputPermitted } from "../../../domain/mcp/ServerRequests.ts"
import { memberOf } from "../../../domain/shared/JsonText.ts"
import { ACKNOWLEDGED, type TaskCaller } from "../../../domain/tasks/CallTask.ts"
import { Tasks, type TaskUnknown } from "../../../domain/tasks/Tasks.ts"
import { declaresTasks, TASKS_EXTENSION } from "../../../domain/upstream/Protocol.ts"
import type { Door, DoorFailure, DoorRequest } from "./Door.ts"
import { textAt } from "./RpcMessage.ts"
import {
  type DoorAnswer,
  errorAnswer,
  invalidParams,
  limited,
  methodNotFound,
  missingCapability,
  resultAnswer,
  type RpcFault,
  serverFailed
} from "./RpcReply.ts"

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

/** For a client that did not declare that it can handle tasks. */
export const missingTasks = missingCapability(MISSING, {
  requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } }
})

const missingInput = missingCapability(
  "The task asks for input of a kind that the capabilities of this request do not declare, such as `elicitation`.",
  undefined
)
