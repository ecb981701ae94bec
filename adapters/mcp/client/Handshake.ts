/**
 * Determines the protocol version of an endpoint. A modern server answers `server/discover`; otherwise `initialize` is
 * tried. Both are harmless: no tool runs before the version is known.
 */
import { Effect } from "effect"
import {
  HEADER_MISMATCH,
  LEGACY_VERSIONS,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION
} from "../../../domain/upstream/Protocol.ts"
import type { ProviderEndpoint } from "./ProviderEndpoint.ts"
import { isObject } from "./JsonRpc.ts"
import {
  discoverBody,
  initializeBody,
  isSessionId,
  type Link,
  modernLink,
  postHeaders,
  toolListBody
} from "./Dialect.ts"
import { fault, type Reply } from "./Reply.ts"
import type { HeaderParameter } from "../../../domain/mcp/HeaderParameters.ts"
import { readToolHeaders } from "./ToolHeaders.ts"

export const isLink = (outcome: Link | Reply): outcome is Link => "era" in outcome

/** A link, or the reply that prevented it. */
export const establish = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  nowMs: () => number
): Effect.fn.Return<Link | Reply> {
  const untilMs = nowMs() + endpoint.options.setupTimeoutMs
  const leftMs = () => Math.max(1, Math.ceil(untilMs - nowMs()))
  if (endpoint.era === "legacy") {
    const outcome = yield* initialize(endpoint, nowMs, leftMs)
    if (isLink(outcome) || (outcome.kind !== "rpc_error" && outcome.kind !== "status")) return outcome
    endpoint.era = undefined
  }
  const verdict = yield* detect(endpoint, nowMs, leftMs)
  if (verdict === "legacy") {
    const outcome = yield* initialize(endpoint, nowMs, leftMs)
    if (isLink(outcome)) endpoint.era = "legacy"
    return outcome
  }
  if (verdict === "modern") {
    endpoint.era = "modern"
    yield* readTools(endpoint, nowMs, leftMs)
    return modernLink
  }
  return verdict
})

/** Reads the tool list for the headers that its tools require. A server without a list requires none. */
export const readTools = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  nowMs: () => number,
  leftMs: () => number
): Effect.fn.Return<void> {
  const known = new Map<string, ReadonlyArray<HeaderParameter> | "invalid">()
  let cursor: string | undefined = undefined
  let ttlMs = endpoint.options.toolListTtlMs
  for (let page = 0; page < endpoint.options.toolListPagesMax; page++) {
    const id = endpoint.nextId()
    const reply: Reply = yield* endpoint.ask({
      headers: postHeaders(modernLink, "tools/list"),
      body: toolListBody(id, endpoint.meta, cursor),
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

/** Keeps what the server said of itself. */
export const recordGreeting = (endpoint: ProviderEndpoint, link: Link, reply: Reply, atMs: number): void => {
  if (reply.kind !== "result") return
  const text = reply.text ?? JSON.stringify(reply.result)
  const { era, version } = link
  endpoint.greeting = { era, version, text: text.length > endpoint.options.profileBytesMax ? undefined : text, atMs }
}

export const discover = (endpoint: ProviderEndpoint, timeoutMs: number): Effect.Effect<Reply> =>
  Effect.suspend(() => {
    const id = endpoint.nextId()
    return endpoint.ask({
      headers: postHeaders(modernLink, "server/discover"),
      body: discoverBody(id, endpoint.meta),
      id,
      link: modernLink,
      timeoutMs
    })
  })

const detect = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  nowMs: () => number,
  leftMs: () => number
): Effect.fn.Return<"modern" | "legacy" | Reply> {
  const probe = Effect.suspend(() => discover(endpoint, Math.min(endpoint.options.probeTimeoutMs, leftMs())))
  let reply = yield* probe
  if (verdictOf(reply) === "again") reply = yield* probe
  const verdict = verdictOf(reply)
  if (verdict === "modern") recordGreeting(endpoint, modernLink, reply, nowMs())
  return verdict === "again" ? incompatible : verdict
})

const verdictOf = (reply: Reply): "modern" | "legacy" | "again" | Reply => {
  switch (reply.kind) {
    case "result": {
      const supported = reply.result["supportedVersions"]
      if (!Array.isArray(supported)) return "legacy"
      return supported.includes(MODERN_VERSION) ? "modern" : speaksLegacy(supported) ? "legacy" : incompatible
    }
    case "rpc_error": {
      const { code, data } = reply.error
      if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return "modern"
      if (code !== UNSUPPORTED_VERSION) return "legacy"
      const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
      return supported.includes(MODERN_VERSION) ? "again" : speaksLegacy(supported) ? "legacy" : incompatible
    }
    case "status":
      return reply.status === 429 || reply.status < 400 ? reply : "legacy"
    case "blocked":
    case "connection":
    case "overloaded":
    case "no_room":
      return reply
    default:
      return "legacy"
  }
}

const initialize = (endpoint: ProviderEndpoint, nowMs: () => number, leftMs: () => number) =>
  openSession(endpoint, "{}", leftMs, (link, reply) => recordGreeting(endpoint, link, reply, nowMs()))

/** A session of the legacy era, whose client declares these capabilities; or the reply that prevented it. */
export const openSession = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  capabilities: string,
  leftMs: () => number,
  onGreeted: (link: Link, reply: Reply) => void = () => {}
): Effect.fn.Return<Link | Reply> {
  const offer = (version: string) => {
    const id = endpoint.nextId()
    return endpoint.ask({
      headers: postHeaders(undefined, "initialize"),
      body: initializeBody(id, version, endpoint.options, capabilities),
      id,
      link: undefined,
      timeoutMs: leftMs()
    })
  }
  let reply = yield* offer(LEGACY_VERSIONS[0])
  const older = reply.kind === "rpc_error" ? olderVersionIn(reply.error.data) : undefined
  if (older !== undefined) reply = yield* offer(older)
  const link = negotiated(reply)
  if (!isLink(link)) return link
  onGreeted(link, reply)
  const response = yield* endpoint.ask({
    ...endpoint.notification(link, "notifications/initialized", undefined),
    timeoutMs: leftMs()
  })
  // A server that does not accept it may still answer calls.
  return response.kind === "timeout" || response.kind === "connection" || response.kind === "blocked" ? response : link
})

/** The link that the response to `initialize` makes, or the reply that prevents one. */
export const negotiated = (reply: Reply): Link | Reply => {
  if (reply.kind === "resumable") return fault("connection", "The provider's handshake was interrupted", reply.bytes)
  if (reply.kind !== "result") return reply
  const version = LEGACY_VERSIONS.find((known) => known === reply.result["protocolVersion"])
  if (version === undefined) return incompatible
  const { sessionId } = reply
  if (sessionId !== undefined && !isSessionId(sessionId)) {
    return fault("malformed", "The provider's session id is not valid", reply.bytes)
  }
  return { era: "legacy", version, sessionId }
}

const speaksLegacy = (supported: ReadonlyArray<unknown>): boolean =>
  LEGACY_VERSIONS.some((version) => supported.includes(version))

const olderVersionIn = (data: unknown): string | undefined => {
  const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
  return LEGACY_VERSIONS.slice(1).find((version) => supported.includes(version))
}

const incompatible = fault("malformed", "The provider supports no MCP version that this service supports")
