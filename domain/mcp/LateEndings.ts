/**
 * Ends sessions at provider's servers once no call can use them any more. A server that is told to end a session closes the
 * streams of its calls, which would then fail and cost nothing although the server did their work. Calls of a session may run
 * on any node, so nothing but time tells that the last one has ended.
 */
import { Duration, Effect } from "effect"
import { WAIT_MS_MAX } from "../metering/CallerWaits.ts"
import { longestMsOf } from "../metering/CallTerms.ts"
import { ProgressMsMax, TOOL_TIMEOUT_MS_MAX, type UpstreamBounds, UpstreamLimits } from "../metering/UpstreamLimits.ts"
import type { LiveSession } from "./LiveSession.ts"
import { ProviderServers } from "../upstream/ProviderServers.ts"

/** Per node. Further sessions, and those of a process that stops, end by their server's own idle time-out. */
export const LATE_ENDINGS_MAX = 10_000

/** The longest call, with all waits for its caller, begun by a node that learned of the session's end `staleMs` late. */
export const endsAfter = (limits: UpstreamBounds, progressMsMax: number, staleMs: number): Duration.Duration => {
  const timeoutMs = Math.max(TOOL_TIMEOUT_MS_MAX, limits.timeoutMs)
  return Duration.millis(longestMsOf(timeoutMs, limits, progressMsMax) + WAIT_MS_MAX + staleMs)
}

/** Nothing waits for the server, which may be away. */
export const makeLateEndings = Effect.fnUntraced(function* (staleMs: number) {
  const servers = yield* ProviderServers
  const delay = endsAfter(yield* UpstreamLimits, yield* ProgressMsMax, staleMs)
  const scope = yield* Effect.scope
  let pending = 0

  return ({ server, upstream }: Pick<LiveSession, "server" | "upstream">): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (server === undefined || upstream === undefined || pending >= LATE_ENDINGS_MAX) return Effect.void
      pending++
      return Effect.sleep(delay).pipe(
        Effect.andThen(servers.end(server, upstream)),
        Effect.ensuring(Effect.sync(() => pending--)),
        Effect.forkIn(scope),
        Effect.asVoid
      )
    })
})
