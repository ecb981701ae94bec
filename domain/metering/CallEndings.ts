/**
 * How a call ends that did not end as it should: its settlement does not get through, or comes too late, or its caller is
 * gone.
 */
import { Cause, Effect, Schedule, Schema } from "effect"
import { ReceiptId } from "../shared/Ids.ts"
import type { UpstreamAnswer } from "./ToolUpstream.ts"

/** The sweeper came before the settlement: what the provider answered is neither billed nor delivered. */
export class CallOverdue extends Schema.TaggedError<CallOverdue>()("CallOverdue", { receiptId: ReceiptId }) {
  override get message() {
    return `The call could not be settled by its deadline and has been ended: nothing is charged, and receipt ${this.receiptId} says so. The provider may have done its work.`
  }
}

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
