/**
 * Determines the protocol version of an endpoint. A server that does not answer `server/discover` is offered a session. Both are
 * harmless: no tool runs before the version is known.
 */
import { Effect } from "effect"
import {
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION
} from "../../../domain/upstream/Protocol.ts"
import type { Link } from "./Dialect.ts"
import { discover, modernDialect, modernLink, readTools } from "./ModernDialect.ts"
import type { ProviderEndpoint } from "./ProviderEndpoint.ts"
import { fault, type Reply } from "./Reply.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"

export const isLink = (outcome: Link | Reply): outcome is Link => "dialect" in outcome

/** A link, or the reply that prevented it. */
export const establish = Effect.fnUntraced(function* (endpoint: ProviderEndpoint): Effect.fn.Return<Link | Reply> {
  const { nowMs, sessionDialect } = endpoint
  const untilMs = nowMs() + endpoint.options.setupTimeoutMs
  const leftMs = () => endpoint.leftMs(untilMs)
  const opened = sessionDialect.open(endpoint, "{}", leftMs, (link, reply) => recordGreeting(endpoint, link, reply))
  if (endpoint.dialect === sessionDialect) {
    const outcome = yield* opened
    if (isLink(outcome) || (outcome.kind !== "rpc_error" && outcome.kind !== "status")) return outcome
    endpoint.dialect = undefined
  }
  const verdict = yield* detect(endpoint, leftMs)
  if (verdict === "sessions") {
    const outcome = yield* opened
    if (isLink(outcome)) endpoint.dialect = sessionDialect
    return outcome
  }
  if (verdict === "modern") {
    endpoint.dialect = modernDialect
    yield* readTools(endpoint, leftMs)
    return modernLink
  }
  return verdict
})

/** Keeps what the server said of itself. */
export const recordGreeting = (endpoint: ProviderEndpoint, { dialect, version }: Link, reply: Reply): void => {
  if (reply.kind !== "result") return
  const whole = reply.text ?? JSON.stringify(reply.result)
  const text = whole.length > endpoint.options.profileBytesMax ? undefined : whole
  endpoint.greeting = { dialect, version, text, atMs: endpoint.nowMs() }
}

type Verdict = "modern" | "sessions" | Reply

const detect = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  leftMs: () => number
): Effect.fn.Return<Verdict> {
  const probe = Effect.suspend(() => discover(endpoint, Math.min(endpoint.options.probeTimeoutMs, leftMs())))
  let reply = yield* probe
  if (verdictOf(endpoint, reply) === "again") reply = yield* probe
  const verdict = verdictOf(endpoint, reply)
  if (verdict === "modern") recordGreeting(endpoint, modernLink, reply)
  return verdict === "again" ? incompatible : verdict
})

const verdictOf = ({ sessionDialect }: ProviderEndpoint, reply: Reply): Verdict | "again" => {
  switch (reply.kind) {
    case "result": {
      const supported = reply.result["supportedVersions"]
      if (!Array.isArray(supported)) return "sessions"
      if (supported.includes(MODERN_VERSION)) return "modern"
      return sessionDialect.speaks(supported) ? "sessions" : incompatible
    }
    case "rpc_error": {
      const { code, data } = reply.error
      if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return "modern"
      if (code !== UNSUPPORTED_VERSION) return "sessions"
      const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
      if (supported.includes(MODERN_VERSION)) return "again"
      return sessionDialect.speaks(supported) ? "sessions" : incompatible
    }
    case "status":
      return reply.status === 429 || reply.status < 400 ? reply : "sessions"
    case "blocked":
    case "connection":
    case "overloaded":
    case "no_room":
      return reply
    default:
      return "sessions"
  }
}

export const incompatible = fault("malformed", "The provider supports no MCP version that this service supports")
