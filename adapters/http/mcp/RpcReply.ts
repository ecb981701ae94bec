/**
 * Writes JSON-RPC responses around texts that are passed on as they are.
 */
import type { EncodedReply } from "../pipeline/Route.ts"
import type { WebResponse, LastEvent } from "../pipeline/WebRequest.ts"
import { INTERNAL_ERROR } from "../../../domain/upstream/Protocol.ts"
import type { DoorAnswer } from "./Door.ts"
import type { RpcFault } from "./RpcFault.ts"

type Headers = Readonly<Record<string, string>>

/** `id`: the JSON text of the request's id; undefined where it could not be read. */
export const responseText = (id: string | undefined, outcome: string): string =>
  `{"jsonrpc":"2.0","id":${id ?? "null"},${outcome}}`

export const resultMember = (result: string): string => `"result":${result}`

export const errorMember = (error: string): string => `"error":${error}`

export const errorText = (code: number, message: string, data?: unknown): string =>
  JSON.stringify(data === undefined ? { code, message } : { code, message, data })

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
