/**
 * When a request is sent again, and after how long. A request that may have been executed is only repeated with the same
 * Idempotency-Key, or if it changes nothing.
 */
import type { Problem } from "./Problem.ts"

const FIRST_DELAY_MS = 250
export const DELAY_MS_MAX = 30_000

/** Undefined: do not retry. `attempt`: number of the attempt that failed, from 1. */
export const delayAfterProblem = (problem: Problem, attempt: number, isRepeatable: boolean): number | undefined => {
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
export const isInFlight = (problem: Problem): boolean =>
  problem.code === "IDEMPOTENCY_CONFLICT" && problem.retry_after_seconds !== undefined

/** Exponential, with jitter: between half and all of it. */
export const backoffMs = (attempt: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), DELAY_MS_MAX) * (0.5 + Math.random() / 2)
