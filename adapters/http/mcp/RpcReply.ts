/**
 * Writes JSON-RPC responses around texts that are passed on as they are.
 */
import { Effect, Schema } from "effect"
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
import type { EncodedReply } from "../pipeline/Route.ts"
import type { LastEvent, WebResponse } from "../pipeline/WebRequest.ts"

// What is wrong with a message, as a JSON-RPC error with the HTTP status that the protocol requires for it.

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

export const faultOf =
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
export const serverFailed = faultOf(INTERNAL_ERROR, 200)

export const unsupportedVersion = (sent: string, supported: ReadonlyArray<string>, id?: string): RpcFault => {
  const requested = sent.slice(0, VERSION_CHARS_SHOWN_MAX)
  const reason = `Unsupported protocol version \`${requested}\`. Supported: ${supported.join(", ")}.`
  return faultOf(UNSUPPORTED_VERSION, 400)(reason, { supported, requested }, id)
}

const VERSION_CHARS_SHOWN_MAX = 40
const RATE_LIMITED = 429

/** A capability that the client did not declare. */
export const missingCapability = faultOf(MISSING_CAPABILITY, 400)

/** Too many unbilled requests, bytes or streams. */
export const limited = ({ message, retryAfterSeconds: seconds }: Limited): Effect.Effect<never, RpcFault> =>
  Effect.fail(faultOf(INTERNAL_ERROR, RATE_LIMITED)(message, { code: "RATE_LIMITED", retry_after_ms: seconds * 1_000 }))

interface Limited {
  readonly message: string
  readonly retryAfterSeconds: number
}

/** The HTTP status of an error that a provider's server returned. */
export const statusOfCode = (code: unknown): number => {
  if (code === METHOD_NOT_FOUND) return 404
  return code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION ? 400 : 200
}

/** A result or an error, as JSON text. */
export type DoorAnswer =
  | { readonly _tag: "Result"; readonly result: string; readonly release?: (() => void) | undefined }
  | { readonly _tag: "Error"; readonly error: string; readonly status: number }

type Headers = Readonly<Record<string, string>>

/** `id`: the JSON text of the request's id; undefined where it could not be read. */
export const responseText = (id: string | undefined, outcome: string): string =>
  `{"jsonrpc":"2.0","id":${id ?? "null"},${outcome}}`

export const resultMember = (result: string): string => `"result":${result}`

export const errorMember = (error: string): string => `"error":${error}`

export const errorText = (code: number, message: string, data?: unknown): string =>
  JSON.stringify(data === undefined ? { code, message } : { code, message, data })

export const resultAnswer = (result: string): DoorAnswer => ({ _tag: "Result", result })

/** An error that a provider's server returned. */
export const errorAnswer = (error: string): DoorAnswer => ({
  _tag: "Error",
  error,
  status: statusOfCode((JSON.parse(error) as { readonly code?: unknown }).code)
})

export const replyOf = (id: string, answer: DoorAnswer, headers: Headers = {}): EncodedReply => ({
  status: answer._tag === "Result" ? 200 : answer.status,
  headers,
  body: responseText(id, answer._tag === "Result" ? resultMember(answer.result) : errorMember(answer.error))
})

export const faultReply = (
  fault: RpcFault,
  id: string | undefined = fault.id,
  headers: Headers = {}
): EncodedReply => ({
  status: fault.status,
  headers,
  body: responseText(id, errorMember(errorText(fault.code, fault.message, fault.data)))
})

/** A fault is the response to its request. */
export const faultsReplied = <E>(
  work: Effect.Effect<EncodedReply, E | RpcFault>,
  id?: string
): Effect.Effect<EncodedReply, E> =>
  work.pipe(
    Effect.catch((error) => (error instanceof RpcFault ? Effect.succeed(faultReply(error, id)) : Effect.fail(error)))
  )

/** For notifications and responses of a client. */
export const ACCEPTED: EncodedReply = { status: 202, headers: {}, body: "" }

/** The last event of a request's stream: its response. A problem of the service becomes a JSON-RPC error. */
export const lastMessage =
  (id: string): LastEvent =>
  (answer) => ({ data: isProblem(answer) ? problemText(id, textOf(answer)) : textOf(answer) })

const isProblem = ({ headers }: WebResponse): boolean => headers["content-type"] === "application/problem+json"

export const textOf = ({ body }: Pick<EncodedReply, "body">): string =>
  typeof body === "string" ? body : new TextDecoder().decode(body)

const problemText = (id: string, body: string): string => {
  const {
    code,
    detail,
    retry_after_seconds: seconds
  } = JSON.parse(body) as {
    readonly code: string
    readonly detail: string
    readonly retry_after_seconds?: number
  }
  const data = seconds === undefined ? { code } : { code, retry_after_ms: seconds * 1_000 }
  return responseText(id, errorMember(errorText(INTERNAL_ERROR, detail, data)))
}
