/**
 * One run of a call on this node: hold, forward, and its ending. A call that is opened and settled at once has one run; a
 * call whose provider asks for input has one per leg.
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { BookGuard } from "../ledger/Ledger.ts"
import { type Deadline, makeDeadlines } from "../shared/Deadlines.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { step } from "../shared/Telemetry.ts"
import { monotonicMs } from "../shared/Time.ts"
import {
  ToolUpstream,
  type UpstreamCall,
  type UpstreamProblem,
  type UpstreamResponse
} from "../upstream/ToolUpstream.ts"
import { type CallOutcome, type HandOver, type HeldCall, noResponse, type Unsettled, withoutAnswer } from "./Call.ts"
import { type CallRejected, rejectionOf } from "./CallRejections.ts"
import { CallStore, type Opened, replayed } from "./CallStore.ts"
import { longestMsOf, type UpstreamBounds, UpstreamLimits, upstreamMsOf } from "./CallTerms.ts"
import { type CallProgress, CallTally, makeCallsInFlight } from "./CallsInFlight.ts"
import { makeSettle } from "./Settlement.ts"

// Bounds every forwarded call, whatever its upstream does: a call without a response in time ends as a time-out.
// What the upstream does afterwards is ignored.

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
        DateTime.add(now, { milliseconds: longestMsOf(timeoutMs, limits) + callerMs })
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
    startedMs: number,
    context: Context.Context<never>
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
    return (): void => {
      if (progress.ended) return
      neededMs = Math.max(neededMs, Math.min(spentMs() + timeoutMs, progressMsMax) + GRACE_MS)
      apply()
      if (neededMs <= progress.limitMs || isMoved !== undefined) return
      isMoved = false
      Effect.runForkWith(context)(
        Effect.map(moveDeadline(consumerId, invocationId, timeoutMs, 0), (moved) => {
          isMoved = moved
          if (moved && !progress.ended) apply()
        })
      )
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
        const onReported = reporting(call, progress, onWait, startedMs, context)
        const fiber = Effect.runForkWith(context)(upstream.call({ ...call, onReported }))
        const ended = fiber.pollUnsafe()
        if (ended !== undefined) {
          progress.ended = true
          return resume(ended)
        }
        let end = resume
        const deadline = deadlines.start(progress.limitMs + (call.extraMs?.() ?? 0), () => {
          progress.ended = true
          fiber.interruptUnsafe()
          end(Effect.succeed(noResponse("timeout", TIMED_OUT, progress.forwarded, monotonicMs(clock) - startedMs)))
        })
        progress.restart = restarting(deadline)
        fiber.addObserver((exit) => {
          if (!deadline.end()) return
          progress.ended = true
          progress.restart = undefined
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

/** Outside of the call's own scope, all of which a closure inside would keep alive. */
const restarting = (deadline: Deadline) => (ms: number) => deadline.restart(ms)

const TIMED_OUT: UpstreamProblem = { kind: "timeout", message: "The provider did not respond in time" }

export type RunTotals = Pick<UpstreamResponse, "attempts" | "latencyMs" | "requestBytes" | "responseBytes">

/** `Ending`: how a run can end besides settlement. `Failure`: why `opening` fails besides the store. */
export interface CallToRun<Ending, Failure> extends Omit<HeldCall, "opened" | "progress" | "holdMs" | "endedAt"> {
  readonly timeoutMs: number
  /** Makes the hold durable, or takes over the one that is. */
  readonly opening: Effect.Effect<Opened, Failure | StoreUnavailable>
  /** Its provider was told less than its caller can do, because too many of the caller's calls wait: an error is not its own. */
  readonly restricted?: boolean | undefined
  readonly before?: RunTotals | undefined
  /** The ending of a response instead of its settlement; undefined settles it. */
  readonly handOver?: HandOver<Ending> | undefined
}

const makeCallRuns = Effect.gen(function* () {
  const forwardInTime = yield* makeForwarding
  const limits = yield* UpstreamLimits
  const tally = yield* CallTally
  const book = yield* BookGuard
  const settle = yield* makeSettle
  const { cancelAll, idle, run: runInFlight, runInline } = yield* makeCallsInFlight(limits.inFlightMax)
  const clock = yield* Clock.Clock

  const run = <Ending = never, Failure = never>(
    call: CallToRun<Ending, Failure>
  ): Effect.Effect<CallOutcome | Ending, CallRejected | Failure | Unsettled> => {
    const { before, entry, holdAmount, invocationId, handOver, request, timeoutMs } = call
    const { provider, tool } = entry
    const opensMs = monotonicMs(clock)
    const progress: CallProgress = {
      passesCancel: entry.cancellation !== "outcome",
      forwarded: 0,
      ended: false,
      left: false,
      canceled: false,
      limitMs: forwardedMsOf(timeoutMs, limits),
      restart: undefined
    }
    const { exchange } = request
    const wait = request.follow?.({ invocationId, timeoutMs, progress })
    // A caller that gets no progress would wait in silence.
    const isFollowed = request.onProgress !== undefined || exchange?.progressToken !== undefined
    const forward = Effect.suspend(() =>
      forwardInTime(
        {
          invocationId,
          consumerId: request.consumerId,
          providerId: provider.id,
          providerName: provider.name,
          endpointUrl: provider.endpointUrl,
          toolId: tool.id,
          toolName: tool.toolName,
          arguments: request.arguments,
          timeoutMs,
          retriesMax: limits.retriesMax,
          idempotent: tool.idempotent,
          maxCost: entry.maximum > entry.price ? holdAmount : undefined,
          onForwarded: (attempt) => {
            if (!progress.ended) progress.forwarded = attempt
          },
          onProgress: untilEnded(progress, request.onProgress),
          progressMsMax: isFollowed ? limits.progressMsMax - (before?.latencyMs ?? 0) : upstreamMsOf(timeoutMs, limits),
          exchange: wait === undefined ? exchange : { ...exchange!, onMessage: wait.onMessage },
          extraMs: wait?.extraMs
        },
        progress,
        request.onWait
      )
    )
    const guarded = (held: Microcents) =>
      held === zero || book.isConfirmed() ? forward : Effect.andThen(book.confirm, forward)

    const held = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        step(call.opening, "Metering.hold"),
        (opened): Effect.Effect<CallOutcome | Ending, CallRejected | Unsettled> => {
          if (opened._tag !== "Opened") return Effect.flatMap(rejectionOf(opened, holdAmount, request.levels), replayed)
          const heldMs = monotonicMs(clock)
          const holdMs = heldMs - opensMs
          tally.took("hold", holdMs)
          request.onHeld?.()
          const held: HeldCall = { ...call, opened, progress, holdMs: Math.round(holdMs) }
          return Effect.flatMap(Effect.exit(restore(step(guarded(opened.held), "Metering.forward"))), (exit) => {
            tally.took("forward", monotonicMs(clock) - heldMs)
            const whole = (last: UpstreamResponse): UpstreamResponse => {
              const waited = wait?.end(last) ?? last
              const leg =
                call.restricted && last.status === "error" ? { ...waited, endedBy: "caller" as const } : waited
              return before === undefined ? leg : plus(before, leg)
            }
            if (exit._tag === "Success") {
              const answer = whole(exit.value)
              const ended: Effect.Effect<CallOutcome | Ending, Unsettled> =
                handOver?.(held, answer) ?? settle(held, answer, true)
              return releasing(answer, ended)
            }
            // Canceled, or the adapter broke: that is what is settled.
            const none = withoutAnswer(exit.cause, progress, monotonicMs(clock) - heldMs)
            return Effect.andThen(settle(held, whole(none), false), Effect.failCause(exit.cause))
          })
        }
      )
    )
    const { consumerId, registerDisconnect } = request
    return registerDisconnect === undefined
      ? runInFlight(consumerId, progress, held)
      : runInline(consumerId, progress, held, registerDisconnect)
  }

  return { run, settle, idle, cancelAll }
})

/** The calls in flight on this node, whichever service opens them: a shutdown waits for all of them. */
export class CallRuns extends Context.Service<CallRuns, Effect.Success<typeof makeCallRuns>>()(
  "agent-tool-billing/domain/metering/CallRuns"
) {
  static readonly layer = Layer.effect(CallRuns, makeCallRuns)
}

const untilEnded = (progress: CallProgress, report: UpstreamCall["onProgress"]): UpstreamCall["onProgress"] =>
  report === undefined
    ? undefined
    : (reported) => {
        if (!progress.ended) report(reported)
      }

const plus = (before: RunTotals, answer: UpstreamResponse): UpstreamResponse => ({
  ...answer,
  attempts: before.attempts + answer.attempts,
  latencyMs: before.latencyMs + answer.latencyMs,
  requestBytes: before.requestBytes + answer.requestBytes,
  responseBytes: before.responseBytes + answer.responseBytes
})

/** A large response counts toward the memory limit of the service until its call is settled. */
const releasing = <A, E>({ release }: UpstreamResponse, settled: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  release === undefined ? settled : Effect.onExit(settled, () => Effect.sync(release))
