/**
 * The `requestState` that a caller gets instead of the provider's own, and sends back with its answers. It is sealed, and
 * opens only for the account and the tool for which it was made. It contains the terms on which the call goes on, so that
 * they cannot change between two legs.
 */
import { Effect, Option, Schema } from "effect"
import { CancellationTerm, STORED_CANCELLATION } from "../catalog/Terms.ts"
import { BillingPolicy } from "../catalog/Tool.ts"
import { Digest, isSameText, Sealer } from "../shared/Cryptography.ts"
import { type ConsumerId, ReceiptId, type ToolId } from "../shared/Ids.ts"
import { memberOf } from "../shared/JsonText.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { McpExchange } from "../upstream/ToolUpstream.ts"

/** Of the provider's own state: the caller sends all of it back. */
export const PROVIDER_STATE_CHARS_MAX = 64 * 1024
/** Of a sealed state: longer ones are not ours. */
const SEALED_CHARS_MAX = 8 * PROVIDER_STATE_CHARS_MAX

const Terms = Schema.Struct({
  price: Microcents,
  maximum: Microcents,
  freeTierCalls: Schema.Int,
  billingPolicy: BillingPolicy,
  outputSchema: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  cancellation: CancellationTerm
}).pipe(Schema.encodeKeys({ cancellation: STORED_CANCELLATION }))

const Idempotency = Schema.Struct({ keyHash: Schema.String, requestHash: Schema.String })

/** A suspended call. */
export const CallState = Schema.TaggedStruct("Call", {
  argumentsHash: Schema.String,
  expiresMs: Schema.Int,
  invocationId: ReceiptId,
  /** The leg that ended. */
  leg: Schema.Int,
  openedMs: Schema.Int,
  feeBasisPoints: Schema.Int,
  priceVersion: Schema.Int,
  terms: Terms,
  /** The caller's cap, which the provider was told. */
  holdAmount: Microcents,
  idempotency: Schema.optionalKey(Idempotency),
  /** Of all legs so far. */
  attempts: Schema.Int,
  latencyMs: Schema.Int,
  requestBytes: Schema.Int,
  responseBytes: Schema.Int,
  /** The provider's own state. */
  requestState: Schema.optionalKey(Schema.String)
})
export type CallState = typeof CallState.Type

/** A call that was not opened for lack of funds: nothing is held. */
export const FundsState = Schema.TaggedStruct("Funds", {
  argumentsHash: Schema.String,
  expiresMs: Schema.Int,
  /** Names the call, so that it runs once, however often its state is sent. */
  nonce: Schema.String,
  /** How often funds were asked for. */
  asked: Schema.Int,
  /** What the user was told that the call costs: it never costs more. */
  cost: Microcents
})
export type FundsState = typeof FundsState.Type

const State = Schema.fromJsonString(Schema.toCodecJson(Schema.Union([CallState, FundsState])))
const encode = Schema.encodeSync(State)
const decode = Schema.decodeOption(State)

/** Why a call cannot be continued from its `requestState`. */
export class RequestStateRejected extends Schema.TaggedError<RequestStateRejected>()("RequestStateRejected", {
  reason: Schema.Literals(["invalid", "arguments", "expired", "used"])
}) {
  override get message() {
    return `${SENTENCES[this.reason]} Nothing was charged for this request. Call the tool again without \`requestState\`.`
  }
}

const SENTENCES = {
  invalid: "`requestState` was not issued for this account and this tool, or was changed.",
  arguments: "The `arguments` differ from those of the call that `requestState` belongs to.",
  expired: "`requestState` has expired: its call has waited 10 minutes for input, or ended.",
  used: "This `requestState` was used before: each is accepted once."
} as const

export const makeRequestStates = Effect.gen(function* () {
  const sealer = yield* Sealer
  const { sha256Hex } = yield* Digest

  const argumentsHashOf = (exchange: McpExchange): string => sha256Hex(exchange.arguments)

  const seal = (state: CallState | FundsState, consumerId: ConsumerId, toolId: ToolId): string =>
    sealer.seal(encode(state), contextOf(consumerId, toolId))

  /** The state that the caller sent; undefined if it sent none. */
  const open = (
    exchange: McpExchange,
    consumerId: ConsumerId,
    toolId: ToolId,
    nowMs: number
  ): Effect.Effect<CallState | FundsState | undefined, RequestStateRejected> => {
    const text = requestStateText(exchange)
    if (text === undefined) return Effect.undefined
    const sealed: unknown = JSON.parse(text)
    if (typeof sealed !== "string" || sealed.length > SEALED_CHARS_MAX) return reject("invalid")
    const state = Option.flatMap(sealer.open(sealed, contextOf(consumerId, toolId)), (opened) => decode(opened))
    if (Option.isNone(state)) return reject("invalid")
    if (!isSameText(state.value.argumentsHash, argumentsHashOf(exchange))) return reject("arguments")
    if (state.value.expiresMs <= nowMs) return reject("expired")
    return Effect.succeed(state.value)
  }

  return { argumentsHashOf, seal, open }
})

/** The JSON text of the member; undefined where the params have none. */
export const requestStateText = ({ otherParams }: McpExchange): string | undefined =>
  otherParams === undefined ? undefined : memberOf(`{${otherParams}}`, 0, "requestState")

const contextOf = (consumerId: ConsumerId, toolId: ToolId): string => `mcp request state ${consumerId} ${toolId}`

const reject = (reason: RequestStateRejected["reason"]) => Effect.fail(new RequestStateRejected({ reason }))
