/**
 * Types of a call that the steps share: the request, the quote, and the outcome.
 */
import { Cause, type DateTime, Effect, Schedule, Schema } from "effect"
import type { Level } from "../accounts/Levels.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { Receipt, SignerUnavailable } from "../receipts/Receipts.ts"
import { type ConsumerId, ReceiptId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { McpExchange, ToolProgress, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"
import type { CallIdempotency, KeptResult, Opened } from "./CallStore.ts"
import type { Agreement } from "./CallTerms.ts"
import type { CallProgress } from "./CallsInFlight.ts"
import type { ToolReference } from "./ToolDirectory.ts"

// How a call ends whose settlement fails or comes too late, or that ended before the provider responded.

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

export interface CallerWait {
  readonly onMessage: McpExchange["onMessage"]
  /** The time of the caller, as far as the call's deadline was moved by it. */
  readonly extraMs: () => number
  /** The answer that ended the call, without the time of the caller. */
  readonly end: (answer: UpstreamResponse) => UpstreamResponse
}

/** A call of a tool, as its caller wants it: what to call, and what it may cost at most. */
export interface CallRequest extends Agreement {
  readonly consumerId: ConsumerId
  readonly tool: ToolReference
  readonly arguments: Readonly<Record<string, unknown>>
  readonly idempotency: CallIdempotency | undefined
  /** Those of the caller's key or run, from the top. Default: none, so that only the account limits the call. */
  readonly levels?: ReadonlyArray<Level> | undefined
  /** As its caller knows it: stored with the call. */
  readonly requestId?: string | undefined
  /** Called when the call has its id. The call may still end without a receipt. */
  readonly onReceiptId?: (invocationId: ReceiptId) => void
  /** Called when the hold is durable, before the provider is called. */
  readonly onHeld?: () => void
  /**
   * For a caller that runs the call in a separate fiber. Before it interrupts that fiber, it must call the function passed
   * here, which returns whether the call continues without the caller.
   */
  readonly registerDisconnect?: ((disconnect: () => boolean) => void) | undefined
  /** Called with the tool's progress reports. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /** Undefined for callers that do not speak MCP. */
  readonly exchange?: McpExchange | undefined
  /** Follows the messages of a provider that may ask the caller for input before its response. */
  readonly follow?:
    | ((call: {
        readonly invocationId: ReceiptId
        readonly timeoutMs: number
        readonly progress: CallProgress
      }) => CallerWait)
    | undefined
  /**
   * Takes the call over if its provider starts a task. Undefined, here or as the result: the call ends as an error. Only for
   * a caller that asks for the task's result.
   */
  readonly takeTask?: HandOver<McpCallOutcome> | undefined
  /**
   * Called when the call waits for its caller's input, or for another call, or when its provider reports progress, with the most
   * that it can still take.
   */
  readonly onWait?: ((leftMs: number) => void) | undefined
}

/** What a call would cost, computed without calling or reserving anything. */
export interface CallQuote {
  readonly entry: CatalogEntry
  readonly cost: Microcents
  /** The amount that would be reserved while the call is in flight. */
  readonly hold: Microcents
  /** Before this call. */
  readonly freeCallsLeft: number | undefined
  readonly availableMicrocents: bigint
}

/** A call that ended and is settled: its receipt, and what its caller has left. */
export interface CallReport {
  readonly entry: CatalogEntry
  readonly receipt: Receipt
  readonly answer: UpstreamResponse
  readonly availableMicrocents: bigint
  readonly freeCallsLeft: number | undefined
}

/** A call whose hold is durable. */
export interface HeldCall {
  readonly request: CallRequest
  readonly entry: CatalogEntry
  readonly invocationId: ReceiptId
  readonly openedAt: DateTime.Utc
  readonly feeBasisPoints: number
  /** What the call may cost; more than what is held where it is inside the free tier. */
  readonly holdAmount: Microcents
  readonly opened: Extract<Opened, { readonly _tag: "Opened" }>
  readonly progress: CallProgress
  readonly holdMs: number
  readonly render: (report: CallReport) => KeptResult
  /** For a settlement that several nodes may attempt: the receipt is the same each time. Default: now. */
  readonly endedAt?: DateTime.Utc | undefined
}

/** How a call ends otherwise than by the settlement of this response; undefined settles it. */
export type HandOver<Ending> = (
  held: HeldCall,
  answer: UpstreamResponse
) => Effect.Effect<Ending, Unsettled> | undefined

/** How a call ended: settled now with its receipt, or replayed for a repeated idempotency key. */
export type CallOutcome =
  | { readonly _tag: "Settled"; readonly report: CallReport; readonly answer: KeptResult }
  | { readonly _tag: "Replayed"; readonly answer: KeptResult }

/** The caller is asked for input: it repeats the call with its answers and the `requestState` of this result. */
export interface InputRequired {
  readonly _tag: "InputRequired"
  /** The result's JSON text: the provider's own, or the request to add funds. */
  readonly resultText: string
  /** Of the call that stays open with its hold; undefined where no call was opened. */
  readonly receiptId: ReceiptId | undefined
}

/** The provider started a task: the call stays open with its hold, and is settled when the task ends. */
export interface TaskStarted {
  readonly _tag: "TaskStarted"
  /** The result's JSON text, with the id that the caller asks by. */
  readonly resultText: string
  readonly receiptId: ReceiptId
}

/** A call from a door that speaks MCP. */
export interface McpCallRequest extends CallRequest {
  readonly exchange: McpExchange
  /** Where the caller's user can add funds; undefined: for lack of funds the call is rejected. */
  readonly addFundsUrl?: string | undefined
}

/** How a call of an MCP client ended. It may also be suspended until the caller answers, or until its task ends. */
export type McpCallOutcome = CallOutcome | InputRequired | TaskStarted
