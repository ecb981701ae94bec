/**
 * HTTP requests to the API. What a response contains is for display.
 */
import { parseShown } from "./HiddenText.browser.ts"

type FieldError = { readonly path: ReadonlyArray<string | number>; readonly message: string }

export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fieldErrors: ReadonlyArray<FieldError>
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(String(body["detail"] ?? body["message"] ?? body["title"] ?? `The API returned HTTP ${status}.`))
    this.status = status
    this.body = body
    this.code = String(body["code"] ?? "")
    const { details } = body
    this.fieldErrors = Array.isArray(details) ? (details as ReadonlyArray<FieldError>) : []
  }

  /**
   * Tells whether the outcome of the request is known. If it is not, the next attempt must carry the same idempotency
   * key. A call with a receipt is complete, whatever its status.
   */
  get isFinal(): boolean {
    if (typeof this.body["receipt_id"] === "string") return true
    return this.status < 500 && this.body["retry_after_seconds"] === undefined
  }
}

/** Rejects a form before it is sent, with a message per field. */
export const invalid = (messages: Readonly<Record<string, string>>): ApiError =>
  new ApiError(422, { details: Object.entries(messages).map(([name, message]) => ({ path: [name], message })) })

interface RequestOptions {
  readonly key?: string | undefined
  /** Sends the cookie of the operator's session instead of a key. */
  readonly sendsCookie?: boolean
  readonly body?: unknown
  readonly idempotencyKey?: string | undefined
  /** Sent by a console, whose reads have a rate limit of their own. */
  readonly isConsole?: boolean
  /** Bypasses the browser's cache. */
  readonly isFresh?: boolean
}

const TIMEOUT_MS = 60_000

const send = async (method: string, path: string, options: RequestOptions): Promise<Response> => {
  const { body, idempotencyKey, isConsole, isFresh, key, sendsCookie } = options
  try {
    return await fetch(path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(isConsole === true ? { "x-console": "1" } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: sendsCookie === true ? "same-origin" : "omit",
      ...(isFresh === true ? { cache: "no-store" as const } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
  } catch {
    throw new Error("The service did not respond. Check your network and try again; retrying is safe.")
  }
}

const read = async (response: Response): Promise<unknown> => parseShown(await response.text())

const responseTo = async (method: string, path: string, options: RequestOptions = {}): Promise<Response> => {
  const response = await send(method, path, options)
  if (response.ok) return response
  const body: unknown = await read(response).catch(() => ({}))
  throw new ApiError(response.status, body as Readonly<Record<string, unknown>>)
}

export const request = async <A>(method: string, path: string, options?: RequestOptions): Promise<A> =>
  (await read(await responseTo(method, path, options))) as A

export const requestFile = async (path: string, options?: RequestOptions): Promise<Blob> =>
  (await responseTo("GET", path, options)).blob()

export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The idempotency keys of an operation that may be retried. The key stays the same until the outcome is known. */
interface IdempotentRequest {
  /** `operation`: the whole request. Another operation gets another key. */
  readonly keyFor: (operation: string) => string
  /** Call it with the error if the request failed. */
  readonly finished: (error?: unknown) => void
}

export const idempotentRequest = (): IdempotentRequest => {
  let pending: { readonly operation: string; readonly key: string } | undefined
  return {
    keyFor: (operation) => {
      if (pending?.operation !== operation) pending = { operation, key: randomKey() }
      return pending.key
    },
    finished: (error) => {
      if (error === undefined || (error instanceof ApiError && error.isFinal)) pending = undefined
    }
  }
}

/** `crypto.randomUUID` is missing on pages that were loaded over plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** A request as a curl command. `key`: a key, or the shell variable that holds it. */
export const curl = (path: string, key: string, body: unknown): string =>
  [
    `curl ${location.origin}${path}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`
  ].join(" \\\n  ")
