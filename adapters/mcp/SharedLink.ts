/**
 * Sends a request over the link that all clients share, and once more after a repair of the link, if the server rejected it.
 */
import { Effect } from "effect"
import { REPAIRS_MAX, repaired } from "./LinkRepair.ts"
import type { Link } from "./ProtocolEra.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import { repairOf } from "./Repair.ts"
import type { Reply } from "./Reply.ts"

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
