/**
 * Requests over the link that all clients share, and the repairs after which a request that the server rejected without
 * processing it is sent again.
 */
import { Effect } from "effect"
import type { Link, Repair } from "./Dialect.ts"
import type { Reply } from "./HttpExchange.ts"
import { readTools } from "./ModernDialect.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"

/**
 * Decides about an error of the server's transport layer that says nothing about the tool. A request is sent again only
 * if a 4xx status, or an error code of the protocol, proves that the tool did not run.
 */
export const repairOf = (link: Link, reply: Reply): Repair =>
  reply.kind === "rpc_error" || reply.kind === "status" ? link.dialect.repair(link, reply.status, reply.error) : "none"

/** The most repairs of one request. */
export const REPAIRS_MAX = 2

/** False: the request is not sent again. */
export const repaired = Effect.fnUntraced(function* (
  { endpoint, sessions }: KnownEndpoint,
  link: Link,
  repair: Repair,
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
    case "new_dialect":
    case "other_dialect":
      sessions.lose(link, true)
      return true
    case "forget_dialect":
      sessions.lose(link, true)
      return false
    case "tool_headers":
      yield* readTools(endpoint, leftMs)
      return true
  }
})

export interface Answered {
  /** Undefined if no link could be made. */
  readonly link: Link | undefined
  readonly reply: Reply
}

/** Sends a request over the link that all clients share, and again after a repair of the link, if the server rejected it. */
export const overSharedLink = Effect.fnUntraced(function* (
  known: KnownEndpoint,
  leftMs: () => number,
  send: (link: Link) => Effect.Effect<Reply>
): Effect.fn.Return<Answered> {
  const sent = (link: Link) => Effect.map(send(link), (reply): Answered => ({ link, reply }))
  const attempt = Effect.suspend(() => known.sessions.with(leftMs(), sent)).pipe(
    Effect.map((outcome): Answered => ("reply" in outcome ? outcome : { link: undefined, reply: outcome }))
  )
  let answered = yield* attempt
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs++) {
    const { link, reply } = answered
    if (link === undefined) return answered
    if (!(yield* repaired(known, link, repairOf(link, reply), leftMs))) return answered
    answered = yield* attempt
  }
  return answered
})
