/**
 * The legs of a call whose provider asks for input: between two of them the call stays open with its hold, and belongs to
 * no node. Each leg is resumed once, on the terms of the first one; the last one settles the call. A call that is not
 * resumed is voided by the sweeper.
 */
import { DateTime, Effect } from "effect"
import { type CatalogEntry, entryOn } from "../catalog/CatalogStore.ts"
import { termsOf } from "../catalog/Terms.ts"
import { objectWith } from "../shared/JsonText.ts"
import type { PendingResult, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"
import {
  CallOverdue,
  type HeldCall,
  type McpCallOutcome,
  type McpCallRequest,
  type HandOver,
  type Unsettled
} from "../metering/Call.ts"
import { CallRuns } from "../metering/CallRun.ts"
import { CallStore, LEGS_MAX, SUSPENDED_CALLS_MAX, SUSPENDED_MS_MAX } from "../metering/CallStore.ts"
import { deadlineMsOf, SETTLE_GRACE, UpstreamLimits } from "../metering/CallTerms.ts"
import type { Render } from "../metering/NewCalls.ts"
import { type CallState, makeRequestStates, PROVIDER_STATE_CHARS_MAX, RequestStateRejected } from "./RequestStates.ts"

type Questions = Extract<PendingResult, { readonly kind: "input_required" }>

export const makeLegs = Effect.gen(function* () {
  const { run, settle } = yield* CallRuns
  const calls = yield* CallStore
  const states = yield* makeRequestStates
  const limits = yield* UpstreamLimits

  const stateOf = (held: HeldCall, answer: UpstreamResponse, { requestState }: Questions, leg: number): CallState => {
    const { entry, feeBasisPoints, holdAmount, invocationId, openedAt, request } = held
    return {
      _tag: "Call",
      argumentsHash: states.argumentsHashOf(request.exchange!),
      expiresMs: openedAt.epochMilliseconds + SUSPENDED_MS_MAX,
      invocationId,
      leg,
      openedMs: openedAt.epochMilliseconds,
      feeBasisPoints,
      priceVersion: entry.priceVersion,
      terms: termsOf(entry),
      holdAmount,
      ...(request.idempotency === undefined ? {} : { idempotency: request.idempotency }),
      attempts: answer.attempts,
      latencyMs: answer.latencyMs,
      requestBytes: answer.requestBytes,
      responseBytes: answer.responseBytes,
      ...(requestState === undefined ? {} : { requestState })
    }
  }

  const suspend = Effect.fnUntraced(function* (
    held: HeldCall,
    answer: UpstreamResponse,
    questions: Questions,
    leg: number
  ): Effect.fn.Return<McpCallOutcome, Unsettled> {
    const { entry, invocationId, openedAt, progress, request } = held
    const settled = (problem: UpstreamProblem, endedBy: "caller" | "service" = "service") =>
      settle(held, { ...answer, problem, endedBy }, true)
    const nowMs = (yield* DateTime.now).epochMilliseconds
    const expiresAt = DateTime.add(openedAt, { milliseconds: SUSPENDED_MS_MAX })
    if (progress.left) return yield* settled(LEFT, "caller")
    if (leg >= LEGS_MAX) return yield* settled(TOO_MANY_LEGS)
    if (nowMs >= expiresAt.epochMilliseconds) return yield* settled(TOO_LATE)
    if ((questions.requestState?.length ?? 0) > PROVIDER_STATE_CHARS_MAX) return yield* settled(STATE_TOO_LARGE)
    const suspended = yield* calls.suspend({
      consumerId: request.consumerId,
      invocationId,
      leg,
      deadlineAt: DateTime.addDuration(expiresAt, SETTLE_GRACE),
      max: SUSPENDED_CALLS_MAX
    })
    if (suspended === "too_many") return yield* settled(TOO_MANY_CALLS)
    if (suspended === "gone") return yield* new CallOverdue({ receiptId: invocationId })
    const state = states.seal(stateOf(held, answer, questions, leg), request.consumerId, entry.tool.id)
    return {
      _tag: "InputRequired",
      resultText: objectWith(questions.resultText, "requestState", JSON.stringify(state)),
      receiptId: invocationId
    }
  })

  /** The ending of the call's nth leg: settled, unless the provider asks for input or starts a task. */
  const endingOf =
    (leg: number): HandOver<McpCallOutcome> =>
    (held, answer) => {
      const { exchange, takeTask } = held.request
      if (answer.pending?.kind !== "input_required") return takeTask?.(held, answer)
      // A client in a session cannot be asked this way.
      return exchange?.inSession === false ? suspend(held, answer, answer.pending, leg) : undefined
    }

  const resume = Effect.fnUntraced(function* (
    request: McpCallRequest,
    entry: CatalogEntry,
    state: CallState,
    render: Render
  ) {
    const { consumerId, exchange } = request
    const { invocationId, leg } = state
    const timeoutMs = entry.tool.timeoutMs ?? limits.timeoutMs
    const deadlineAt = DateTime.add(yield* DateTime.now, { milliseconds: deadlineMsOf(timeoutMs, limits) })
    request.onReceiptId?.(invocationId)
    return yield* run<McpCallOutcome, RequestStateRejected>({
      request: {
        ...request,
        idempotency: state.idempotency,
        exchange: { ...exchange, otherParams: withState(exchange.otherParams!, state.requestState) }
      },
      entry: entryOn(entry, { ...state.terms, priceVersion: state.priceVersion }),
      invocationId,
      openedAt: DateTime.makeUnsafe(state.openedMs),
      feeBasisPoints: state.feeBasisPoints,
      holdAmount: state.holdAmount,
      timeoutMs,
      opening: Effect.flatMap(calls.resume({ consumerId, invocationId, leg, deadlineAt }), (resumed) =>
        resumed === undefined ? Effect.fail(new RequestStateRejected({ reason: "used" })) : Effect.succeed(resumed)
      ),
      before: state,
      handOver: endingOf(leg + 1),
      render
    })
  })

  return { endingOf, resume }
})

/** The params as the provider expects them: with its own state, or none. */
const withState = (otherParams: string, state: string | undefined): string =>
  objectWith(`{${otherParams}}`, "requestState", state === undefined ? undefined : JSON.stringify(state)).slice(1, -1)

const LEFT: UpstreamProblem = {
  kind: "canceled",
  message: "The tool asked for input after its caller had disconnected."
}
const TOO_MANY_LEGS: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool still asked for input in its ${LEGS_MAX}th request, the last of a call`
}
const TOO_LATE: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool still asked for input ${SUSPENDED_MS_MAX / 60_000} minutes after the call began`
}
const STATE_TOO_LARGE: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool's requestState is longer than ${PROVIDER_STATE_CHARS_MAX} characters`
}
const TOO_MANY_CALLS: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool asked for input, and ${SUSPENDED_CALLS_MAX} calls of this account, or half as many at its provider, already wait for it`
}
