/**
 * The calls in flight in this process. Each runs in a fiber of the service, not of its caller: a caller that disconnects stops
 * waiting, and a forwarded call runs to completion and is settled by its outcome. Counted per account, so that disconnecting
 * does not free a slot.
 */
import { Cause, Context, type Duration, Effect, Exit, Fiber, Layer, Schema } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { type Durations, Histogram } from "../shared/Telemetry.ts"
import { inSeconds } from "../shared/Time.ts"
import type { CallStatus } from "../upstream/ToolUpstream.ts"

/** Forwarded to the tool by the service, or reported by its provider. */
export type CallOrigin = "proxy" | "meter"

/** Steps of a proxied call: until the hold is durable, until the provider has responded, until the settlement is durable. */
export type CallStep = "hold" | "forward" | "settle"

/**
 * Counts of a service's calls by outcome since it started, and the durations of their steps. Plain counters, because they
 * are on the hot path. A core has its own, which its metrics read.
 */
export class CallTally extends Context.Service<
  CallTally,
  {
    count(origin: CallOrigin, status: CallStatus): void
    took(step: CallStep, ms: number): void
    readonly total: number
    /** Waits for the next call. For one waiter at a time. */
    readonly next: Effect.Effect<void>
    /** The caller of a forwarded call disconnected. */
    left(): void
    readonly leftCount: number
    read(): ReadonlyArray<{ readonly origin: CallOrigin; readonly status: CallStatus; readonly calls: number }>
    steps(): ReadonlyArray<{ readonly step: CallStep; readonly durations: Durations }>
  }
>()("agent-tool-billing/domain/metering/CallTally") {
  static readonly layer = Layer.sync(CallTally, () => makeCallTally())
}

const ORIGINS: ReadonlyArray<CallOrigin> = ["proxy", "meter"]
const STATUSES: ReadonlyArray<CallStatus> = ["success", "error", "timeout", "rate_limited"]

const STEPS: ReadonlyArray<CallStep> = ["hold", "forward", "settle"]

const noCalls = (): Record<CallStatus, number> => ({ success: 0, error: 0, timeout: 0, rate_limited: 0 })

export const makeCallTally = (): CallTally["Service"] => {
  const counts = { proxy: noCalls(), meter: noCalls() }
  const durations = { hold: new Histogram(), forward: new Histogram(), settle: new Histogram() }
  let leftCount = 0
  let total = 0
  let wake: (() => void) | undefined
  const next = Effect.callback<void>((resume) => {
    wake = () => {
      wake = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => void (wake = undefined))
  })
  return {
    next,
    get total() {
      return total
    },
    left: () => {
      leftCount++
    },
    get leftCount() {
      return leftCount
    },
    count: (origin, status) => {
      counts[origin][status]++
      total++
      wake?.()
    },
    took: (step, ms) => durations[step].took(ms),
    steps: () => STEPS.map((step) => ({ step, durations: durations[step].read() })),
    read: () =>
      ORIGINS.flatMap((origin) => STATUSES.map((status) => ({ origin, status, calls: counts[origin][status] })))
  }
}

/** State shared by a call and its caller. */
export interface CallProgress {
  /** A caller that disconnects cancels the call, forwarded or not. */
  readonly passesCancel: boolean
  /** The latest attempt sent to the provider; 0 before the first. */
  forwarded: number
  /** The upstream has responded, or is not waited for: what it reports from now on is ignored. */
  ended: boolean
  /** The caller has disconnected. */
  left: boolean
  /** The caller's cancellation was passed to the provider. */
  canceled: boolean
  /** How long the tool may take, without the time of its caller. Progress extends it. */
  limitMs: number
  /** Changes the time that is left for the response; undefined before the call is forwarded, and after its response. */
  restart?: ((ms: number) => void) | undefined
}

/** An account runs a limited number of calls at once. Nothing was charged. */
export class TooManyCallsInFlight extends Schema.TaggedError<TooManyCallsInFlight>()("TooManyCallsInFlight", {
  max: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many calls in flight: this account has ${this.max}, the maximum. Calls that you no longer wait for count until they end. Nothing was charged. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

const RETRY_AFTER_SECONDS = 1
/** For a service that is closed without a server that drained before. */
const DRAIN_MAX: Duration.Input = "10 seconds"
const SETTLE_MAX: Duration.Input = "5 seconds"

/** At most `max` of an account; 0: no limit. When its scope closes, they may finish; then they are canceled and settled. */
export const makeCallsInFlight = Effect.fnUntraced(function* (max: number) {
  const tally = yield* CallTally
  const counts = new Map<ConsumerId, number>()
  const running = new Set<Fiber.Fiber<unknown, unknown>>()

  const idle = Effect.suspend(() => Effect.asVoid(Fiber.awaitAll(running)))

  /** Cancels forwarded calls; each is settled by what is known of it. */
  const cancelAll = Effect.suspend(() => {
    for (const fiber of running) fiber.interruptUnsafe()
    return idle
  })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(Effect.timeoutOption(idle, DRAIN_MAX), Effect.timeoutOption(cancelAll, SETTLE_MAX))
  )

  /** Counts the call, or returns why it is rejected. */
  const admit = (consumerId: ConsumerId): TooManyCallsInFlight | undefined => {
    const count = counts.get(consumerId) ?? 0
    if (count >= max && max > 0) return new TooManyCallsInFlight({ max, retryAfterSeconds: RETRY_AFTER_SECONDS })
    counts.set(consumerId, count + 1)
    return undefined
  }

  const release = (consumerId: ConsumerId): void => {
    const left = counts.get(consumerId)! - 1
    if (left === 0) counts.delete(consumerId)
    else counts.set(consumerId, left)
  }

  /** False before anything was sent, and where the tool passes cancellations: the call then ends with its caller. */
  const continues = (progress: CallProgress): boolean => {
    const again = progress.left
    progress.left = true
    if (progress.forwarded === 0) return false
    if (!again) tally.left()
    if (progress.passesCancel) progress.canceled = true
    return !progress.passesCancel
  }

  const leave = (fiber: Fiber.Fiber<unknown, unknown>, progress: CallProgress): Effect.Effect<void> => {
    if (continues(progress)) return Effect.void
    fiber.interruptUnsafe()
    return Effect.asVoid(Fiber.await(fiber))
  }

  const logUnseenFailure = (exit: Exit.Exit<unknown, unknown>, context: Context.Context<never>): void => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
    Effect.runForkWith(context)(Effect.logWarning("A call whose caller had left failed", exit.cause))
  }

  const run = <A, E>(
    consumerId: ConsumerId,
    progress: CallProgress,
    call: Effect.Effect<A, E>
  ): Effect.Effect<A, E | TooManyCallsInFlight> =>
    Effect.withFiber(({ context }) =>
      Effect.callback<A, E | TooManyCallsInFlight>((resume) => {
        const rejected = admit(consumerId)
        if (rejected !== undefined) return resume(Effect.fail(rejected))
        const fiber = Effect.runForkWith(context)(call)
        const ended = fiber.pollUnsafe()
        if (ended !== undefined) {
          release(consumerId)
          return resume(ended)
        }
        running.add(fiber)
        fiber.addObserver((exit) => {
          running.delete(fiber)
          release(consumerId)
          if (progress.left) logUnseenFailure(exit, context)
          else resume(exit)
        })
        return Effect.suspend(() => leave(fiber, progress))
      })
    )

  /**
   * Runs in the caller's own fiber, which saves a fiber per call. The caller must call `disconnect` first, and interrupt the
   * fiber only if it returns false.
   */
  const runInline = <A, E>(
    consumerId: ConsumerId,
    progress: CallProgress,
    call: Effect.Effect<A, E>,
    registerDisconnect: (disconnect: () => boolean) => void
  ): Effect.Effect<A, E | TooManyCallsInFlight> =>
    Effect.withFiber<A, E | TooManyCallsInFlight>((fiber) => {
      const rejected = admit(consumerId)
      if (rejected !== undefined) return Effect.fail(rejected)
      running.add(fiber)
      registerDisconnect(() => continues(progress))
      return Effect.onExit(call, () => {
        running.delete(fiber)
        release(consumerId)
        return Effect.void
      })
    })

  return { run, runInline, idle, cancelAll }
})
