/**
 * JSON-RPC messages at the doors: requests are parsed once, with the texts of the parts that are passed on as the client wrote them,
 * and responses are written around texts that are passed on as they are.
 */
import { Effect, Schema } from "effect"
import { elementsOf, isObject, type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
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
import { BODY_BYTES_MAX, JSON_DEPTH_MAX, parseJson } from "../pipeline/Decoding.ts"
import type { EncodedReply } from "../pipeline/Route.ts"
import type { LastEvent, WebResponse } from "../pipeline/WebRequest.ts"

// Faults of a message, as JSON-RPC errors with the HTTP status that the protocol requires.

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
/** The tool or the arguments are wrong, not the protocol: the message itself is well formed. */
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
const statusOfCode = (code: unknown): number => {
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

const resultMember = (result: string): string => `"result":${result}`

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

type JsonObject = Readonly<Record<string, unknown>>

/** An object of a message, parsed, and with the texts of its members. No name occurs twice. */
export interface RpcObject {
  readonly value: JsonObject
  readonly text: string
  readonly members: ReadonlyArray<JsonMember>
}

/** The JSON text of a member's value. */
export const textAt = (object: RpcObject | undefined, name: string): string | undefined =>
  object?.members.find((member) => member.name === name)?.text

/** The members whose names pass, as `"name":value,…`; undefined if there are none. */
export const picked = (object: RpcObject | undefined, passes: (name: string) => boolean): string | undefined => {
  const some = object?.members.filter(({ name }) => passes(name)) ?? []
  return some.length === 0 ? undefined : some.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(",")
}

interface Parts {
  readonly params: RpcObject | undefined
  readonly meta: RpcObject | undefined
}

export interface RpcRequest extends Parts {
  readonly _tag: "Request"
  /** The JSON text of the id, for the response. */
  readonly id: string
  readonly method: string
}

export interface RpcNotification extends Parts {
  readonly _tag: "Notification"
  readonly method: string
  readonly text: string
}

/** A client responds to a request of the server. */
export interface RpcResponse {
  readonly _tag: "Response"
  readonly id: string
  readonly text: string
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse

/** A faulty message does not affect the others. */
export interface RpcBatch {
  readonly _tag: "Batch"
  readonly messages: ReadonlyArray<RpcMessage | RpcFault>
}

const BODY = { bytesMax: BODY_BYTES_MAX, depthMax: JSON_DEPTH_MAX, anyText: true, emptyIsObject: false }
/** A batch counts as one request of the key's rate limit. */
export const BATCH_MAX = 10
const ID_CHARS_MAX = 1_024
const METHOD_CHARS_MAX = 128

export const parseMessages = (text: string): Effect.Effect<RpcMessage | RpcBatch, RpcFault> =>
  Effect.flatMapEager(
    Effect.mapErrorEager(parseJson(text, BODY), ({ message }) => parseError(message)),
    (value): Effect.Effect<RpcMessage | RpcBatch, RpcFault> => {
      if (Array.isArray(value)) return batchOf(text, value)
      const message = messageOf(value, text)
      return message instanceof RpcFault ? Effect.fail(message) : Effect.succeed(message)
    }
  )

const batchOf = (text: string, values: ReadonlyArray<unknown>): Effect.Effect<RpcBatch, RpcFault> => {
  if (values.length === 0) return Effect.fail(invalidRequest("The batch is empty."))
  if (values.length > BATCH_MAX) {
    return Effect.fail(invalidRequest(`The batch has ${values.length} messages; at most ${BATCH_MAX} are allowed.`))
  }
  const texts = elementsOf(text)
  return Effect.succeed({ _tag: "Batch", messages: values.map((value, n) => messageOf(value, texts[n]!)) })
}

const messageOf = (value: unknown, text: string): RpcMessage | RpcFault => {
  if (!isObject(value)) return invalidRequest("A message must be a JSON object.")
  const message = objectOf(value, text)
  if (message instanceof RpcFault) return message
  const id = textAt(message, "id")
  const isId = id !== undefined && isRpcId(value["id"]) && id.length <= ID_CHARS_MAX
  const fault = faultIn(value, id !== undefined && !isId)
  if (fault !== undefined) return invalidRequest(fault, undefined, isId ? id : undefined)
  const { method } = value
  if (typeof method !== "string") return { _tag: "Response", id: id!, text }
  const parts = partsOf(message)
  if (parts instanceof RpcFault) {
    return new RpcFault({ ...parts, id: isId ? id : undefined })
  }
  return id === undefined ? { _tag: "Notification", method, text, ...parts } : { _tag: "Request", id, method, ...parts }
}

const faultIn = (value: JsonObject, isBadId: boolean): string | undefined => {
  if (value["jsonrpc"] !== "2.0") return '`jsonrpc` must be "2.0".'
  if (isBadId) return `\`id\` must be an integer, or a string of at most ${ID_CHARS_MAX} characters.`
  const { method } = value
  if (method === undefined) {
    return (Object.hasOwn(value, "result") || Object.hasOwn(value, "error")) && Object.hasOwn(value, "id")
      ? undefined
      : "`method` is required."
  }
  return typeof method === "string" && method !== "" && method.length <= METHOD_CHARS_MAX
    ? undefined
    : `\`method\` must be a string of 1 to ${METHOD_CHARS_MAX} characters.`
}

const isRpcId = (id: unknown): boolean => typeof id === "string" || Number.isInteger(id)

const partsOf = (message: RpcObject): Parts | RpcFault => {
  const text = textAt(message, "params")
  if (text === undefined) return NO_PARTS
  const value = message.value["params"]
  if (!isObject(value)) return malformedParams("`params` must be an object.")
  const params = objectOf(value, text)
  if (params instanceof RpcFault) return params
  const metaText = textAt(params, "_meta")
  if (metaText === undefined) return { params, meta: undefined }
  const metaValue = value["_meta"]
  if (!isObject(metaValue)) return malformedParams("`_meta` must be an object.")
  const meta = objectOf(metaValue, metaText)
  return meta instanceof RpcFault ? meta : { params, meta }
}

const NO_PARTS: Parts = { params: undefined, meta: undefined }

/** Of two members with one name, this service and the provider's server might read different ones. */
const objectOf = (value: JsonObject, text: string): RpcObject | RpcFault => {
  const members = membersOf(text)
  // Of those, `value` has only the last.
  if (Object.keys(value).length === members.length) return { value, text, members }
  const names = new Set<string>()
  const repeated = members.find(({ name }) => names.size === names.add(name).size)
  return invalidRequest(`The member \`${repeated?.name.slice(0, 100)}\` is there more than once.`)
}
