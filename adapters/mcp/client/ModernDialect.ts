/**
 * Version 2026-07-28: each request says which client sends it and what that can do, and headers repeat parts of its body.
 */
import { Effect } from "effect"
import { type HeaderParameter, headerParametersOf } from "../../../domain/mcp/HeaderParameters.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  HEADER_MISMATCH,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
  VERSION_META
} from "../../../domain/upstream/Protocol.ts"
import { type Dialect, type Endpoint, type Link, othersOf, postHeaders, toolListBody } from "./Dialect.ts"
import { fault, interrupted, type Reply } from "./HttpExchange.ts"
import { type JsonObject, requestBody } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import { headerText } from "./ProviderSignature.ts"

type ClientIdentity = Pick<McpUpstreamOptions, "clientName" | "clientVersion">

/** The `_meta` of every request, as JSON. `capabilities` too. */
export const modernMeta = (client: ClientIdentity, capabilities = "{}"): string => {
  const info = JSON.stringify({ name: client.clientName, version: client.clientVersion })
  return `{"${VERSION_META}":"${MODERN_VERSION}","${CLIENT_INFO_META}":${info},"${CLIENT_CAPABILITIES_META}":${capabilities}}`
}

export const discover = (endpoint: Endpoint, timeoutMs: number): Effect.Effect<Reply> =>
  Effect.suspend(() => {
    const id = endpoint.nextId()
    return endpoint.ask({
      headers: postHeaders(modernLink, "server/discover"),
      body: requestBody(id, "server/discover", `{"_meta":${endpoint.meta}}`),
      id,
      link: modernLink,
      timeoutMs
    })
  })

/** Reads the tool list for the headers that its tools require. A server without a list requires none. */
export const readTools = Effect.fnUntraced(function* (
  endpoint: Endpoint,
  leftMs: () => number
): Effect.fn.Return<void> {
  const { nowMs } = endpoint
  const known = new Map<string, ReadonlyArray<HeaderParameter> | "invalid">()
  let cursor: string | undefined = undefined
  let ttlMs = endpoint.options.toolListTtlMs
  for (let page = 0; page < endpoint.options.toolListPagesMax; page++) {
    const id = endpoint.nextId()
    const reply: Reply = yield* endpoint.ask({
      headers: postHeaders(modernLink, "tools/list"),
      body: toolListBody(id, modernLink, endpoint.meta, cursor),
      id,
      link: modernLink,
      timeoutMs: leftMs()
    })
    if (reply.kind !== "result") {
      // The known headers stay valid; the list is read again soon.
      endpoint.toolHeadersUntilMs = nowMs() + TOOL_LIST_TTL_MS_MIN
      return
    }
    readToolHeaders(reply.result["tools"], known)
    const offered: unknown = reply.result["ttlMs"]
    const nextCursor: unknown = reply.result["nextCursor"]
    if (typeof offered === "number") ttlMs = Math.min(ttlMs, Math.max(offered, TOOL_LIST_TTL_MS_MIN))
    if (typeof nextCursor !== "string" || nextCursor === "") break
    cursor = nextCursor
  }
  endpoint.toolHeaders = known
  endpoint.toolHeadersUntilMs = nowMs() + ttlMs
})

const TOOL_LIST_TTL_MS_MIN = 10_000

export const modernDialect: Dialect = {
  sessions: false,
  appendHeaders: (headers, { version }, method, name) => {
    headers.push("mcp-protocol-version", version, "mcp-method", method)
    if (name !== undefined) headers.push("mcp-name", headerText(name))
  },
  requestMeta: (meta) => meta,
  callerMeta: (own, { capabilities, clientInfo, inSession }) =>
    own.map(({ name, text }) => {
      const theirs =
        name === CLIENT_INFO_META ? clientInfo : name === CLIENT_CAPABILITIES_META ? capabilities : undefined
      return `"${name}":${(inSession ? undefined : theirs) ?? text}`
    }),
  callParams: (exchange) => (exchange.inSession ? "" : othersOf(exchange)),
  prepareCall: (endpoint, call, headers, atMs, scope) => {
    const parameters = endpoint.toolHeaders.get(call.toolName)
    if (parameters !== undefined && parameters !== "invalid") {
      appendParameterHeaders(headers, parameters, call.arguments)
    }
    const reply = parameters === "invalid" ? invalidTool : undefined
    if (atMs <= endpoint.toolHeadersUntilMs) return Effect.succeed(reply)
    endpoint.toolHeadersUntilMs = Number.POSITIVE_INFINITY
    const readMs = endpoint.options.setupTimeoutMs
    return Effect.as(
      Effect.forkIn(
        readTools(endpoint, () => readMs),
        scope
      ),
      reply
    )
  },
  // One with invalid annotations is left out, as the version requires.
  isCallable: (inputSchema) => headerParametersOf(inputSchema) !== undefined,
  listClient: (client) => client,
  isUnfinished: ({ resultType: type }) => type !== undefined && type !== "complete",
  pendingOf: (_, { requestState, resultType: type }, resultText, { inSession }) => {
    if (inSession) return undefined
    if (type === "input_required") {
      return { kind: type, resultText, requestState: typeof requestState === "string" ? requestState : undefined }
    }
    return type === "task" ? { kind: type, resultText } : undefined
  },
  repair: (_, status, error) => {
    const code = error?.code
    if (code === HEADER_MISMATCH) return "tool_headers"
    if (code === UNSUPPORTED_VERSION) return "new_dialect"
    // Servers on older SDKs return these for requests without a handshake.
    const wantsHandshake = code === undefined || code === -32000 || code === -32001
    return wantsHandshake && MAY_WANT_HANDSHAKE.has(status) ? "other_dialect" : "none"
  },
  resume: () => Effect.succeed(interrupted),
  isOfOneClient: () => false,
  reread: discover,
  // The end of the connection is enough.
  cancel: () => {},
  // A server sends no requests.
  answer: () => {},
  end: () => Effect.void
}

export const modernLink: Link = { dialect: modernDialect, version: MODERN_VERSION, sessionId: undefined }

const MAY_WANT_HANDSHAKE: ReadonlySet<number> = new Set([400, 404, 405])

const invalidTool = fault("unusable", "The provider's definition of this tool has invalid x-mcp-header annotations")

// `x-mcp-header`: parameters that a tool requires as `Mcp-Param-*` headers in addition to the body. A tool with invalid annotations
// may not be called.

/** Reads a page of `tools/list` into `known`. */
const readToolHeaders = (tools: unknown, known: Map<string, ReadonlyArray<HeaderParameter> | "invalid">): void => {
  if (!Array.isArray(tools)) return
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool["name"] !== "string" || known.size >= TOOLS_MAX) continue
    const parameters = headerParametersOf(tool["inputSchema"])
    if (parameters === undefined) known.set(tool["name"], "invalid")
    else if (parameters.length > 0) known.set(tool["name"], parameters)
  }
}

/** Appends the header of every parameter that has an argument. */
const appendParameterHeaders = (
  headers: Array<string>,
  parameters: ReadonlyArray<HeaderParameter>,
  args: JsonObject
): void => {
  for (const { header, path } of parameters) {
    let value: unknown = args
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
    if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") {
      headers.push(header, headerText(String(value)))
    }
  }
}

const TOOLS_MAX = 10_000
