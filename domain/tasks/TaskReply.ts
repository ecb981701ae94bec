/**
 * Replies of a provider's server about a task, of the extension `io.modelcontextprotocol/tasks`, version 2026-07-28.
 */
import { isInputPermitted } from "../mcp/ServerRequests.ts"
import { isObject, memberOf } from "../shared/JsonText.ts"
import { ALL_LISTING_CAPABILITIES } from "../upstream/ProviderServers.ts"
import type { ToolResult, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"
import {
  POLL_MS_DEFAULT,
  POLL_MS_MAX,
  POLL_MS_MIN,
  TASK_MS_MAX,
  TASK_MS_MIN,
  TASK_STATE_CHARS_MAX,
  UPSTREAM_ID_CHARS_MAX
} from "./CallTask.ts"

/**
 * The end of a task, as it is stored before the call is settled by it. Nothing else decides what is billed and
 * delivered, so any node can settle the call, and gets the same.
 */
export interface TaskOutcome {
  readonly status: "success" | "error" | "timeout"
  readonly problem: UpstreamProblem | undefined
  /** The result's JSON text, verbatim. */
  readonly resultText: string | undefined
  /** Its caller canceled it: billed by what the tool publishes for that. */
  readonly canceled: boolean
  /** The field of any call. */
  readonly endedBy?: UpstreamResponse["endedBy"]
}

/** The stored form. `waitedMs`: how long its task has waited for its caller. */
export interface StoredOutcome extends TaskOutcome {
  readonly waitedMs: number
}

export const outcomeText = ({ resultText, ...rest }: StoredOutcome): string => {
  const text = JSON.stringify(rest)
  return resultText === undefined ? text : `${text.slice(0, -1)},"result":${resultText}}`
}

export const outcomeIn = (text: string): StoredOutcome => {
  const { canceled, endedBy, problem, status, waitedMs } = JSON.parse(text) as Omit<StoredOutcome, "resultText">
  return { status, canceled, endedBy, problem, waitedMs, resultText: memberOf(text, 0, "result") }
}

export const answerOf = (
  outcome: TaskOutcome,
  took: Pick<UpstreamResponse, "attempts" | "latencyMs" | "requestBytes" | "responseBytes">
): UpstreamResponse => ({
  status: outcome.status,
  result: outcome.resultText === undefined ? undefined : (JSON.parse(outcome.resultText) as ToolResult),
  resultText: outcome.resultText,
  problem: outcome.problem,
  endedBy: outcome.endedBy,
  ...took,
  responseBytes: took.responseBytes + new TextEncoder().encode(outcome.resultText).length
})

const failed = (problem: UpstreamProblem): TaskOutcome => ({
  status: "error",
  problem,
  resultText: undefined,
  canceled: false
})

export const completedBy = (resultText: string): TaskOutcome => ({
  status: (JSON.parse(resultText) as ToolResult)["isError"] === true ? "error" : "success",
  problem: undefined,
  resultText,
  canceled: false
})

/** Serialized again, the numbers in an error can take four times the space. */
const ERROR_CHARS_MAX = 1024 * 1024

type RpcError = NonNullable<UpstreamProblem["rpcError"]>

export const failedBy = (rpcError: RpcError): TaskOutcome =>
  failed({ kind: "json_rpc_error", message: "The provider's task failed", rpcError: bounded(rpcError) })

/** Omits its data if it is too large. */
const bounded = (error: RpcError): RpcError =>
  JSON.stringify(error).length <= ERROR_CHARS_MAX
    ? error
    : { code: error.code, message: error.message.slice(0, ERROR_CHARS_MAX), data: undefined }

export const canceledByCaller: TaskOutcome = {
  ...failed({ kind: "canceled", message: "The task was canceled by its caller, and the provider was told." }),
  canceled: true
}

export const canceledByProvider = failed({ kind: "unfinished", message: "The provider canceled the task" })

export const leftUnanswered: TaskOutcome = {
  ...failed({ kind: "canceled", message: "The task asked its caller for input, which did not come in time" }),
  endedBy: "caller"
}

export const forgotten = failed({ kind: "unfinished", message: "The provider does not know its task any more" })

export const sessionLost = failed({
  kind: "session_lost",
  message: "The provider does not know the session of its task any more, for example after a restart"
})

/** The outcome of a task in a session. */
export const asksForInput: TaskOutcome = {
  ...failed({
    kind: "unfinished",
    message:
      "The provider's task asked for input, which tasks of this protocol version do not pass on. Call the tool without a task"
  }),
  endedBy: "service"
}

export const malformed = failed({
  kind: "malformed_answer",
  message: "The provider's response about its task was not valid"
})

export const timedOut: TaskOutcome = {
  ...failed({ kind: "timeout", message: "The provider's task did not end in time" }),
  status: "timeout"
}

/** A task that runs, or waits for input. */
export interface RunningTask {
  readonly state: string
  readonly pollMs: number
  /** The time since its creation. */
  readonly lifetimeMs: number
}

const STATUS_MESSAGE_CHARS_MAX = 1_000

export interface StartedTask extends RunningTask {
  readonly upstreamId: string
}

/** The task that a call started; undefined if there is no valid id. Whether it has ended already is asked like any state. */
export const startedTask = (text: string): StartedTask | undefined => {
  const upstreamId = parsed(text)["taskId"]
  return typeof upstreamId === "string" && VISIBLE.test(upstreamId) && upstreamId.length <= UPSTREAM_ID_CHARS_MAX
    ? { upstreamId, ...(runningTask(text, "working") ?? NOTHING_SAID) }
    : undefined
}

/** The response to `tasks/get`. */
export const taskState = (text: string): RunningTask | TaskOutcome => {
  const task = parsed(text)
  switch (task["status"]) {
    case "working":
    case "input_required":
      return runningTask(text, task["status"]) ?? malformed
    case "completed":
      return completedTask(text, task["result"])
    case "failed": {
      const error = task["error"]
      return isObject(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string"
        ? failedBy({ code: error["code"] as number, message: error["message"], data: error["data"] })
        : malformed
    }
    case "cancelled":
      return canceledByProvider
    default:
      return malformed
  }
}

/** A result that is not final is none: it would be billed, and never be delivered. */
const completedTask = (text: string, result: unknown): TaskOutcome => {
  const isFinal =
    isObject(result) &&
    (result["resultType"] === undefined || result["resultType"] === "complete") &&
    !(isObject(result["task"]) && result["content"] === undefined)
  return isFinal ? completedBy(memberOf(text, 0, "result")!) : malformed
}

const runningTask = (text: string, status: string): RunningTask | undefined => {
  const task = parsed(text)
  const { lastUpdatedAt, pollIntervalMs, statusMessage, ttlMs } = task
  const inputRequests = status === "input_required" ? memberOf(text, 0, "inputRequests") : undefined
  const isAsking = status === "input_required"
  if (isAsking && inputRequests?.startsWith("{") !== true) return undefined
  if (isAsking && !isInputPermitted(ALL_LISTING_CAPABILITIES, task["inputRequests"])) return undefined
  const members = [
    `"status":${JSON.stringify(status)}`,
    ...(typeof statusMessage === "string"
      ? [`"statusMessage":${JSON.stringify(statusMessage.slice(0, STATUS_MESSAGE_CHARS_MAX))}`]
      : []),
    ...(typeof lastUpdatedAt === "string" && INSTANT.test(lastUpdatedAt)
      ? [`"lastUpdatedAt":${JSON.stringify(lastUpdatedAt)}`]
      : []),
    ...(inputRequests === undefined ? [] : [`"inputRequests":${inputRequests}`])
  ]
  const state = `{${members.join(",")}}`
  if (state.length > TASK_STATE_CHARS_MAX) return undefined
  return {
    state,
    pollMs: within(pollIntervalMs, POLL_MS_DEFAULT, POLL_MS_MIN, POLL_MS_MAX),
    lifetimeMs: within(ttlMs, TASK_MS_MAX, TASK_MS_MIN, TASK_MS_MAX)
  }
}

const VISIBLE = /^\P{C}+$/u
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:\d\d)$/u

const NOTHING_SAID: RunningTask = { state: '{"status":"working"}', pollMs: POLL_MS_DEFAULT, lifetimeMs: TASK_MS_MAX }

const within = (value: unknown, otherwise: number, min: number, max: number): number =>
  typeof value === "number" && value >= 0 ? Math.min(Math.max(Math.round(value), min), max) : otherwise

export const isRunning = (reply: RunningTask | TaskOutcome): reply is RunningTask => "state" in reply

type JsonObject = Readonly<Record<string, unknown>>

const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject
