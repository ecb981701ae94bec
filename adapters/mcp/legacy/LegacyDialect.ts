/**
 * Versions 2025-11-25 and before: a handshake negotiates the version and opens a session, in which the server sends requests of
 * its own, and resumes streams.
 */
import { Effect } from "effect"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { TASK_MS_MAX } from "../../../domain/tasks/CallTask.ts"
import {
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
  SESSION_VERSIONS,
  UNSUPPORTED_VERSION
} from "../../../domain/upstream/Protocol.ts"
import {
  type Endpoint,
  type Link,
  type Message,
  othersOf,
  postHeaders,
  SERVICE,
  type SessionDialect
} from "../client/Dialect.ts"
import { fault, interrupted, type Reply } from "../client/HttpExchange.ts"
import { notificationBody, replyBody, requestBody } from "../client/JsonRpc.ts"
import { incompatible, isLink } from "../client/ProviderEndpoints.ts"

/** Requests that change or read the state of a session. */
const OF_A_SESSION = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"])

/** The longest time: the service itself decides how long a task may take, and the result must not be gone before it is paid. */
const TASK = `"task":{"ttl":${TASK_MS_MAX}},`

export const legacyDialect: SessionDialect = {
  sessions: true,
  appendHeaders: (headers, link) => appendSession(headers, link),
  requestMeta: () => undefined,
  callerMeta: () => [],
  callParams: (exchange) => (exchange.inSession ? othersOf(exchange) : "") + (exchange.asTask === true ? TASK : ""),
  prepareCall: () => Effect.undefined,
  isCallable: () => true,
  // On the shared link it knows no capabilities.
  listClient: (client) => (client.inSession && client.capabilities !== SERVICE.capabilities ? client : SERVICE),
  isUnfinished: ({ resultType: type }) => type === "input_required" || type === "task",
  pendingOf: ({ sessionId, version }, { task }, resultText, { asTask, inSession }) =>
    (inSession || asTask === true) && isObject(task)
      ? { kind: "task", resultText, session: { sessionId, version } }
      : undefined,
  repair: ({ sessionId }, status, error) => {
    if (status < 400 || status >= 500 || status === 429) return "none"
    const code = error?.code
    if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION) return "new_dialect"
    if (sessionId !== undefined) {
      if (status === 404) return "new_session"
      if (status === 400 && /session|initiali[sz]ed/iu.test(error?.message ?? "")) return "new_session"
      if (status === 409) return "own_session"
    }
    return code === undefined && (status === 400 || status === 404 || status === 405) ? "forget_dialect" : "none"
  },
  resume: (...stream) => resumed(...stream),
  isOfOneClient: (method) => OF_A_SESSION.has(method),
  reread: undefined,
  cancel: (endpoint, { http, id, link, subject }, reason) => {
    if (id === undefined || link === undefined || http === "DELETE") return
    const canceled = notification(endpoint, link, "notifications/cancelled", { requestId: id, reason })
    endpoint.tell({ ...canceled, ...(subject === undefined ? {} : { subject }) })
  },
  answer: (endpoint, link, asked) => {
    const timeoutMs = endpoint.options.notificationTimeoutMs
    endpoint.tell({ headers: postHeaders(link, asked.method), body: replyBody(asked), id: undefined, link, timeoutMs })
  },
  end: (endpoint, link) => {
    if (link.sessionId === undefined) return Effect.void
    const timeoutMs = endpoint.options.notificationTimeoutMs
    return endpoint.ask({ http: "DELETE", headers: sessionHeaders(link), body: "", id: undefined, link, timeoutMs })
  },
  speaks: (versions) => SESSION_VERSIONS.some((version) => versions.includes(version)),
  linkOf: (session) => ({ dialect: legacyDialect, ...session }),
  open: Effect.fnUntraced(function* (
    endpoint: Endpoint,
    capabilities: string,
    leftMs: () => number,
    onGreeted: (link: Link, reply: Reply) => void = () => {}
  ) {
    const offer = (version: string) => {
      const id = endpoint.nextId()
      return endpoint.ask({
        headers: postHeaders(undefined, "initialize"),
        body: initializeBody(id, version, endpoint, capabilities),
        id,
        link: undefined,
        timeoutMs: leftMs()
      })
    }
    let reply = yield* offer(SESSION_VERSIONS[0])
    const older = reply.kind === "rpc_error" ? olderVersionIn(reply.error.data) : undefined
    if (older !== undefined) reply = yield* offer(older)
    const link = negotiated(reply)
    if (!isLink(link)) return link
    onGreeted(link, reply)
    const initialized = notification(endpoint, link, "notifications/initialized", undefined)
    const response = yield* endpoint.ask({ ...initialized, timeoutMs: leftMs() })
    // A server that does not accept it may still answer calls.
    return response.kind === "timeout" || response.kind === "connection" || response.kind === "blocked"
      ? response
      : link
  })
}

/** `capabilities`: as JSON. */
const initializeBody = (id: number, version: string, { options }: Endpoint, capabilities: string): string => {
  const info = JSON.stringify({ name: options.clientName, version: options.clientVersion })
  return requestBody(
    id,
    "initialize",
    `{"protocolVersion":"${version}","capabilities":${capabilities},"clientInfo":${info}}`
  )
}

const notification = (
  { options }: Endpoint,
  link: Link,
  method: string,
  params: Readonly<Record<string, unknown>> | undefined
): Message => ({
  headers: postHeaders(link, method),
  body: notificationBody(method, params),
  id: undefined,
  link,
  timeoutMs: options.notificationTimeoutMs
})

/** The link that the response to `initialize` makes, or the reply that prevents one. */
export const negotiated = (reply: Reply): Link | Reply => {
  if (reply.kind === "resumable") return fault("connection", "The provider's handshake was interrupted", reply.bytes)
  if (reply.kind !== "result") return reply
  const version = SESSION_VERSIONS.find((known) => known === reply.result["protocolVersion"])
  if (version === undefined) return incompatible
  const { sessionId } = reply
  if (sessionId !== undefined && !isSessionId(sessionId)) {
    return fault("malformed", "The provider's session id is not valid", reply.bytes)
  }
  return { dialect: legacyDialect, version, sessionId }
}

const olderVersionIn = (data: unknown): string | undefined => {
  const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
  return SESSION_VERSIONS.slice(1).find((version) => supported.includes(version))
}

/** Headers of a GET that resumes a stream, or of the DELETE that ends a session. */
const sessionHeaders = (link: Link, lastEventId?: string): Array<string> => {
  const headers = lastEventId === undefined ? [] : ["accept", "text/event-stream", "last-event-id", lastEventId]
  appendSession(headers, link)
  return headers
}

/** 2025-03-26 and before have no version header. */
export const appendSession = (headers: Array<string>, { sessionId, version }: Link): void => {
  if (version >= "2025-06-18") headers.push("mcp-protocol-version", version)
  if (sessionId !== undefined) headers.push("mcp-session-id", sessionId)
}

/** A session id that is a valid header value; others are ignored. */
const isSessionId = (text: string): boolean => /^[\x21-\x7e]{1,1024}$/u.test(text)

// A server may close a stream before its response, and says how to resume it.

/** Each request has a later timestamp than the one before: a provider rejects a repeated signature. */
const RESUMPTION_MS_MIN = 20

const resumed = Effect.fnUntraced(function* (
  endpoint: Endpoint,
  message: Message,
  first: Reply,
  untilMs: number,
  count: (bytes: number) => void
): Effect.fn.Return<Reply> {
  const extraMs = () => message.extraMs?.() ?? 0
  const leftMs = () => endpoint.leftMs(untilMs + extraMs())
  const canceled = (reason: string) => Effect.sync(() => legacyDialect.cancel(endpoint, message, reason))
  let reply = first
  for (let n = 0; n < endpoint.options.resumptionsMax && reply.kind === "resumable"; n++) {
    const waitMs = Math.max(RESUMPTION_MS_MIN, reply.retryMs ?? endpoint.options.resumptionDelayMs)
    const { lastEventId } = reply
    if (waitMs >= leftMs()) {
      yield* Effect.onExit(Effect.sleep(leftMs()), () => canceled("The response did not arrive in time"))
      return fault("timeout", "The provider did not respond in time")
    }
    yield* Effect.onInterrupt(Effect.sleep(waitMs), () => canceled("The caller disconnected"))
    const given = extraMs()
    reply = yield* endpoint.ask({
      ...message,
      extraMs: () => extraMs() - given,
      http: "GET",
      headers: sessionHeaders(message.link!, lastEventId),
      body: "",
      timeoutMs: leftMs()
    })
    count(reply.bytes)
  }
  // The tool may have run: a rejected reconnection is not a response to the call.
  return reply.kind === "status" ||
    reply.kind === "accepted" ||
    reply.kind === "resumable" ||
    (reply.kind === "rpc_error" && reply.status >= 400)
    ? interrupted
    : reply
})
