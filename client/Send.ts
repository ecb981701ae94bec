/**
 * Sends a request, again where that is safe, and reads its answer.
 */
import { NoAnswerError, type Problem, ProblemError } from "./Problem.ts"
import { type Progress, readEvents } from "./Progress.ts"
import { backoffMs, delayAfterProblem, isInFlight } from "./Retries.ts"

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
      // A redirect would turn a write into a read, or send the key elsewhere.
      redirect: "error",
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
    if (isProblem(answer)) throw new ProblemError(answer, idempotencyKey)
    if (!response.ok) throw new Error(`Status ${response.status} without a problem document`)
    return answer
  }

  return async (request: OutgoingRequest, handling: Handling): Promise<unknown> => {
    const idempotencyKey = handling.idempotencyKey ?? (request.takesKey ? crypto.randomUUID() : undefined)
    const isRepeatable = request.takesKey || request.method === "GET"
    const noAnswer = (reason: unknown) =>
      new NoAnswerError(`${request.method} ${request.url} got no answer: ${String(reason)}`, idempotencyKey, reason)
    const inFlightUntilMs = Date.now() + timeoutMs
    let attempts = 0
    handling.signal?.throwIfAborted()
    for (;;) {
      try {
        return await attempt(request, idempotencyKey, handling)
      } catch (error) {
        const isProblem = error instanceof ProblemError
        // While the first attempt is executed, waiting for it is no further attempt.
        const isWaiting = isProblem && isInFlight(error.problem) && Date.now() < inFlightUntilMs
        if (!isWaiting) attempts++
        const delayMs = isProblem
          ? delayAfterProblem(error.problem, Math.max(attempts, 1), isRepeatable)
          : isRepeatable
            ? backoffMs(attempts)
            : undefined
        if (delayMs === undefined || !(attempts < attemptsMax)) throw isProblem ? error : noAnswer(error)
        if (handling.signal?.aborted === true) throw noAnswer(handling.signal.reason)
        await pause(delayMs, handling.signal, noAnswer)
      }
    }
  }
}

const read = async (response: Response, { accept, onProgress }: Handling): Promise<unknown> => {
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("text/event-stream") && response.body !== null) {
    const last = await readEvents(response.body, onProgress ?? (() => {}))
    if (last === undefined) throw new Error("The stream ended before its result")
    return JSON.parse(last)
  }
  if (type.includes("json")) return response.json()
  if (accept === undefined) throw new Error(`Status ${response.status} with content of type "${type}"`)
  return type.startsWith("text/") ? response.text() : response.blob()
}

const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === "object" && answer !== null && "error" in answer && answer.error === true && "code" in answer

const pause = (
  delayMs: number,
  signal: AbortSignal | undefined,
  noAnswer: (reason: unknown) => NoAnswerError
): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(noAnswer(signal!.reason))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted)
      resolve()
    }, delayMs)
    signal?.addEventListener("abort", aborted, { once: true })
  })
