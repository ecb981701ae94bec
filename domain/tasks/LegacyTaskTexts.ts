/**
 * A task as a client of the legacy era gets it, by version 2025-11-25.
 */
import { RELATED_TASK_META } from "../upstream/Protocol.ts"
import { withMeta } from "../mcp/ResultText.ts"
import { memberOf, membersOf } from "../shared/JsonText.ts"
import type { SeenTask } from "./TaskTexts.ts"

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
