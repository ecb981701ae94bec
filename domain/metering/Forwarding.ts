/**
 * Bounds every forwarded call, whatever its upstream does: a call without a response in time ends as a time-out.
 * What the upstream does afterwards is ignored.
 */
import { Clock, Effect } from "effect"
import { makeDeadlines } from "../shared/Deadlines.ts"
import { monotonicMs } from "../shared/Monotonic.ts"
import { noResponse } from "./CallEndings.ts"
import { upstreamMsOf } from "./CallTerms.ts"
import type { CallProgress } from "./CallsInFlight.ts"
import { ToolUpstream, type UpstreamCall, type UpstreamProblem, type UpstreamResponse } from "./ToolUpstream.ts"
import { type UpstreamBounds, UpstreamLimits } from "./UpstreamLimits.ts"

/** An upstream that keeps its own limits ends before. */
const GRACE_MS = 2_000

/** From the first request until a call ends as a time-out, without the time of its caller. */
export const forwardedMsOf = (timeoutMs: number, limits: UpstreamBounds): number =>
  upstreamMsOf(timeoutMs, limits) + GRACE_MS

export const makeForwarding = Effect.gen(function* () {
  const upstream = yield* ToolUpstream
  const limits = yield* UpstreamLimits
  const clock = yield* Clock.Clock
  const deadlines = yield* makeDeadlines

  return (call: UpstreamCall, progress: CallProgress): Effect.Effect<UpstreamResponse> =>
    Effect.withFiber(({ context }) =>
      Effect.callback<UpstreamResponse>((resume) => {
        const startedMs = monotonicMs(clock)
        const fiber = Effect.runForkWith(context)(upstream.call(call))
        const ended = fiber.pollUnsafe()
        if (ended !== undefined) {
          progress.ended = true
          return resume(ended)
        }
        let end = resume
        progress.restart = call.extraMs === undefined ? undefined : (ms) => deadline.restart(ms)
        const deadline = deadlines.start(forwardedMsOf(call.timeoutMs, limits) + (call.extraMs?.() ?? 0), () => {
          progress.ended = true
          fiber.interruptUnsafe()
          end(Effect.succeed(noResponse("timeout", TIMED_OUT, progress.forwarded, monotonicMs(clock) - startedMs)))
        })
        fiber.addObserver((exit) => {
          if (!deadline.end()) return
          progress.ended = true
          end(exit)
        })
        // Canceled: the deadline also applies to the interruption.
        return Effect.callback<void>((resumeCanceled) => {
          if (progress.ended) return resumeCanceled(Effect.void)
          end = () => resumeCanceled(Effect.void)
          fiber.interruptUnsafe()
        })
      })
    )
})

const TIMED_OUT: UpstreamProblem = { kind: "timeout", message: "The provider did not respond in time" }
