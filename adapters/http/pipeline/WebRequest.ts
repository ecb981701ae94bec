/**
 * A request as the pipeline sees it, whatever server it came in by, and the answer that goes back.
 */
import type { Effect } from "effect"
import type { PayloadTooLarge } from "./Failures.ts"

export interface WebRequest {
  readonly method: string
  /** Without the query; not decoded. */
  readonly path: string
  /** Without the `?`; empty if there is none. */
  readonly query: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly remoteAddress: string
  /** Reads the body, at most `bytesMax` of it. Nothing is read before it is asked for. */
  body(bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge>
  /**
   * Tells the client something before the answer, where its server can: the first event begins a stream with these headers,
   * whose last event the answer then is.
   */
  readonly tell?: (headers: Readonly<Record<string, string>>, event: ServerSentEvent) => void
}

export interface ServerSentEvent {
  readonly event: string
  /** JSON. */
  readonly data: string
}

export interface WebAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export const header = (request: WebRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === "string" || value === undefined ? value : value.join(", ")
}

/** Empty where there is none. */
export const bearer = (request: WebRequest): string => {
  const authorization = header(request, "authorization")
  return authorization !== undefined && /^bearer /iu.test(authorization) ? authorization.slice(7).trim() : ""
}

/** Whether an `Authorization` without a scheme is one of our keys. */
export const isBareKey = (request: WebRequest): boolean =>
  (header(request, "authorization")?.trim() ?? "").startsWith("atb_")

/** Why `Authorization` names no key, where it is there. */
export const bearerFault = (request: WebRequest): "no_scheme" | "other_scheme" | undefined => {
  const authorization = header(request, "authorization")?.trim() ?? ""
  if (authorization === "" || /^bearer(?: |$)/iu.test(authorization)) return undefined
  return authorization.includes(" ") ? "other_scheme" : "no_scheme"
}

/** Browsers name HTML first; whoever asks for JSON, or says nothing, is a machine. */
export const wantsPage = (request: WebRequest): boolean => /^\s*text\/html\b/iu.test(header(request, "accept") ?? "")

export const EVENT_STREAM = "text/event-stream"

export const json = (
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): WebAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body
})
