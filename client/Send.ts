/**
 * Sends a request, again where that is safe, and reads its answer.
 */
import { NoAnswerError, type Problem, ProblemError } from "./Problem.ts"

export interface SendOptions {
  /** API key of a consumer, a provider or the operator. */
  readonly key?: string | undefined
  /** Attempts per request. Default: 3. */
  readonly attemptsMax?: number | undefined
  /** Limit of one attempt. Default: 120,000. */
  readonly timeoutMs?: number | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

interface OutgoingRequest {
  readonly method: string
  readonly url: string
  readonly payload: unknown
  readonly takesKey: boolean
}

interface Handling {
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly accept?: string | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
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
    const isAborted = () => handling.signal?.aborted === true
    if (isAborted()) throw noAnswer(handling.signal?.reason)
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
        if (isAborted()) throw noAnswer(handling.signal?.reason)
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

// When a request is sent again, and after how long. A request that may have been executed is only repeated with the same
// Idempotency-Key, or if it changes nothing.

const FIRST_DELAY_MS = 250
export const DELAY_MS_MAX = 30_000

/** Undefined: do not retry. `attempt`: number of the attempt that failed, from 1. */
const delayAfterProblem = (problem: Problem, attempt: number, isRepeatable: boolean): number | undefined => {
  const wantedMs = "retry_after_seconds" in problem ? (problem.retry_after_seconds ?? 0) * 1_000 : undefined
  if (!isRetryable(problem, isRepeatable)) return undefined
  if (wantedMs !== undefined && wantedMs > DELAY_MS_MAX) return undefined
  return Math.max(wantedMs ?? 0, backoffMs(attempt))
}

const isRetryable = (problem: Problem, isRepeatable: boolean): boolean => {
  switch (problem.code) {
    // Nothing was executed.
    case "RATE_LIMITED":
      return true
    // A problem with a receipt is the outcome of a call, which a retry repeats.
    case "UNAVAILABLE":
      return isRepeatable && problem.receipt_id === undefined
    case "INTERNAL_ERROR":
      return isRepeatable
    case "IDEMPOTENCY_CONFLICT":
      return isInFlight(problem)
    default:
      return false
  }
}

/** The first request with this key is still being executed. */
const isInFlight = (problem: Problem): boolean =>
  problem.code === "IDEMPOTENCY_CONFLICT" && problem.retry_after_seconds !== undefined

/** Exponential, with jitter: between half and all of it. */
export const backoffMs = (attempt: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), DELAY_MS_MAX) * (0.5 + Math.random() / 2)

// Reads the server-sent events of a call: progress events, then the result or a problem.

/** Progress of a call, in the tool's own unit. Without `total` the end is not known. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

const EVENT_CHARS_MAX = 16_777_216

/** The text of the last event. Undefined if the stream ended before it. */
const readEvents = async (
  body: ReadableStream<Uint8Array>,
  onProgress: (progress: Progress) => void
): Promise<string | undefined> => {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  let buffer = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      buffer += value
      const events = buffer.split("\n\n")
      buffer = events.pop()!
      if (buffer.length > EVENT_CHARS_MAX) throw new Error("An event of the stream is longer than 16 MiB.")
      for (const event of events) {
        const lines = event.split("\n")
        const data = lines
          .filter((line) => line.startsWith("data: "))
          .map((line) => line.slice(6))
          .join("\n")
        if (lines.includes("event: progress")) report(onProgress, JSON.parse(data) as Progress)
        else if (lines.includes("event: result") || lines.includes("event: problem")) return data
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** An error of the callback must not lose the result of a call that is paid for. */
const report = (onProgress: (progress: Progress) => void, progress: Progress): void => {
  try {
    onProgress(progress)
  } catch {
    // The callback is the caller's code: its error does not end the call.
  }
}
