/**
 * `notifications/progress`: what a server says of a request while it works on it, where the request brought its own id as
 * a token for it.
 */
import type { ToolProgress } from "../../domain/metering/ToolUpstream.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"

/** Progress is not paid for: it has words for what is being done, and no room for what the tool makes. */
const MESSAGE_CHARS_MAX = 300

/** What a message says of this request; undefined for whatever else it is. */
export const progressOf = (requestId: number, message: JsonObject): ToolProgress | undefined => {
  const { method, params } = message
  if (method !== "notifications/progress" || !isObject(params)) return undefined
  const { message: words, progress, progressToken: about, total } = params
  if (about !== requestId || !isNumber(progress)) return undefined
  return {
    progress,
    ...(isNumber(total) ? { total } : {}),
    ...(typeof words === "string" ? { message: words.slice(0, MESSAGE_CHARS_MAX).toWellFormed() } : {})
  }
}

/** JSON has no infinity, and JSON.parse makes one of 1e999. */
const isNumber = (value: unknown): value is number => Number.isFinite(value)
