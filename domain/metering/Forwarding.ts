/**
 * Bounds every forwarded call, whatever its upstream does: a call without a response in time ends as a time-out.
 * What the upstream does afterwards is ignored.
 */
import { Clock, DateTime, Effect } from "effect"
import { makeDeadlines } from "../shared/Deadlines.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { monotonicMs } from "../shared/Time.ts"
import {
  ToolUpstream,
  type UpstreamCall,
  type UpstreamProblem,
  type UpstreamResponse
} from "../upstream/ToolUpstream.ts"
import { noResponse } from "./Call.ts"
import { CallStore } from "./CallStore.ts"
import { longestMsOf, ProgressMsMax, type UpstreamBounds, UpstreamLimits, upstreamMsOf } from "./CallTerms.ts"
import type { CallProgress } from "./CallsInFlight.ts"

/** An upstream that keeps its own limits ends before. */
const GRACE_MS = 2_000

/** From the first request until a call ends as a time-out, without the time of its caller. */
export const forwardedMsOf = (timeoutMs: number, limits: UpstreamBounds): number =>
  upstreamMsOf(timeoutMs, limits) + GRACE_MS

/**
 * Moves the deadline of a call in the store, so that the sweeper does not end it: to the longest that the tool may take from
 * now, and the time of its caller. Returns whether the call may take longer.
 */
export const makeMoveDeadline = Effect.gen(function* () {
  const calls = yield* CallStore
  const limits = yield* UpstreamLimits
  const progressMsMax = yield* ProgressMsMax

  return (
    consumerId: ConsumerId,
    invocationId: ReceiptId,
    timeoutMs: number,
    callerMs: number
  ): Effect.Effect<boolean> =>
    Effect.flatMap(DateTime.now, (now) =>
      calls.extend(
        consumerId,
        invocationId,
        DateTime.add(now, { milliseconds: longestMsOf(timeoutMs, limits, progressMsMax) + callerMs })
      )
    ).pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("The deadline of a call that takes longer could not be moved", cause), false)
      )
    )
})

export const makeForwarding = Effect.gen(function* () {
  const upstream = yield* ToolUpstream
  const clock = yield* Clock.Clock
  const deadlines = yield* makeDeadlines
  const moveDeadline = yield* makeMoveDeadline

  /** Progress gives the tool its time-out again, from now on. Beyond the usual limit, the deadline in the store is moved first. */
  const reporting = (
    { consumerId, extraMs, invocationId, progressMsMax = 0, timeoutMs }: UpstreamCall,
    progress: CallProgress,
    onWait: ((leftMs: number) => void) | undefined,
    startedMs: number
  ) => {
    /** Negative while the caller is asked. */
    const spentMs = () => monotonicMs(clock) - startedMs - (extraMs?.() ?? 0)
    let neededMs = 0
    let isMoved: boolean | undefined
    const apply = () => {
      if (isMoved === true && neededMs > progress.limitMs) {
        progress.limitMs = neededMs
        progress.restart?.(neededMs - spentMs())
      }
      onWait?.(progress.limitMs - spentMs())
    }
    return (): Effect.Effect<void> | undefined => {
      neededMs = Math.max(neededMs, Math.min(spentMs() + timeoutMs, progressMsMax) + GRACE_MS)
      apply()
      if (neededMs <= progress.limitMs || isMoved !== undefined) return undefined
      isMoved = false
      return Effect.map(moveDeadline(consumerId, invocationId, timeoutMs, 0), (moved) => {
        isMoved = moved
        if (moved && !progress.ended) apply()
      })
    }
  }

  return (
    call: UpstreamCall,
    progress: CallProgress,
    onWait: ((leftMs: number) => void) | undefined
  ): Effect.Effect<UpstreamResponse> =>
    Effect.withFiber(({ context }) =>
      Effect.callback<UpstreamResponse>((resume) => {
        const startedMs = monotonicMs(clock)
        let reported: ReturnType<typeof reporting> | undefined
        const onReported = () => {
          if (progress.ended) return
          reported ??= reporting(call, progress, onWait, startedMs)
          const moving = reported()
          if (moving !== undefined) Effect.runForkWith(context)(moving)
        }
        const fiber = Effect.runForkWith(context)(upstream.call({ ...call, onReported }))
        const ended = fiber.pollUnsafe()
        if (ended !== undefined) {
          progress.ended = true
          return resume(ended)
        }
        let end = resume
        progress.restart = (ms) => deadline.restart(ms)
        const deadline = deadlines.start(progress.limitMs + (call.extraMs?.() ?? 0), () => {
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
