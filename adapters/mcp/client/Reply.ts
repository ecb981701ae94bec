/**
 * The result of one HTTP exchange with an MCP server, before it is interpreted for a call.
 */
import { AddressRejected } from "../egress/GuardedConnector.ts"
import type { JsonObject, RpcError } from "./JsonRpc.ts"

export type FaultKind =
  | "blocked"
  | "connection"
  | "timeout"
  | "too_large"
  | "malformed"
  /** Not sent: too many requests are in flight. */
  | "overloaded"
  /** Dropped while it was read: too many bytes of responses are in memory. */
  | "no_room"
  /** Not sent: the tool's own definition forbids it. */
  | "unusable"

export type Reply =
  /** The JSON-RPC result of the request. */
  | {
      readonly kind: "result"
      readonly result: JsonObject
      /** Verbatim. */
      readonly text: string | undefined
      readonly sessionId: string | undefined
      readonly bytes: number
      /** Of a large response: call it when nothing of it is needed. */
      readonly release?: () => void
    }
  /** The JSON-RPC error of the request, with a status that is not an error itself. */
  | {
      readonly kind: "rpc_error"
      readonly error: RpcError
      /** Verbatim. */
      readonly text: string | undefined
      readonly status: number
      readonly bytes: number
    }
  /** Any other status than 2xx without such an error, and every 429 and 5xx. */
  | {
      readonly kind: "status"
      readonly status: number
      readonly error: RpcError | undefined
      /** The `Retry-After` header, verbatim. */
      readonly retryAfter: string | undefined
      readonly bytes: number
    }
  /** 2xx for a message without a response, and the end of a stream of messages. */
  | { readonly kind: "accepted"; readonly bytes: number }
  /** The stream ended before the response, and the server said how to resume it. */
  | {
      readonly kind: "resumable"
      readonly lastEventId: string
      readonly retryMs: number | undefined
      readonly bytes: number
    }
  | {
      readonly kind: FaultKind
      readonly message: string
      readonly bytes: number
    }

export const fault = (kind: FaultKind, message: string, bytes = 0): Reply => ({ kind, message, bytes })

export const interrupted = fault("connection", "The provider's response was interrupted")

/** Translates undici's error; `answering` if the response had started. */
export const faultOf = (error: Error, answering: boolean, bytes: number): Reply => {
  if (error instanceof AddressRejected) return fault("blocked", "The service may not call the provider's address")
  const code = "code" in error ? error.code : undefined
  if (code === "UND_ERR_HEADERS_OVERFLOW") return fault("too_large", "The provider's headers are too large", bytes)
  if (code === "UND_ERR_CONNECT_TIMEOUT") return fault("connection", "The provider could not be reached in time")
  if (error.name === "HTTPParserError") return fault("malformed", "The provider does not speak HTTP", bytes)
  return fault(
    "connection",
    answering ? "The provider's response was interrupted" : "The connection to the provider failed",
    bytes
  )
}
