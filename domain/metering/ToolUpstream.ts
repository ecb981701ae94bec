/**
 * The port to a provider's MCP server. One `call` is one `tools/call`, with the retry rule, deadlines and limits of
 * the contract inside; what comes back says what happened, it never fails: every forwarded call ends in a receipt.
 */
import { Context, type Effect } from "effect"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

/** What the provider is told, and what the receipt says. */
export type CallStatus = "success" | "error" | "timeout" | "rate_limited"

/** How far a tool has come, in its own measure. */
export interface ToolProgress {
  readonly progress: number
  /** What `progress` will have come to in the end. */
  readonly total?: number
  readonly message?: string
}

export interface UpstreamCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly providerName: string
  readonly endpointUrl: string
  readonly toolId: ToolId
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Of one attempt. */
  readonly timeoutMs: number
  /** Retries after a 5xx; at most `retriesMax`, never after a time-out or broken stream unless the tool is idempotent. */
  readonly retriesMax: number
  readonly idempotent: boolean
  /** Of a usage-priced call: the most that may be charged for it. The provider is told. */
  readonly maxCost?: Microcents | undefined
  /** Told the number of the attempt as the tool's own request goes out: for who is not there to hear the answer. */
  readonly onForwarded?: (attempt: number) => void
  /** The provider is asked to say how far it is, and this hears of it until the answer. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
}

/** The provider's own result, untouched: `content`, `structuredContent`, `isError`, `_meta`, and whatever else it sent. */
export type ToolResult = Readonly<Record<string, unknown>>

export interface UpstreamAnswer {
  readonly status: CallStatus
  /** Present on `success`, and on an `isError` result. Absent where no result came. */
  readonly result: ToolResult | undefined
  /** The result's JSON text, letter by letter: a parsed one has lost the digits that no double holds. */
  readonly resultText?: string | undefined
  /** A sentence for the caller when there is no result; never a stack, never an address that was refused. */
  readonly problem: UpstreamProblem | undefined
  readonly attempts: number
  readonly latencyMs: number
  readonly requestBytes: number
  readonly responseBytes: number
  /** Of a large answer: says that nothing of it is held any more. */
  readonly release?: () => void
}

export interface UpstreamProblem {
  readonly kind:
    | "blocked_endpoint"
    | "canceled"
    | "circuit_open"
    | "connection"
    | "http_status"
    | "json_rpc_error"
    | "malformed_answer"
    | "timeout"
    | "too_large"
    | "rate_limited"
    | "overloaded"
    | "unfinished"
  readonly message: string
  readonly httpStatus?: number
  readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly retryAfterSeconds?: number
}

export class ToolUpstream extends Context.Service<
  ToolUpstream,
  {
    call(call: UpstreamCall): Effect.Effect<UpstreamAnswer>
  }
>()("agent-tool-billing/domain/metering/ToolUpstream") {}
