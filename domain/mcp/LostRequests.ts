/**
 * Requests whose stream cannot be resumed: what their client gets instead of the response. A call is settled in any case, so
 * its client learns its receipt and what it costs.
 */
import { Context, Effect, Layer } from "effect"
import { CallStore, type StoredOutcome } from "../metering/CallStore.ts"
import { type ConsumerId, isIssuedReceiptId } from "../shared/Ids.ts"
import { formatPrice, type Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { StreamPosition } from "./EventId.ts"
import { BILLING_META, INTERNAL_ERROR } from "../upstream/Protocol.ts"

export class LostRequests extends Context.Service<
  LostRequests,
  {
    /** `Unknown` for a request that is not a call. A call that is open may still be running, at a node that is busy. */
    outcome(consumerId: ConsumerId, position: StreamPosition): Effect.Effect<StoredOutcome, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/LostRequests") {
  static readonly layer = Layer.effect(
    LostRequests,
    Effect.map(CallStore, (calls) =>
      LostRequests.of({
        outcome: (consumerId, position) => {
          const receiptId = receiptIdOf(position)
          return isIssuedReceiptId(receiptId) ? calls.outcome(consumerId, receiptId) : Effect.succeed(UNKNOWN)
        }
      })
    )
  )
}

const UNKNOWN: StoredOutcome = { _tag: "Unknown" }

/** The stream of a call has the id of the call. */
const receiptIdOf = ({ streamId }: StreamPosition): string => `rcpt_${streamId}`

/** The JSON-RPC response; undefined where the id of the request is not known. */
export const lostResponse = (position: StreamPosition, outcome: StoredOutcome): string | undefined => {
  const { requestId } = position
  if (requestId === undefined) return undefined
  const member = outcome._tag === "Unknown" ? LOST : lostCall(receiptIdOf(position), outcome)
  return `{"jsonrpc":"2.0","id":${requestId},${member}}`
}

const LOST = `"error":${JSON.stringify({
  code: INTERNAL_ERROR,
  message: "The connection broke, and the response to this request is no longer available. Send the request again."
})}`

/** A result, not an error: a model can act on it. */
const lostCall = (receiptId: string, outcome: Exclude<StoredOutcome, { readonly _tag: "Unknown" }>): string => {
  const cost = outcome._tag === "Closed" ? outcome.cost : undefined
  const text = `The connection broke, and the result of this call is no longer available. ${costText(cost)} Receipt: ${receiptId}. To call the tool again is a new call.`
  return `"result":${JSON.stringify({
    content: [{ type: "text", text }],
    isError: true,
    _meta: { [BILLING_META]: { receipt_id: receiptId, cost_microcents: cost === undefined ? null : Number(cost) } }
  })}`
}

const costText = (cost: Microcents | undefined): string => {
  if (cost === undefined) return "It is not settled yet."
  return cost === 0n ? "Nothing was charged." : `It costs ${formatPrice(cost)}.`
}
