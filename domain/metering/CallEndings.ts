/**
 * How a call ends that did not end as it should: its settlement does not get through or comes too late, or it was ended
 * before the provider answered.
 */
import { Cause, Effect, Schedule, Schema } from "effect"
import { ReceiptId } from "../shared/Ids.ts"
import type { CallProgress } from "./CallsInFlight.ts"
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

/** Of a call that ended before the provider answered: nothing was delivered, and that is what is settled. */
export const withoutAnswer = (
  cause: Cause.Cause<unknown>,
  { canceled, forwarded, left }: CallProgress,
  latencyMs: number
): UpstreamAnswer => ({
  status: "error",
  result: undefined,
  problem: Cause.hasInterruptsOnly(cause)
    ? { kind: "canceled", message: canceled ? CANCELED : left ? LEFT_EARLY : STOPPED }
    : { kind: "connection", message: "The call could not be made." },
  attempts: forwarded,
  latencyMs: forwarded > 0 ? Math.round(latencyMs) : 0,
  requestBytes: 0,
  responseBytes: 0
})

const CANCELED = "The call was canceled by its caller, and the cancellation was passed to the provider."
const LEFT_EARLY = "The caller disconnected before the call was forwarded."
const STOPPED = "The service was stopped before the provider answered."
