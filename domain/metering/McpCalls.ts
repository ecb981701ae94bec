/**
 * Calls from a door that speaks MCP. What they add to a call of the REST API: the provider may ask the caller for input, the
 * caller may be asked to add funds, and a repeated call waits for the response of the first one.
 */
import { DateTime, Effect } from "effect"
import { zero } from "../shared/Microcents.ts"
import type { McpCallOutcome, McpCallRequest, Unsettled } from "./Call.ts"
import { type CallRejected, InsufficientFunds, rejectionOf } from "./CallRejections.ts"
import type { CallRuns } from "./CallRun.ts"
import { CallStore } from "./CallStore.ts"
import { makeFundsRequests } from "./FundsRequests.ts"
import { makeJoinedCalls } from "./JoinedCalls.ts"
import { makeLegs } from "./Legs.ts"
import type { NewCalls, Render } from "./NewCalls.ts"
import { type FundsState, makeRequestStates, RequestStateRejected, requestStateText } from "./RequestStates.ts"
import { replayed } from "./RetainedResults.ts"
import { ToolDirectory } from "./ToolDirectory.ts"

/** Why a call of an MCP client was not made, or not continued after it was asked for input. */
export type McpCallRejected = CallRejected | RequestStateRejected

type Called = Effect.Effect<McpCallOutcome, McpCallRejected | Unsettled>

export const makeMcpCalls = Effect.fnUntraced(function* (runs: CallRuns, newCalls: NewCalls) {
  const directory = yield* ToolDirectory
  const calls = yield* CallStore
  const states = yield* makeRequestStates
  const legs = yield* makeLegs(runs)
  const funds = yield* makeFundsRequests
  const joining = yield* makeJoinedCalls

  const newCall = (request: McpCallRequest, render: Render, before: FundsState | undefined): Called =>
    Effect.catchIf(
      joining(request, newCalls.call(request, render, legs.endingOf(1))),
      (rejection) => rejection instanceof InsufficientFunds,
      (refusal) =>
        Effect.flatMap(directory.find(request.tool), ({ tool }) => funds.ask(request, tool.id, refusal, before))
    )

  /** With the state that the caller was given. */
  const repeated = Effect.fnUntraced(function* (
    request: McpCallRequest,
    render: Render
  ): Effect.fn.Return<McpCallOutcome, McpCallRejected | Unsettled> {
    const { consumerId, exchange } = request
    const entry = yield* directory.find(request.tool)
    const state = yield* states.open(exchange, consumerId, entry.tool.id, (yield* DateTime.now).epochMilliseconds)
    if (state === undefined) return yield* newCall(request, render, undefined)
    if (state._tag === "Funds")
      return yield* newCall(yield* funds.repeated(request, entry.tool.id, state), render, state)
    const { idempotency } = state
    const resumed = legs.resume(request, entry, state, render)
    if (idempotency === undefined) return yield* resumed
    // A leg sent again gets the response of its call, where the call has a key.
    const known = Effect.catchIf(
      resumed,
      (rejection) => rejection instanceof RequestStateRejected && rejection.reason === "used",
      (used) =>
        Effect.flatMap(calls.earlier(consumerId, idempotency), (earlier): Called =>
          earlier === undefined ? Effect.fail(used) : Effect.flatMap(rejectionOf(earlier, zero), replayed)
        )
    )
    return yield* joining({ ...request, idempotency }, known)
  })

  const callMcp = (request: McpCallRequest, render: Render): Called =>
    request.exchange.era === "modern" && requestStateText(request.exchange) !== undefined
      ? repeated(request, render)
      : newCall(request, render, undefined)

  return { callMcp }
})
