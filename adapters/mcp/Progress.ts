/**
 * `notifications/progress`: progress of a request, which sent its own id as the progress token.
 */
import type { ToolProgress } from "../../domain/metering/ToolUpstream.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"

/** Progress is free of charge, so its text is limited to a description. */
const MESSAGE_CHARS_MAX = 300

/** The progress of this request; undefined for other messages. */
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

/** JSON has no infinity, but JSON.parse reads 1e999 as one. */
const isNumber = (value: unknown): value is number => Number.isFinite(value)
