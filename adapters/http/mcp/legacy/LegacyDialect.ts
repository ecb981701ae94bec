/**
 * What clients of versions 2025-11-25 and before get otherwise than later ones. They open sessions, and decide which calls run as
 * tasks.
 */
import { Effect } from "effect"
import { ToolDirectory, type ToolReference } from "../../../../domain/metering/ToolDirectory.ts"
import { makeTaskTools } from "../../../../domain/tasks/SessionTasks.ts"
import type { HandlerError } from "../../pipeline/HandlerErrors.ts"
import type { Door, DoorDialect, TaskCall } from "../Door.ts"
import { invalidParams, methodNotFound, type RpcFault, serverFailed } from "../RpcReply.ts"
import { listMembers } from "../MethodDispatch.ts"
import { isObject, type RpcBatch, type RpcMessage } from "../RpcMessage.ts"
import { plainCapabilities } from "../Subscriptions.ts"
import { notAsTask } from "../ToolCalls.ts"
import { createdText, makeLegacyTaskMethods } from "./LegacyTaskMethods.ts"
import { withMembers } from "../../../../domain/mcp/PassedResults.ts"
import { SESSION_VERSIONS, VERSION_META } from "../../../../domain/upstream/Protocol.ts"
import type { ServerProfile } from "../../../../domain/upstream/ProviderServers.ts"
import { SESSION_TASKS, withoutTasks } from "../../../../domain/upstream/TaskSupport.ts"
import { header, type WebRequest } from "../../pipeline/WebRequest.ts"

const isLegacyVersion = (version: unknown): boolean => SESSION_VERSIONS.some((known) => known === version)

/**
 * By the version in the message, else by the headers. Without any, a client is one of the first version over HTTP. Only the
 * legacy era has `initialize`; clients that speak both send it with the header of the modern one.
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
