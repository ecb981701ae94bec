/**
 * Carries out a repair, so that a request that the server rejected without processing it can be sent again.
 */
import { Effect } from "effect"
import { readTools } from "./Handshake.ts"
import type { Link } from "./ProtocolEra.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import type { Repair } from "./Repair.ts"

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
