/**
 * Maps errors of the domain to problems: one row per error with status, code, and what a client may do next over HTTP. The
 * message is the error's own.
 */
import type { ProblemCode, ProblemStatus } from "../contract/Problem.ts"
import type { Fault } from "./Failures.ts"
import type { HandlerError } from "./HandlerErrors.ts"

export interface Problem {
  readonly status: ProblemStatus
  readonly code: ProblemCode
  readonly message: string
  readonly details?: ReadonlyArray<Fault>
  readonly headers?: Readonly<Record<string, string>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** `hint`: where to look or what to call next; appended to the message. `message`: instead of one for operators. */
export type ProblemRow<Status extends ProblemStatus = ProblemStatus> = Omit<Problem, "message" | "status"> & {
  readonly status: Status
  readonly hint?: string
  readonly message?: string
}

export type ProblemTable = {
  readonly [E in HandlerError as E["_tag"]]: (error: E, baseUrl: string) => ProblemRow
}

const row =
  <Status extends ProblemStatus>(status: Status, code: ProblemCode) =>
  (hint?: string): (() => ProblemRow<Status>) => {
    const same = hint === undefined ? { status, code } : { status, code, hint }
    return () => same
  }

export const forbidden = row(403, "FORBIDDEN")
export const notFound = row(404, "NOT_FOUND")
export const duplicate = row(409, "DUPLICATE")
export const keyConflict = row(409, "IDEMPOTENCY_CONFLICT")
export const invalid = row(422, "VALIDATION_ERROR")
export const providerError = row(502, "PROVIDER_ERROR")
export const notConfigured = row(503, "NOT_CONFIGURED")

export const invalidField =
  (...path: ReadonlyArray<string>) =>
  ({ message }: { readonly message: string }): ProblemRow<422> => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path, message }]
  })

export const retryAfter = (seconds: number) => ({
  headers: { "retry-after": String(seconds) },
  extra: { retry_after_seconds: seconds }
})

export const unavailableFor = (seconds: number): ProblemRow<503> => ({
  status: 503,
  code: "UNAVAILABLE",
  ...retryAfter(seconds)
})

export const inFlight = (error: { readonly retryAfterSeconds: number }): ProblemRow<409> => ({
  status: 409,
  code: "IDEMPOTENCY_CONFLICT",
  ...retryAfter(error.retryAfterSeconds)
})

/** Too many of something in a period other than a minute: no `X-RateLimit-Remaining`. */
export const tooMany = (limit: number, retryAfterSeconds: number): ProblemRow<429> => ({
  status: 429,
  code: "RATE_LIMITED",
  headers: { "retry-after": String(retryAfterSeconds), "x-ratelimit-limit": String(limit) },
  extra: { retry_after_seconds: retryAfterSeconds }
})

/** A limit that is used up; the whole limit is available again after `resetSeconds`. */
export const limitReached = (
  limit: number,
  retryAfterSeconds: number,
  resetSeconds: number,
  extra: Readonly<Record<string, unknown>> = {}
): ProblemRow<429> => ({
  status: 429,
  code: "RATE_LIMITED",
  headers: {
    "retry-after": String(retryAfterSeconds),
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(resetSeconds)
  },
  extra: { retry_after_seconds: retryAfterSeconds, ...extra }
})
