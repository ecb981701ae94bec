/**
 * Calls from a door that speaks MCP. They add to a call of the REST API: the provider may ask the caller for input, the
 * caller may be asked to add funds, and a repeated call waits for the response of the first one.
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import type {
  CallOutcome,
  CallReport,
  CallRequest,
  InputRequired,
  McpCallOutcome,
  McpCallRequest,
  Unsettled
} from "../metering/Call.ts"
import { CallInFlight, type CallRejected, InsufficientFunds, rejectionOf } from "../metering/CallRejections.ts"
import { CallRuns } from "../metering/CallRun.ts"
import {
  type CallIdempotency,
  CallStore,
  type KeptResult,
  replayed,
  type ResultNotRetained
} from "../metering/CallStore.ts"
import { makeNewCalls, type Render } from "../metering/NewCalls.ts"
import { ToolDirectory } from "../metering/ToolDirectory.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId, ToolId } from "../shared/Ids.ts"
import { isObject, memberOf, objectWith } from "../shared/JsonText.ts"
import { formatPrice, Microcents, zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { McpExchange } from "../upstream/ToolUpstream.ts"
import { makeCallerWaits } from "./CallerWaits.ts"
import { type FundsState, makeLegs, makeRequestStates, RequestStateRejected, requestStateText } from "./Legs.ts"

// A call whose idempotency key belongs to a call in flight, on any node, joins it: it waits for that call's response, and
// returns the same bytes.

/** Most calls without questions and progress take less time. */
export const JOINED_MS_MAX = 30_000
/** The limit per account and node: each of them reads the store while it waits. */
export const JOINED_CALLS_MAX = 16
const READ_EVERY_MS_MIN = 25
const READ_EVERY_MS_MAX = 1_000

export const makeJoinedCalls = Effect.gen(function* () {
  const calls = yield* CallStore
  const clock = yield* Clock.Clock
  const counts = new Map<ConsumerId, number>()

  /** `call` runs again if the call in flight ends without a response: then its key is unused. */
  const wait = Effect.fnUntraced(function* <A, E>(
    consumerId: ConsumerId,
    idempotency: CallIdempotency,
    inFlight: CallInFlight,
    call: Effect.Effect<A, E>
  ) {
    const untilMs = monotonicMs(clock) + JOINED_MS_MAX
    for (let delayMs = READ_EVERY_MS_MIN; monotonicMs(clock) + delayMs <= untilMs; delayMs = nextDelay(delayMs)) {
      yield* Effect.sleep(delayMs)
      const earlier = yield* calls.earlier(consumerId, idempotency)
      if (earlier === undefined) {
        const again = yield* Effect.result(call)
        if (again._tag === "Success") return again.success
        if (!(again.failure instanceof CallInFlight)) return yield* Effect.fail(again.failure)
      } else if (earlier._tag !== "InFlight") {
        return yield* Effect.flatMap(rejectionOf(earlier, zero), replayed)
      }
    }
    return yield* inFlight
  })

  /** `call`, or the call in flight that it joins. */
  return <A, E>(
    { consumerId, idempotency, onWait }: Pick<CallRequest, "consumerId" | "idempotency" | "onWait">,
    call: Effect.Effect<A, E | CallInFlight>
  ): Effect.Effect<A | CallOutcome, E | CallInFlight | JoinFailure> =>
    idempotency === undefined
      ? call
      : Effect.catchIf(
          call,
          (failure) => failure instanceof CallInFlight,
          (inFlight) => {
            const count = counts.get(consumerId) ?? 0
            if (count >= JOINED_CALLS_MAX) return Effect.fail(inFlight)
            counts.set(consumerId, count + 1)
            onWait?.(JOINED_MS_MAX)
            return Effect.ensuring(
              wait(consumerId, idempotency, inFlight, call),
              Effect.sync(() => {
                const left = counts.get(consumerId)! - 1
                if (left === 0) counts.delete(consumerId)
                else counts.set(consumerId, left)
              })
            )
          }
        )
})

type JoinFailure = Effect.Error<ReturnType<typeof rejectionOf>> | ResultNotRetained | Unsettled

const nextDelay = (delayMs: number): number => Math.min(delayMs * 2, READ_EVERY_MS_MAX)

// The user of a client that can open addresses is asked to add funds, instead of a refusal, and the client then repeats
// the call. Nothing is held meanwhile. The repeated call runs once, however often it is sent.

const ASKED_MAX = 5
const ASKED_MS_MAX = 10 * 60_000
/** The name in `inputRequests` and `inputResponses`. */
const QUESTION = "add_funds"

export const makeFundsRequests = Effect.gen(function* () {
  const states = yield* makeRequestStates
  const calls = yield* CallStore
  const entropy = yield* Entropy
  const { sha256Hex } = yield* Digest

  /** Fails with the refusal where the client cannot be asked, or was asked often enough. */
  const ask = Effect.fnUntraced(function* (
    request: McpCallRequest,
    toolId: ToolId,
    refusal: InsufficientFunds,
    before: FundsState | undefined
  ): Effect.fn.Return<InputRequired, InsufficientFunds> {
    const { addFundsUrl, consumerId, exchange } = request
    const asked = (before?.asked ?? 0) + 1
    if (addFundsUrl === undefined || asked > ASKED_MAX || !opensAddresses(exchange)) return yield* refusal
    const now = yield* DateTime.now
    const state: FundsState = {
      _tag: "Funds",
      argumentsHash: states.argumentsHashOf(exchange),
      expiresMs: before?.expiresMs ?? now.epochMilliseconds + ASKED_MS_MAX,
      nonce: before?.nonce ?? (yield* entropy.hex(16)),
      asked,
      cost: Microcents.make(refusal.costMicrocents)
    }
    const params = { mode: "url", url: addFundsUrl, message: messageOf(refusal) }
    return {
      _tag: "InputRequired",
      resultText: JSON.stringify({
        resultType: "input_required",
        inputRequests: { [QUESTION]: { method: "elicitation/create", params } },
        requestState: states.seal(state, consumerId, toolId)
      }),
      receiptId: undefined
    }
  })

  /** The call that the client repeats, as if it had not been asked. */
  const repeated = Effect.fnUntraced(function* (
    request: McpCallRequest,
    toolId: ToolId,
    { argumentsHash, cost, nonce }: FundsState
  ): Effect.fn.Return<McpCallRequest, InsufficientFunds | StoreUnavailable> {
    const others = `{${request.exchange.otherParams!}}`
    if (actionOf(others) !== "accept") {
      const { availableMicrocents } = yield* calls.callFunds(request.consumerId, toolId, yield* DateTime.now)
      return yield* new InsufficientFunds({
        costMicrocents: cost,
        balanceMicrocents: availableMicrocents,
        declined: true
      })
    }
    const left = objectWith(objectWith(others, "requestState", undefined), "inputResponses", undefined).slice(1, -1)
    const keyHash = sha256Hex(`${request.consumerId}\nadd funds ${nonce}`)
    return {
      ...request,
      maxCost: request.maxCost === undefined || cost < request.maxCost ? cost : request.maxCost,
      idempotency: request.idempotency ?? { keyHash, requestHash: argumentsHash },
      exchange: { ...request.exchange, otherParams: left === "" ? undefined : left }
    }
  })

  return { ask, repeated }
})

const messageOf = ({ balanceMicrocents, costMicrocents }: InsufficientFunds): string =>
  `Insufficient balance: this call costs ${formatPrice(costMicrocents)} and ${amountOf(balanceMicrocents)} is available. ` +
  "Add funds, then continue: the call runs once, when the balance covers it."

const amountOf = (amount: bigint): string => (amount === 0n ? "$0.00" : formatPrice(amount))

const opensAddresses = ({ capabilities, inSession }: McpExchange): boolean => {
  if (inSession || capabilities === undefined) return false
  const declared: unknown = JSON.parse(capabilities)
  return isObject(declared) && isObject(declared["elicitation"]) && isObject(declared["elicitation"]["url"])
}

const actionOf = (otherParams: string): unknown => {
  const text = memberOf(otherParams, 0, "inputResponses")
  const responses: unknown = text === undefined ? undefined : JSON.parse(text)
  const response = isObject(responses) ? responses[QUESTION] : undefined
  return isObject(response) ? response["action"] : undefined
}

/** The reason why a call of an MCP client was not made, or not continued after it was asked for input. */
export type McpCallRejected = CallRejected | RequestStateRejected

type Called = Effect.Effect<McpCallOutcome, McpCallRejected | Unsettled>

const makeMcpCalls = Effect.gen(function* () {
  const newCalls = yield* makeNewCalls
  const waits = yield* makeCallerWaits
  const directory = yield* ToolDirectory
  const calls = yield* CallStore
  const states = yield* makeRequestStates
  const legs = yield* makeLegs
  const funds = yield* makeFundsRequests
  const joining = yield* makeJoinedCalls

  const newCall = (request: McpCallRequest, render: Render, before: FundsState | undefined): Called =>
    Effect.catchIf(
      joining(request, newCalls.call(request, render, legs.endingOf(1))),
      (rejection) => rejection instanceof InsufficientFunds,
      (refusal) =>
        Effect.flatMap(directory.find(request.tool), ({ tool }) => funds.ask(request, tool.id, refusal, before))
    )

  /** Repeats the call with the state that the caller was given. */
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

  const call = (request: McpCallRequest, render: Render): Called => {
    const { exchange } = request
    if (exchange.inSession) {
      return newCall({ ...request, follow: (followed) => waits.follow(request, followed) }, render, undefined)
    }
    return requestStateText(exchange) === undefined ? newCall(request, render, undefined) : repeated(request, render)
  }

  return { call, answered: waits.answered }
})

export class McpCalls extends Context.Service<
  McpCalls,
  {
    /**
     * Calls as `Metering.call` does. A provider may ask the caller for input, and funds may be asked for, both with
     * `InputRequired`; a call with the idempotency key of a call in flight waits for its response.
     */
    call(
      request: McpCallRequest,
      render: (report: CallReport) => KeptResult
    ): Effect.Effect<McpCallOutcome, McpCallRejected | Unsettled>
    /**
     * The caller's response to a request that its provider sent inside a call, by the id of that request as JSON. Tells a
     * call of this node that it no longer waits; for others nothing happens.
     */
    answered(consumerId: ConsumerId, clientSession: string | undefined, requestId: string): void
  }
>()("agent-tool-billing/domain/mcp/McpCalls") {
  static readonly layer = Layer.effect(McpCalls, makeMcpCalls).pipe(Layer.provide(CallRuns.layer))
}
