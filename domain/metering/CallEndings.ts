/**
 * How a call ends whose settlement fails or comes too late, or that ended before the provider responded.
 */
import { Cause, Effect, Schedule, Schema } from "effect"
import type { SignerUnavailable } from "../receipts/ReceiptSigner.ts"
import { ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { CallProgress } from "./CallsInFlight.ts"
import type { UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"

/**
 * The sweeper closed the call before its settlement, or a failover of the database lost the call: the provider's response is
 * neither billed nor delivered.
 */
export class CallOverdue extends Schema.TaggedError<CallOverdue>()("CallOverdue", { receiptId: ReceiptId }) {
  override get message() {
    return `The call ${this.receiptId} passed its deadline, or the database lost it in a failover. It has been ended and nothing is charged. The provider may have done its work.`
  }
}

/**
 * The call could not be settled in time, so its response is not delivered. The hold stays until the call is settled: by the
 * sweeper after the deadline, which charges nothing.
 */
export type Unsettled = CallOverdue | SignerUnavailable | StoreUnavailable

const RETRIES_MAX = 120

/**
 * The call was made, so its settlement is retried: once after 50 ms, then every second while the store or the signer is
 * unavailable, for two minutes and the time that the attempts take. Applied to failures only: a schedule around every
 * settlement would slow down every call.
 */
export const retrySettlement = <A, E>(closing: Effect.Effect<A, E>, cause: Cause.Cause<unknown>): Effect.Effect<A, E> =>
  Effect.andThen(
    Effect.logWarning("A settlement did not get through; it is tried again", cause),
    closing.pipe(Effect.delay("50 millis"), Effect.retry({ schedule: Schedule.spaced("1 second"), times: RETRIES_MAX }))
  )

/** For a call that ended before the provider responded: it is settled as not delivered. */
export const withoutAnswer = (
  cause: Cause.Cause<unknown>,
  { canceled, forwarded, left }: CallProgress,
  latencyMs: number
): UpstreamResponse => ({
  ...noResponse(
    "error",
    Cause.hasInterruptsOnly(cause)
      ? { kind: "canceled", message: canceled ? CANCELED : left ? LEFT_EARLY : STOPPED }
      : { kind: "connection", message: "The call could not be made." },
    forwarded,
    forwarded > 0 ? latencyMs : 0
  ),
  endedBy: Cause.hasInterruptsOnly(cause) && (canceled || left) ? "caller" : "service"
})

export const noResponse = (
  status: UpstreamResponse["status"],
  problem: UpstreamProblem,
  attempts: number,
  latencyMs: number
): UpstreamResponse => ({
  status,
  result: undefined,
  problem,
  attempts,
  latencyMs: Math.round(latencyMs),
  requestBytes: 0,
  responseBytes: 0
})

/** A provider that gives up sooner has not waited for its caller's answer: its error is its own. */
export const ANSWER_MS_MIN = 10_000

const CANCELED = "The call was canceled by its caller, and the cancellation was passed to the provider."
const LEFT_EARLY = "The caller disconnected before the call was forwarded."
const STOPPED = "The service was stopped before the provider answered."
