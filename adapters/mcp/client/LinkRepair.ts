/**
 * Carries out a repair, so that a request that the server rejected without processing it can be sent again.
 */
import { Effect } from "effect"
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from "../../../domain/upstream/Protocol.ts"
import { readTools } from "./Handshake.ts"
import type { Link } from "./Dialect.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import type { Reply } from "./Reply.ts"

// Errors of the server's transport layer that say nothing about the tool and can be fixed. A request is sent again only
// if a 4xx status, or a modern server's error code, proves that the tool did not run.

export type Repair =
  | "none"
  /** The session is gone: repeat the handshake and the request. */
  | "new_session"
  /** The server does not support this version: determine its version and repeat the request. */
  | "new_era"
  /** The server may have changed its era: determine it, and repeat the request only if it has. */
  | "other_era"
  /** Headers for the tool's parameters are missing or outdated: read the tool list and repeat the request. */
  | "tool_headers"
  /** The session accepts one request at a time: repeat the request in another one. */
  | "own_session"
  /** Possibly the era: determine it before the next call. */
  | "forget_era"

export const repairOf = (link: Link, reply: Reply): Repair => {
  if (reply.kind !== "rpc_error" && reply.kind !== "status") return "none"
  const { error, status } = reply
  if (link.era === "modern" && error?.code === HEADER_MISMATCH) return "tool_headers"
  if (link.era === "modern" && error?.code === UNSUPPORTED_VERSION) return "new_era"
  if (status < 400 || status >= 500 || status === 429) return "none"
  return link.era === "modern"
    ? repairOfModern(status, error?.code)
    : repairOfLegacy(link, status, error?.code, error?.message)
}

const repairOfModern = (status: number, code: number | undefined): Repair => {
  // Servers on older SDKs return these for requests without a handshake.
  const legacyRejection = code === undefined || code === -32000 || code === -32001
  return legacyRejection && (status === 400 || status === 404 || status === 405) ? "other_era" : "none"
}

const repairOfLegacy = (link: Link, status: number, code: number | undefined, message: string | undefined): Repair => {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION) return "new_era"
  if (link.sessionId !== undefined) {
    if (status === 404) return "new_session"
    if (status === 400 && /session|initiali[sz]ed/iu.test(message ?? "")) return "new_session"
    if (status === 409) return "own_session"
  }
  return code === undefined && (status === 400 || status === 404 || status === 405) ? "forget_era" : "none"
}

// Sends a request over the link that all clients share, and once more after a repair of the link, if the server rejected it.

export interface Answered {
  /** Undefined if no link could be made. */
  readonly link: Link | undefined
  readonly reply: Reply
}

export const overSharedLink = Effect.fnUntraced(function* (
  known: KnownEndpoint,
  nowMs: () => number,
  leftMs: () => number,
  send: (link: Link) => Effect.Effect<Reply>
): Effect.fn.Return<Answered> {
  const attempt = Effect.suspend(() => known.sessions.with(leftMs(), (link) => sentOver(link, send(link)))).pipe(
    Effect.map((outcome): Answered => ("reply" in outcome ? outcome : { link: undefined, reply: outcome }))
  )
  let answered = yield* attempt
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs++) {
    const { link, reply } = answered
    if (link === undefined) return answered
    const repair = repairOf(link, reply)
    if (!(yield* repaired(known, link, repair, nowMs, leftMs))) return answered
    answered = yield* attempt
  }
  return answered
})

const sentOver = (link: Link, sent: Effect.Effect<Reply>): Effect.Effect<Answered> =>
  Effect.map(sent, (reply) => ({ link, reply }))

/** The most repairs of one request. */
export const REPAIRS_MAX = 2

/** False: the request is not sent again. */
export const repaired = Effect.fnUntraced(function* (
  { endpoint, sessions }: KnownEndpoint,
  link: Link,
  repair: Repair,
  nowMs: () => number,
  leftMs: () => number
): Effect.fn.Return<boolean> {
  switch (repair) {
    case "none":
      return false
    case "own_session":
      return sessions.makeExclusive(link)
    case "new_session":
      sessions.lose(link, false)
      return true
    case "new_era":
    case "other_era":
      sessions.lose(link, true)
      return true
    case "forget_era":
      sessions.lose(link, true)
      return false
    case "tool_headers":
      yield* readTools(endpoint, nowMs, leftMs)
      return true
  }
})
