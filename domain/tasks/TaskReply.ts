/**
 * What a provider's server says of a task: of the extension `io.modelcontextprotocol/tasks`, version 2026-07-28.
 */
import { ALL_LISTING_CAPABILITIES } from "../upstream/ProviderServers.ts"
import { isInputPermitted } from "../mcp/ServerRequests.ts"
import { memberOf } from "../shared/JsonText.ts"
import {
  POLL_MS_DEFAULT,
  POLL_MS_MAX,
  POLL_MS_MIN,
  TASK_MS_MAX,
  TASK_MS_MIN,
  TASK_STATE_CHARS_MAX,
  UPSTREAM_ID_CHARS_MAX
} from "./CallTask.ts"
import { canceledByProvider, completedBy, failedBy, malformed, type TaskOutcome } from "./TaskOutcome.ts"

/** A task that runs, or waits for input. */
export interface RunningTask {
  readonly state: string
  readonly pollMs: number
  /** From its creation. */
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

export const isRunning = (said: RunningTask | TaskOutcome): said is RunningTask => "state" in said

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject
