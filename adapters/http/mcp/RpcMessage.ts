/**
 * Reads JSON-RPC messages of a client: parsed once, with the texts of the parts that are passed on as the client wrote them.
 */
import { Effect } from "effect"
import { elementsOf, isObject, type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX, parseJson } from "../pipeline/Decoding.ts"
import { invalidRequest, malformedParams, parseError, RpcFault } from "./RpcReply.ts"

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

/** Of the client, to a request of the server. */
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
