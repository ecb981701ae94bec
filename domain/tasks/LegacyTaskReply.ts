/**
 * What a provider's server of the legacy era says of a task, by version 2025-11-25. Its result is asked for separately.
 */
import { INVALID_PARAMS, RELATED_TASK_META } from "../upstream/Protocol.ts"
import type { PassedReply } from "../upstream/ProviderServers.ts"
import { memberOf, replacedAt } from "../shared/JsonText.ts"
import type { CallTask } from "./CallTask.ts"
import { asksForInput, failedBy, forgotten, malformed, type TaskOutcome } from "./TaskOutcome.ts"
import { isRunning, type RunningTask, startedTask, type StartedTask, taskState } from "./TaskReply.ts"

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
