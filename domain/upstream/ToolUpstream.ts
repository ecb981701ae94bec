/**
 * The port to a provider's MCP server. One `call` is one `tools/call`, including the retry rule, deadlines and limits of the
 * contract. It returns the outcome and never fails: every forwarded call ends in a receipt. `Metering` ends a call that an
 * adapter does not end.
 */
import { Context, type Effect } from "effect"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { UpstreamSession } from "./Protocol.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** The status in the receipt and in reports to the provider. */
export type CallStatus = "success" | "error" | "timeout" | "rate_limited"

/** Progress of a tool, in its own unit. */
export interface ToolProgress {
  readonly progress: number
  /** The value of `progress` at completion. */
  readonly total?: number
  readonly message?: string
}

/**
 * The request of a caller that speaks MCP itself: what it contains besides the tool's name, and what the caller
 * receives before the result. Texts are JSON exactly as the caller wrote them.
 */
export interface McpExchange {
  readonly arguments: string
  /** Its `_meta` without the fields of the service and of the protocol; undefined if nothing is left. */
  readonly meta: string | undefined
  /** Other members of the params, such as `inputResponses` and `requestState`: `"name":value,…`. */
  readonly otherParams: string | undefined
  /**
   * A server with sessions gets the call as a task, in a session of its own: the task outlives the caller's session, and
   * any node asks for its result.
   */
  readonly asTask?: boolean | undefined
  /** The caller's capabilities. A server without sessions is told what a caller without one can do. */
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
  /**
   * The caller has a session with this service, and is asked for input by requests in it; otherwise by results, and it repeats
   * the call with its answers.
   */
  readonly inSession: boolean
  /** The session at the provider's server that belongs to the caller's; undefined: the shared one of this node. */
  readonly session: UpstreamSession | undefined
  /** The caller's own session with this service, which outlives that one. */
  readonly clientSession?: string | undefined
  /** Replaces a session that the server no longer knows; undefined if the caller must open it. */
  readonly renewSession?: Effect.Effect<UpstreamSession | undefined, StoreUnavailable> | undefined
  /**
   * The id and the progress token of the caller's request. The server gets an id of its own for the call: the caller could
   * otherwise reuse one, and the result of a tool that ran would never arrive.
   */
  readonly requestId: string
  readonly progressToken: string | undefined
  /**
   * Notifications of the server that belong to this call, within limits, with the caller's progress token; in the caller's
   * own session also requests of the server, which are declined otherwise.
   */
  readonly onMessage: (message: string) => void
}

/** One call to make, with the limits in force. Everything was checked and the money is reserved. */
export interface UpstreamCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly providerName: string
  readonly endpointUrl: string
  readonly toolId: ToolId
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  /** Retries after a 5xx; at most `retriesMax`, never after a timeout or a broken stream unless the tool is idempotent. */
  readonly retriesMax: number
  readonly idempotent: boolean
  /** The maximum charge of a usage-priced call. It is sent to the provider. */
  readonly maxCost?: Microcents | undefined
  /**
   * Called with the number of the attempt when the tool's request is sent: for callers that do not wait for the response.
   */
  readonly onForwarded?: (attempt: number) => void
  /** Called for each report of progress until the response. The provider is always asked for it. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /**
   * Each report of progress restarts the time of its attempt, at most until the call has taken this long. Undefined: progress
   * gives no more time.
   */
  readonly progressMsMax?: number | undefined
  /** Called for each report of progress, before `onProgress`. */
  readonly onReported?: (() => void) | undefined
  /** Undefined for callers that do not speak MCP. */
  readonly exchange?: McpExchange | undefined
  /**
   * The caller's own time, which is added to `timeoutMs` and to every other limit of the call, in milliseconds: it
   * grows when the provider asks the caller for input, and shrinks to the time that this took when the caller has
   * answered. A timer that fires waits for what was added since. Undefined where callers cannot be asked.
   */
  readonly extraMs?: (() => number) | undefined
}

/** The provider's own result, unchanged: `content`, `structuredContent`, `isError`, `_meta`, and any other field. */
export type ToolResult = Readonly<Record<string, unknown>>

/**
 * A result that is not final. Reported only for a call with an `exchange`, and beside `status: "error"` and the problem
 * `unfinished`, which is what the call ends with where its caller cannot go on.
 */
export type PendingResult =
  | {
      readonly kind: "input_required"
      /** The whole result, verbatim. */
      readonly resultText: string
      /** The value of its `requestState`; undefined where it has none. */
      readonly requestState: string | undefined
    }
  /** The server answers later, to `tasks/get`. */
  | {
      readonly kind: "task"
      /** The whole result, verbatim. */
      readonly resultText: string
      /** The session where it was started; undefined at a server without sessions. */
      readonly session?: UpstreamSession
    }

/** The `status` decides what is billed. */
export interface UpstreamResponse {
  readonly status: CallStatus
  /** Present on `success` and on an `isError` result. Absent where no result came. */
  readonly result: ToolResult | undefined
  /** The result's JSON text, verbatim: parsing loses digits that do not fit in a double. */
  readonly resultText?: string | undefined
  /** A sentence for the caller when there is no result; never a stack trace or the address of a blocked endpoint. */
  readonly problem: UpstreamProblem | undefined
  readonly pending?: PendingResult | undefined
  /**
   * Tells, beside `status: "error"`, that its provider did not end the call: it counts against none. What its caller
   * ended costs what the tool's policy says, what the service ended costs nothing. Undefined: as the problem says.
   */
  readonly endedBy?: "caller" | "service" | undefined
  readonly attempts: number
  readonly latencyMs: number
  readonly requestBytes: number
  readonly responseBytes: number
  /** Ends the count of a large response toward the memory limit of the service. An interrupted call ends it itself. */
  readonly release?: () => void
}

/** The reason why there is no result. Callers see the message, so it contains nothing secret. */
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
    /** The server does not know the caller's session, and has not run the tool. */
    | "session_lost"
    | "unfinished"
  readonly message: string
  readonly httpStatus?: number
  readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly retryAfterSeconds?: number
}

export class ToolUpstream extends Context.Service<
  ToolUpstream,
  {
    call(call: UpstreamCall): Effect.Effect<UpstreamResponse>
  }
>()("agent-tool-billing/domain/upstream/ToolUpstream") {}
