/**
 * What became of one HTTP exchange with an MCP server, before anybody judges what it means for a call.
 */
import type { JsonObject, RpcError } from "./JsonRpc.ts"

export type FaultKind =
  | "blocked"
  | "connection"
  | "timeout"
  | "too_large"
  | "malformed"
  /** Not sent: too much is under way already. */
  | "overloaded"
  /** Given up while it was read: too many bytes of answers are held already. */
  | "no_room"
  /** Not sent: the tool's own definition forbids it. */
  | "unusable"

export type Reply =
  /** The JSON-RPC result of the request. */
  | {
      readonly kind: "result"
      readonly result: JsonObject
      /** As it was written. */
      readonly text: string | undefined
      readonly sessionId: string | undefined
      readonly bytes: number
      /** Of a large answer: to be called when nothing of it is held any more. */
      readonly release?: () => void
    }
  /** The JSON-RPC error of the request, under a status that is no failure by itself. */
  | { readonly kind: "rpc_error"; readonly error: RpcError; readonly status: number; readonly bytes: number }
  /** Any other status than 2xx without such an error, and every 429 and 5xx. */
  | {
      readonly kind: "status"
      readonly status: number
      readonly error: RpcError | undefined
      /** The `Retry-After` header, as it came. */
      readonly retryAfter: string | undefined
      readonly bytes: number
    }
  /** 2xx to a message that has no answer. */
  | { readonly kind: "accepted"; readonly bytes: number }
  /** The stream ended before the answer, and the server said how to come back to it. */
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
