/**
 * Sends a request, again where that is safe, and reads its answer.
 */
import { NoAnswerError, type Problem, ProblemError } from "./Problem.ts"
import { type Progress, readEvents } from "./Progress.ts"
import { backoffMs, delayAfterProblem } from "./Retries.ts"

export interface SendOptions {
  /** API key of a consumer, a provider or the operator. */
  readonly key?: string
  /** Attempts per request. Default: 3. */
  readonly attemptsMax?: number
  /** Limit of one attempt. Default: 120,000. */
  readonly timeoutMs?: number
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface OutgoingRequest {
  readonly method: string
  readonly url: string
  readonly payload: unknown
  readonly takesKey: boolean
}

export interface Handling {
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  readonly accept?: string
  readonly onProgress?: (progress: Progress) => void
}

const JSON_TYPE = "application/json"

export const makeSend = ({ attemptsMax = 3, headers, key, timeoutMs = 120_000, ...options }: SendOptions) => {
  const attempt = async (request: OutgoingRequest, idempotencyKey: string | undefined, handling: Handling) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await (options.fetch ?? globalThis.fetch)(request.url, {
      method: request.method,
      signal: handling.signal === undefined ? timeout : AbortSignal.any([handling.signal, timeout]),
      headers: {
        accept: handling.accept ?? (handling.onProgress === undefined ? JSON_TYPE : `${JSON_TYPE}, text/event-stream`),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...(request.payload === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(request.payload === undefined ? {} : { body: JSON.stringify(request.payload) })
    })
    const answer = await read(response, handling)
    if (response.ok && !isProblem(answer)) return answer
    if (isProblem(answer)) throw new ProblemError(answer)
    throw new Error(`Status ${response.status} without a problem document`)
  }

  return async (request: OutgoingRequest, handling: Handling): Promise<unknown> => {
    const idempotencyKey = handling.idempotencyKey ?? (request.takesKey ? crypto.randomUUID() : undefined)
    const isRepeatable = idempotencyKey !== undefined || request.method === "GET"
    for (let n = 1; ; n++) {
      try {
        return await attempt(request, idempotencyKey, handling)
      } catch (error) {
        handling.signal?.throwIfAborted()
        const delayMs =
          error instanceof ProblemError
            ? delayAfterProblem(error.problem, n, isRepeatable)
            : isRepeatable
              ? backoffMs(n)
              : undefined
        if (delayMs === undefined || n >= attemptsMax) {
          if (error instanceof ProblemError) throw error
          throw new NoAnswerError(`${request.method} ${request.url} got no answer: ${error}`, idempotencyKey, error)
        }
        await pause(delayMs, handling.signal)
      }
    }
  }
}

const read = async (response: Response, { onProgress }: Handling): Promise<unknown> => {
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("text/event-stream") && response.body !== null) {
    const last = await readEvents(response.body, onProgress ?? (() => {}))
    if (last === undefined) throw new Error("The stream ended before its result")
    return JSON.parse(last)
  }
  if (type.includes("json")) return response.json()
  return type.startsWith("text/") ? response.text() : response.blob()
}

const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === "object" && answer !== null && "error" in answer && answer.error === true && "code" in answer

const pause = (delayMs: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted)
      resolve()
    }, delayMs)
    signal?.addEventListener("abort", aborted, { once: true })
  })
