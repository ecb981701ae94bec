/**
 * Requests about tasks: in the modern era of the extension `io.modelcontextprotocol/tasks`.
 */
import { Effect } from "effect"
import { PassThrough } from "../../../domain/mcp/PassThrough.ts"
import { isInputPermitted } from "../../../domain/mcp/ServerRequests.ts"
import { memberOf } from "../../../domain/shared/JsonText.ts"
import type { TaskCaller } from "../../../domain/tasks/CallTask.ts"
import { ACKNOWLEDGED } from "../../../domain/tasks/TaskTexts.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import { declaresTasks, TASKS_EXTENSION } from "../../../domain/upstream/TaskSupport.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { Door, DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { makeLegacyTaskMethods } from "./LegacyTaskMethods.ts"
import { invalidParams, limited, methodNotFound, missingCapability, serverFailed, statusOfCode } from "./RpcFault.ts"
import { textAt } from "./RpcMessage.ts"
import type { CalledTool } from "./ToolCalls.ts"

const METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

type Answered = Effect.Effect<DoorAnswer, DoorFailure>

export const makeTaskMethods = Effect.gen(function* () {
  const tasks = yield* Tasks
  const passThrough = yield* PassThrough
  const legacy = yield* makeLegacyTaskMethods

  const gotten = (caller: TaskCaller, taskId: string, { capabilities }: DoorRequest): Answered =>
    tasks.get(caller, taskId).pipe(
      Effect.flatMap(({ text }) => {
        const asked = memberOf(text, 0, "inputRequests")
        return asked === undefined || isInputPermitted(capabilities, JSON.parse(asked))
          ? Effect.succeed(resultOf(text))
          : Effect.fail(missingInput)
      }),
      Effect.catchTag("TaskUnknown", ({ message }) => Effect.fail(invalidParams(message)))
    )

  const updated = (caller: TaskCaller, taskId: string, { capabilities, clientInfo, rpc }: DoorRequest): Answered => {
    const inputResponses = textAt(rpc.params, "inputResponses")
    if (inputResponses?.startsWith("{") !== true) {
      return Effect.fail(invalidParams("`inputResponses` is required, an object."))
    }
    return tasks.update(caller, taskId, inputResponses, { capabilities, clientInfo }).pipe(
      Effect.map((reply) =>
        reply?._tag === "RpcError"
          ? {
              _tag: "Error" as const,
              error: reply.error,
              status: statusOfCode((JSON.parse(reply.error) as { readonly code?: unknown }).code)
            }
          : resultOf(ACKNOWLEDGED)
      ),
      Effect.catchTags({
        TaskUnknown: ({ message }) => Effect.fail(invalidParams(message)),
        ServerFailed: ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }))
      })
    )
  }

  const canceled = (caller: TaskCaller, taskId: string): Answered =>
    tasks.cancel(caller, taskId).pipe(
      Effect.as(resultOf(ACKNOWLEDGED)),
      Effect.catchTag("TaskUnknown", ({ message }) => Effect.fail(invalidParams(message)))
    )

  const answered = (door: Door, request: DoorRequest): Answered => {
    const { method, params } = request.rpc
    const taskId = params?.value["taskId"]
    if (typeof taskId !== "string") return Effect.fail(invalidParams("`taskId` is required, the id of a task."))
    const caller = { consumerId: request.caller.ownerId, providerId: door.server?.providerId }
    if (method === "tasks/get") return gotten(caller, taskId, request)
    return method === "tasks/update" ? updated(caller, taskId, request) : canceled(caller, taskId)
  }

  return (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure | HandlerError> => {
    const { method, params } = request.rpc
    if (request.era === "legacy") return legacy(door, request)
    if (!METHODS.has(method)) return Effect.fail(methodNotFound(`Method \`${method}\` does not exist.`))
    if (!declaresTasks(request.capabilities)) return Effect.fail(missingTasks)
    return passThrough
      .limit(request.caller.ownerId, params?.text.length ?? 0, answered(door, request), (answer) =>
        answer._tag === "Result" ? answer.result.length : answer.error.length
      )
      .pipe(
        Effect.map((answer) => ({ answer, headers: {} })),
        Effect.catchTag("PassThroughLimited", (exceeded) =>
          Effect.fail(limited(exceeded.message, exceeded.retryAfterSeconds))
        )
      )
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

const resultOf = (result: string): DoorAnswer => ({ _tag: "Result", result })
