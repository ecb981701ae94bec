/**
 * JSON-RPC 2.0 as MCP uses it: what a client sends, and how the response to a request is distinguished from other
 * messages of the server.
 */
import { METHOD_NOT_FOUND } from "../../../domain/upstream/Protocol.ts"
import type { ToolProgress } from "../../../domain/upstream/ToolUpstream.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"

export type JsonObject = Readonly<Record<string, unknown>>

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The response to one request. */
export type RpcResponse = { readonly result: JsonObject } | { readonly error: RpcError }

/** An id or a token that a client wrote, of its JSON; undefined if it is none. */
export const idOf = (json: string): RpcId | undefined => {
  try {
    const id: unknown = JSON.parse(json)
    return typeof id === "string" || isNumber(id) ? id : undefined
  } catch {
    return undefined
  }
}

export type RpcId = string | number

/** A progress token that a client wrote, as JSON; undefined if it is none. */
export const tokenOf = (json: string | undefined): string | undefined =>
  json === undefined || idOf(json) === undefined ? undefined : json

/** A request of the server to its client. */
export interface ServerRequest {
  readonly id: RpcId
  readonly method: string
}

/** The id as JSON. */
export const requestBody = (id: number | string, method: string, paramsJson: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsJson}}`

export const notificationBody = (method: string, params?: JsonObject): string =>
  JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) })

/** A client without capabilities answers pings and declines everything else. */
export const replyBody = (request: ServerRequest): string =>
  JSON.stringify(
    request.method === "ping"
      ? { jsonrpc: "2.0", id: request.id, result: {} }
      : {
          jsonrpc: "2.0",
          id: request.id,
          error: { code: METHOD_NOT_FOUND, message: `Not supported by this client: ${request.method.slice(0, 100)}` }
        }
  )

/** The messages in a body or an event: one, or a batch. */
export const messagesOf = (text: string): ReadonlyArray<JsonObject> | undefined => {
  if (isTooDeep(text)) return undefined
  try {
    const parsed: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    return Array.isArray(parsed) ? parsed.filter(isObject) : isObject(parsed) ? [parsed] : undefined
  } catch {
    return undefined
  }
}

/**
 * JSON.parse reads deeper values than JSON.stringify and recursive functions can process. Short texts cannot be deep,
 * and texts with few brackets are not checked in detail.
 */
const isTooDeep = (text: string): boolean =>
  text.length > 2 * DEPTH_MAX && hasManyBrackets(text) && depthOf(text) > DEPTH_MAX

const DEPTH_MAX = 1_000

const hasManyBrackets = (text: string): boolean => {
  let count = 0
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > DEPTH_MAX) return true
    }
  }
  return false
}

const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (char === BRACKET || char === BRACE) deepest = Math.max(deepest, ++depth)
    else if (char === BRACKET + 2 || char === BRACE + 2) depth--
  }
  return deepest
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACE = 0x7b

/** The response to request `id`, if this message is it. */
export const answerTo = (id: RpcId, message: JsonObject): RpcResponse | undefined => {
  if (message["method"] !== undefined) return undefined
  if (message["id"] === id && isObject(message["result"]) && message["error"] === undefined) {
    return { result: message["result"] }
  }
  // A server that could not read a request answers it without an id.
  if (message["id"] === id || message["id"] === null || message["id"] === undefined) {
    const error = errorOf(message)
    return error === undefined ? undefined : { error }
  }
  return undefined
}

export const errorOf = (message: JsonObject): RpcError | undefined => {
  const error = message["error"]
  if (!isObject(error) || typeof error["code"] !== "number") return undefined
  const text = typeof error["message"] === "string" ? error["message"] : ""
  return { code: error["code"], message: text, ...(error["data"] === undefined ? {} : { data: error["data"] }) }
}

export const serverRequestOf = (message: JsonObject): ServerRequest | undefined => {
  const { id, method } = message
  return typeof method === "string" && (typeof id === "string" || typeof id === "number") ? { id, method } : undefined
}

/** Progress is free of charge, so its text is limited to a description. */
const MESSAGE_CHARS_MAX = 300

/** The progress that this message reports of a request, which sent its own id as the progress token. */
export const progressOf = (requestId: RpcId, message: JsonObject): ToolProgress | undefined => {
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
