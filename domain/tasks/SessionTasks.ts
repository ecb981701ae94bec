/**
 * Tasks of the legacy era, version 2025-11-25: what a provider's server says of one, and what a client gets. A result is requested
 * separately.
 */
import { Effect } from "effect"
import { withMeta } from "../mcp/PassedResults.ts"
import { ToolOffers } from "../mcp/ToolOffers.ts"
import { memberOf, membersOf, replacedAt } from "../shared/JsonText.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { INVALID_PARAMS, RELATED_TASK_META } from "../upstream/Protocol.ts"
import {
  type PassedReply,
  ProviderServers,
  type ServerAddress,
  type ServerFailed
} from "../upstream/ProviderServers.ts"
import { declaresLegacyTasks } from "../upstream/TaskSupport.ts"
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
import type { SeenTask } from "./TaskTexts.ts"

// Which tools run as tasks of the legacy era: those of servers that declare such tasks, each by its own definition.

/** `none`: the server takes no calls as tasks. The others are the protocol's own. */
export type TaskUse = "none" | "forbidden" | "optional" | "required"

export const makeTaskTools = Effect.gen(function* () {
  const servers = yield* ProviderServers
  const offers = yield* ToolOffers

  return Effect.fnUntraced(function* (
    server: ServerAddress,
    toolName: string
  ): Effect.fn.Return<TaskUse, ServerFailed | StoreUnavailable> {
    const { capabilities, era } = yield* servers.profile(server)
    if (era === "modern" || !declaresLegacyTasks(capabilities)) return "none"
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

export const startedLegacyTask = (text: string): StartedTask | undefined => {
  const task = memberOf(text, 0, "task")
  return task?.startsWith("{") === true ? startedTask(modernForm(task)) : undefined
}

/** The response to `tasks/get`. */
export const legacyTaskState = (text: string): RunningTask | TaskOutcome | EndedTask => {
  const { status, statusMessage } = JSON.parse(text) as LegacyTask
  switch (status) {
    case "completed":
    case "failed":
      return { ended: status, statusMessage: typeof statusMessage === "string" ? statusMessage : undefined }
    case "input_required":
      return asksForInput
    default:
      return taskState(modernForm(text))
  }
}

/** The response to `tasks/result` of a task that has ended; undefined if it may be another one later. */
export const legacyTaskResult = (task: CallTask, state: EndedTask, reply: PassedReply): TaskOutcome | undefined => {
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

/** For a failure that the server does not describe otherwise, or only with its own id of the task. */
const TASK_FAILED = -32_603

interface LegacyTask {
  readonly [name: string]: unknown
}

/** The same members under the names of the modern era. */
const modernForm = (text: string): string => {
  const { lastUpdatedAt, pollInterval, status, statusMessage, taskId, ttl } = JSON.parse(text) as LegacyTask
  return JSON.stringify({ taskId, status, statusMessage, lastUpdatedAt, ttlMs: ttl, pollIntervalMs: pollInterval })
}

// A task as a client of the legacy era gets it, by version 2025-11-25.

const STATUS_MESSAGE_CHARS_MAX = 1_000

/** The result of `tasks/get`. */
export const legacyTask = ({ status, text }: SeenTask): string => {
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

/** The result of the call that started it. `created`: the one of the modern era. */
export const legacyCreated = (created: string): string => `{"task":${legacyTask({ status: "working", text: created })}}`

/** The response to `tasks/result` of a task that has ended; undefined if it was canceled. */
export const legacyResult = ({
  text
}: SeenTask): { readonly result: string } | { readonly error: string } | undefined => {
  const result = memberOf(text, 0, "result")
  if (result !== undefined) {
    return { result: withMeta(result, { [RELATED_TASK_META]: `{"taskId":${memberOf(text, 0, "taskId")}}` }) }
  }
  const error = memberOf(text, 0, "error")
  return error === undefined ? undefined : { error }
}

/** Why it failed, as JSON: the error's message, or the first text of the result. */
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
