/**
 * How a call ends that did not end as it should: its settlement does not get through, or its caller is gone.
 */
import { Cause, Effect, Schedule } from "effect"
import type { UpstreamAnswer } from "./ToolUpstream.ts"

/**
 * The call was made, so its settlement is tried again until it is the sweeper's: after 50 ms, then twice as long each
 * time, about 25 s in all. Wrapped around failures only: a schedule around every settlement would cost every call.
 */
export const settleAgain = <A>(closing: Effect.Effect<A>, cause: Cause.Cause<unknown>): Effect.Effect<A> =>
  Effect.andThen(
    Effect.logWarning("A settlement did not get through; it is tried again", cause),
    closing.pipe(
      Effect.delay("50 millis"),
      Effect.sandbox,
      Effect.retry({ schedule: Schedule.exponential("100 millis"), times: 7 }),
      Effect.catch(Effect.failCause)
    )
  )

/** Nothing was delivered, and that is what is settled. */
export const abandoned = (cause: Cause.Cause<unknown>, attempts: number): UpstreamAnswer => ({
  status: "error",
  result: undefined,
  problem: {
    kind: "connection",
    message: Cause.hasInterruptsOnly(cause)
      ? "The caller went away before the answer came."
      : "The call could not be made."
  },
  attempts,
  latencyMs: 0,
  requestBytes: 0,
  responseBytes: 0
})
