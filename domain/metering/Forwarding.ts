/**
 * Bounds every forwarded call, whatever its upstream does: a call without a response in time ends as a time-out.
 */
import { Clock, Effect, Fiber } from "effect"
import { makeDeadlines } from "../shared/Deadlines.ts"
import { monotonicMs } from "../shared/Monotonic.ts"
import { upstreamMsOf } from "./CallTerms.ts"
import type { CallProgress } from "./CallsInFlight.ts"
import { ToolUpstream, type UpstreamCall, type UpstreamResponse } from "./ToolUpstream.ts"
import { UpstreamLimits } from "./UpstreamLimits.ts"

/** An upstream that keeps its own limits ends before. */
const GRACE_MS = 2_000

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
        if (ended !== undefined) return resume(ended)
        const deadline = deadlines.start(upstreamMsOf(call.timeoutMs, limits) + GRACE_MS, () => {
          fiber.interruptUnsafe()
          resume(Effect.succeed(timedOut(progress, monotonicMs(clock) - startedMs)))
        })
        fiber.addObserver((exit) => {
          if (deadline.end()) resume(exit)
        })
        return Effect.suspend(() => {
          deadline.end()
          return Fiber.interrupt(fiber)
        })
      })
    )
})

const timedOut = ({ forwarded }: CallProgress, latencyMs: number): UpstreamResponse => ({
  status: "timeout",
  result: undefined,
  problem: { kind: "timeout", message: "The provider did not respond in time" },
  attempts: forwarded,
  latencyMs: Math.round(latencyMs),
  requestBytes: 0,
  responseBytes: 0
})
