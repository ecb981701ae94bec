/**
 * Tasks that a client starts in a session: which tools run as such, and what a provider's server says of one. A result is
 * requested separately.
 */
import { Effect } from "effect"
import { ToolOffers } from "../mcp/ToolOffers.ts"
import { memberOf, replacedAt } from "../shared/JsonText.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { declaresSessionTasks, INVALID_PARAMS, RELATED_TASK_META } from "../upstream/Protocol.ts"
import {
  type PassedReply,
  ProviderServers,
  type ServerAddress,
  type ServerFailed
} from "../upstream/ProviderServers.ts"
import type { CallTask } from "./CallTask.ts"
import {
  asksForInput,
  failedBy,
  forgotten,
  isRunning,
  malformed,
  type RunningTask,
  startedTask,
  type StartedTask,
  type TaskOutcome,
  taskState
} from "./TaskReply.ts"

/** `none`: the server takes no calls as tasks. The others are the protocol's own. */
export type TaskUse = "none" | "forbidden" | "optional" | "required"

/** The use of tasks follows from what the server declares, and from the tool's own definition. */
export const makeTaskTools = Effect.gen(function* () {
  const servers = yield* ProviderServers
  const offers = yield* ToolOffers

  return Effect.fnUntraced(function* (
    server: ServerAddress,
    toolName: string
  ): Effect.fn.Return<TaskUse, ServerFailed | StoreUnavailable> {
    const { capabilities, sessions } = yield* servers.profile(server)
    if (!sessions || !declaresSessionTasks(capabilities)) return "none"
    const { tools } = yield* offers.offer(server)
    const execution: unknown = tools.get(toolName)?.listed.definition["execution"]
    const use = (execution as { readonly taskSupport?: unknown } | null | undefined)?.taskSupport
    return use === "optional" || use === "required" ? use : "forbidden"
  })
})

/** It has ended, and its result is not known yet. */
export interface EndedTask {
  readonly ended: "completed" | "failed"
  readonly statusMessage: string | undefined
}

export const startedSessionTask = (text: string): StartedTask | undefined => {
  const task = memberOf(text, 0, "task")
  return task?.startsWith("{") === true ? startedTask(renamed(task)) : undefined
}

/** The response to `tasks/get`. */
export const sessionTaskState = (text: string): RunningTask | TaskOutcome | EndedTask => {
  const { status, statusMessage } = JSON.parse(text) as SessionTask
  switch (status) {
    case "completed":
    case "failed":
      return { ended: status, statusMessage: typeof statusMessage === "string" ? statusMessage : undefined }
    case "input_required":
      return asksForInput
    default:
      return taskState(renamed(text))
  }
}

/** The response to `tasks/result` of a task that has ended; undefined if it may be another one later. */
export const sessionTaskResult = (task: CallTask, state: EndedTask, reply: PassedReply): TaskOutcome | undefined => {
  if (reply._tag === "RpcError") return failure(task, state, reply.error)
  // The client knows the task by another id.
  const result = replacedAt(reply.result, ["_meta", RELATED_TASK_META], JSON.stringify({ taskId: task.id }))
  const outcome = taskState(`{"status":"completed","result":${result}}`)
  if (isRunning(outcome)) return malformed
  return state.ended === "failed" && outcome.status === "success" ? { ...outcome, status: "error" } : outcome
}

const failure = (
  { upstreamId }: CallTask,
  { ended, statusMessage }: EndedTask,
  error: string
): TaskOutcome | undefined => {
  const { code, data, message } = JSON.parse(error) as { readonly [name: string]: unknown }
  if (ended === "completed") return code === INVALID_PARAMS ? forgotten : undefined
  return Number.isInteger(code) && typeof message === "string" && !error.includes(upstreamId)
    ? failedBy({ code: code as number, message, data })
    : failedBy({ code: TASK_FAILED, message: statusMessage ?? "The provider's task failed" })
}

/** The code of a failure that the server describes not at all, or only with its own id of the task. */
const TASK_FAILED = -32_603

interface SessionTask {
  readonly [name: string]: unknown
}

/** The same members under the names of tasks that a server starts. */
const renamed = (text: string): string => {
  const { lastUpdatedAt, pollInterval, status, statusMessage, taskId, ttl } = JSON.parse(text) as SessionTask
  return JSON.stringify({ taskId, status, statusMessage, lastUpdatedAt, ttlMs: ttl, pollIntervalMs: pollInterval })
}
