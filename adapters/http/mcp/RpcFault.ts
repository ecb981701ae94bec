/**
 * What is wrong with a message, as a JSON-RPC error with the HTTP status that the protocol requires for it.
 */
import { Schema } from "effect"
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  PARSE_ERROR,
  UNSUPPORTED_VERSION
} from "../../../domain/upstream/Protocol.ts"

export class RpcFault extends Schema.TaggedError<RpcFault>()("RpcFault", {
  status: Schema.Int,
  code: Schema.Int,
  reason: Schema.String,
  data: Schema.UndefinedOr(Schema.Unknown),
  /** The JSON text of the request's id, where it could be read. */
  id: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    return this.reason
  }
}

const faultOf =
  (code: number, status: number) =>
  (reason: string, data?: unknown, id?: string): RpcFault =>
    new RpcFault({ code, status, reason, data, id })

export const parseError = faultOf(PARSE_ERROR, 400)
export const invalidRequest = faultOf(INVALID_REQUEST, 400)
export const methodNotFound = faultOf(METHOD_NOT_FOUND, 404)
/** Of the tool or the arguments, not of the protocol: the message itself is well formed. */
export const invalidParams = faultOf(INVALID_PARAMS, 200)
export const malformedParams = faultOf(INVALID_PARAMS, 400)
export const headerMismatch = faultOf(HEADER_MISMATCH, 400)
export const unsupportedVersion = faultOf(UNSUPPORTED_VERSION, 400)
export const serverFailed = faultOf(INTERNAL_ERROR, 200)

const RATE_LIMITED = 429

/** A capability that the client did not declare. */
export const missingCapability = faultOf(MISSING_CAPABILITY, 400)

/** Too many unbilled requests, bytes or streams. */
export const limited = (reason: string, retryAfterSeconds: number): RpcFault =>
  faultOf(INTERNAL_ERROR, RATE_LIMITED)(reason, { code: "RATE_LIMITED", retry_after_ms: retryAfterSeconds * 1_000 })

/** The HTTP status of an error that a provider's server returned. */
export const statusOfCode = (code: unknown): number => {
  if (code === METHOD_NOT_FOUND) return 404
  return code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION ? 400 : 200
}
