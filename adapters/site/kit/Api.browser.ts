/**
 * Asks the service, as an agent would. What it refuses comes back as its own words.
 */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** What is wrong with which field of the body. */
  readonly faults: ReadonlyArray<{ readonly path: ReadonlyArray<string | number>; readonly message: string }>
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(String(body["detail"] ?? body["message"] ?? body["title"] ?? `The service answered ${status}.`))
    this.status = status
    this.body = body
    this.code = String(body["code"] ?? "")
    const { details } = body
    this.faults = Array.isArray(details) ? (details as typeof this.faults) : []
  }

  /**
   * Whether it is known what came of the wish. Where it is not, the next try has to carry the same idempotency key: what
   * was done is then answered again, not done twice. A call with a receipt is over, whatever came of it.
   */
  get isFinal(): boolean {
    if (typeof this.body["receipt_id"] === "string") return true
    return this.status < 500 && this.body["retry_after_seconds"] === undefined
  }
}

export interface Question {
  readonly key?: string | undefined
  readonly body?: unknown
  /** The same for the same wish, so that a second try is no second wish. */
  readonly idempotencyKey?: string
  /** Not from the browser's cache: it has just been changed. */
  readonly isFresh?: boolean
}

const TIMEOUT_MS = 60_000

const answerTo = async (
  method: string,
  path: string,
  { body, idempotencyKey, isFresh, key }: Question
): Promise<Response> => {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: "omit",
      ...(isFresh === true ? { cache: "no-store" as const } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
  } catch {
    throw new Error("The service does not answer. Is the network there? Try again: nothing is done twice.")
  }
}

const checked = async (response: Response): Promise<Response> => {
  if (response.ok) return response
  const text = await response.text()
  let body: Readonly<Record<string, unknown>>
  try {
    body = JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    body = {}
  }
  throw new Refused(response.status, body)
}

export const ask = async <A>(method: string, path: string, question: Question = {}): Promise<A> =>
  (await (await checked(await answerTo(method, path, question))).json()) as A

export const askFile = async (path: string, key: string | undefined): Promise<Blob> =>
  (await checked(await answerTo("GET", path, { key }))).blob()

export const askText = async (path: string): Promise<string> => (await checked(await answerTo("GET", path, {}))).text()

export const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))
