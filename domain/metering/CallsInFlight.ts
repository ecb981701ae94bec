/**
 * The calls that this node has in flight. Each runs in a fiber of the service and not of its caller: a caller that goes
 * away stops waiting, and a call that was forwarded runs to its end and is settled by its outcome. Counted per account, so
 * that hanging up does not free a place.
 */
import { Cause, Context, type Duration, Effect, Exit, Fiber, Schema } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { CallTally } from "./CallTally.ts"

/** What a call and its caller know of each other. */
export interface CallProgress {
  /** A caller that goes away cancels the call, forwarded or not. */
  readonly passesCancel: boolean
  /** The latest attempt that went out to the provider; 0 as long as nothing was sent. */
  forwarded: number
  /** The caller no longer waits. */
  left: boolean
  /** The caller's cancellation was passed to the provider. */
  canceled: boolean
}

export class TooManyCallsInFlight extends Schema.TaggedError<TooManyCallsInFlight>()("TooManyCallsInFlight", {
  max: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many calls in flight: this account has ${this.max}, the maximum. Calls that you no longer wait for count until they end. Nothing was charged. Retry after ${this.retryAfterSeconds} second.`
  }
}

/** Per account and node; 0: no limit. */
export const CallsInFlightMax = Context.Reference<number>("agent-tool-billing/domain/metering/CallsInFlightMax", {
  defaultValue: () => 64
})

const RETRY_AFTER_SECONDS = 1
/** Where no server has drained before the service is closed. */
const DRAIN_MAX: Duration.Input = "10 seconds"
const SETTLE_MAX: Duration.Input = "5 seconds"

/** Closed with its scope: calls may end, then they are cut off and settled. */
export const makeCallsInFlight = Effect.gen(function* () {
  const max = yield* CallsInFlightMax
  const tally = yield* CallTally
  const counts = new Map<ConsumerId, number>()
  const running = new Set<Fiber.Fiber<unknown, unknown>>()

  const idle = Effect.suspend(() => Effect.asVoid(Fiber.awaitAll(running)))

  /** Cancels what is forwarded; each call is settled by what is known of it. */
  const cutOff = Effect.suspend(() => {
    for (const fiber of running) fiber.interruptUnsafe()
    return idle
  })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(Effect.timeoutOption(idle, DRAIN_MAX), Effect.timeoutOption(cutOff, SETTLE_MAX))
  )

  const release = (consumerId: ConsumerId): void => {
    const left = counts.get(consumerId)! - 1
    if (left === 0) counts.delete(consumerId)
    else counts.set(consumerId, left)
  }

  /** Before anything was sent, or where the tool passes cancellations, a caller that leaves takes the call with it. */
  const goesOn = (progress: CallProgress): boolean => {
    const again = progress.left
    progress.left = true
    if (progress.forwarded === 0) return false
    if (!again) tally.left()
    if (progress.passesCancel) progress.canceled = true
    return !progress.passesCancel
  }

  const leave = (fiber: Fiber.Fiber<unknown, unknown>, progress: CallProgress): Effect.Effect<void> => {
    if (goesOn(progress)) return Effect.void
    fiber.interruptUnsafe()
    return Effect.asVoid(Fiber.await(fiber))
  }

  const failedUnseen = (exit: Exit.Exit<unknown, unknown>, context: Context.Context<never>): void => {
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
        const count = counts.get(consumerId) ?? 0
        if (count >= max && max > 0) {
          return resume(Effect.fail(new TooManyCallsInFlight({ max, retryAfterSeconds: RETRY_AFTER_SECONDS })))
        }
        counts.set(consumerId, count + 1)
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
          if (progress.left) failedUnseen(exit, context)
          else resume(exit)
        })
        return Effect.suspend(() => leave(fiber, progress))
      })
    )

  /**
   * In the caller's own fiber, which costs a call no fiber of its own: the caller must not interrupt it, but ask `leave`, and
   * interrupt it only if that says no.
   */
  const runHere = <A, E>(
    consumerId: ConsumerId,
    progress: CallProgress,
    call: Effect.Effect<A, E>,
    attend: (leave: () => boolean) => void
  ): Effect.Effect<A, E | TooManyCallsInFlight> =>
    Effect.withFiber<A, E | TooManyCallsInFlight>((fiber) => {
      const count = counts.get(consumerId) ?? 0
      if (count >= max && max > 0) {
        return Effect.fail(new TooManyCallsInFlight({ max, retryAfterSeconds: RETRY_AFTER_SECONDS }))
      }
      counts.set(consumerId, count + 1)
      running.add(fiber)
      attend(() => goesOn(progress))
      return Effect.onExit(call, () => {
        running.delete(fiber)
        release(consumerId)
        return Effect.void
      })
    })

  return { run, runHere, idle, cutOff }
})
