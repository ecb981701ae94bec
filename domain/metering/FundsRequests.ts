/**
 * Instead of a refusal for lack of funds: the user of a client that can open addresses is asked to add funds, and the client
 * then repeats the call. Nothing is held meanwhile. The repeated call runs once, however often it is sent.
 */
import { DateTime, Effect } from "effect"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import type { ToolId } from "../shared/Ids.ts"
import { memberOf, objectWith } from "../shared/JsonText.ts"
import { formatPrice, Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { McpExchange } from "../upstream/ToolUpstream.ts"
import type { InputRequired, McpCallRequest } from "./Call.ts"
import { InsufficientFunds } from "./CallRejections.ts"
import { CallStore } from "./CallStore.ts"
import { type FundsState, makeRequestStates } from "./RequestStates.ts"

/** For one call. */
const ASKED_MAX = 5
const ASKED_MS_MAX = 10 * 60_000
/** In `inputRequests` and `inputResponses`. */
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

/** Whether the client can show an address to its user. */
const opensAddresses = ({ capabilities, era }: McpExchange): boolean => {
  if (era === "legacy" || capabilities === undefined) return false
  const declared: unknown = JSON.parse(capabilities)
  return isObject(declared) && isObject(declared["elicitation"]) && isObject(declared["elicitation"]["url"])
}

const actionOf = (otherParams: string): unknown => {
  const text = memberOf(otherParams, 0, "inputResponses")
  const responses: unknown = text === undefined ? undefined : JSON.parse(text)
  const response = isObject(responses) ? responses[QUESTION] : undefined
  return isObject(response) ? response["action"] : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
