/**
 * Requests and responses of the pipeline, independent of the server.
 */
import { Effect } from "effect"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { lowestOf, type Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { BadRequest, type PayloadTooLarge } from "./Failures.ts"

export interface WebRequest {
  readonly method: string
  /** Without the query; not decoded. */
  readonly path: string
  /** Without the `?`; empty if there is none. */
  readonly query: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly remoteAddress: string
  /** Reads the body, at most `bytesMax` of it. Nothing is read earlier. */
  body(bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge>
  /**
   * Sends an event before the response, if the server can. The first event starts a stream with these headers; the response
   * is then its last event: `result` or `problem`, unless `last` says otherwise.
   */
  readonly sendEvent?: (headers: Readonly<Record<string, string>>, event: ServerSentEvent, last?: LastEvent) => void
}

/** Without any fields it is a comment, which clients ignore: it keeps the connection open. */
export interface ServerSentEvent {
  readonly event?: string
  /** By which a client resumes the stream. */
  readonly id?: string
  /** How long a client waits before it resumes the stream. */
  readonly retryMs?: number
  /** JSON. */
  readonly data?: string
  /**
   * Never dropped: a client that does not read it in time is disconnected. Other events are dropped while the client does
   * not read.
   */
  readonly required?: boolean
}

/** The response as the last event of its stream; undefined ends the stream without another event. */
export type LastEvent = (answer: WebResponse) => ServerSentEvent | undefined

/** A whole response, before the server or your router sends it. */
export interface WebResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export const header = (request: WebRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === "string" || value === undefined ? value : value.join(", ")
}

/** Empty if there is no token. */
export const bearer = (request: WebRequest): string => {
  const authorization = header(request, "authorization")
  return authorization !== undefined && /^bearer /iu.test(authorization) ? authorization.slice(7).trim() : ""
}

/** Why an `Authorization` header contains no key. */
export const bearerFault = (request: WebRequest): "no_scheme" | "other_scheme" | undefined => {
  const authorization = header(request, "authorization")?.trim() ?? ""
  if (authorization === "" || /^bearer(?: |$)/iu.test(authorization)) return undefined
  return authorization.includes(" ") ? "other_scheme" : "no_scheme"
}

/** Browsers accept HTML first. */
export const wantsPage = (request: WebRequest): boolean => /^\s*text\/html\b/iu.test(header(request, "accept") ?? "")

export const EVENT_STREAM = "text/event-stream"

export const json = (
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): WebResponse => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body
})

export const idempotencyKey = (request: WebRequest): Effect.Effect<string | undefined, BadRequest> => {
  const key = header(request, "idempotency-key")
  return key === undefined || (key !== "" && key.length <= IDEMPOTENCY_KEY_CHARS_MAX)
    ? Effect.succeed(key)
    : Effect.fail(new BadRequest({ reason: `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters.` }))
}

const CAP_HEADER = "X-Max-Cost-Microcents"

/**
 * The maximum cost that the caller accepts for this call: the lower of the header, which is for clients that cannot change
 * the body, and `named`, which the body has.
 */
export const callCap = (
  request: WebRequest,
  named: Microcents | undefined
): Effect.Effect<Microcents | undefined, BadRequest> => {
  const text = header(request, "x-max-cost-microcents")
  const cap = text !== undefined && /^\d{1,16}$/u.test(text) ? BigInt(text) : undefined
  return text === undefined || (cap !== undefined && cap <= MICROCENTS_MAX)
    ? Effect.succeed(lowestOf(named, cap as Microcents | undefined))
    : Effect.fail(new BadRequest({ reason: `${CAP_HEADER} must be an integer between 0 and ${MICROCENTS_MAX}.` }))
}
