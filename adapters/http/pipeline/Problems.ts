/**
 * Problem documents (RFC 9457), and the problems that do not come from a typed failure.
 */
import { type ProblemCode, type ProblemStatus, problemType, titles } from "../api/Problem.ts"
import type { Fault } from "./Failures.ts"
import type { WebResponse } from "./WebRequest.ts"

export interface Problem {
  readonly status: ProblemStatus
  readonly code: ProblemCode
  readonly message: string
  readonly details?: ReadonlyArray<Fault>
  readonly headers?: Readonly<Record<string, string>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A defect. Its cause is in the log, with the request id. */
export const internalError: Problem = {
  status: 500,
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side. Nothing was charged twice; the request id names the case."
}

export const toAnswer = (problem: Problem, requestId: string, instance: string, baseUrl: string): WebResponse => ({
  status: problem.status,
  headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...problem.headers },
  body: JSON.stringify({
    type: problemType(baseUrl, problem.code),
    title: titles[problem.status],
    status: problem.status,
    detail: problem.message,
    instance,
    error: true,
    code: problem.code,
    message: problem.message,
    request_id: requestId,
    ...(problem.details === undefined ? {} : { details: problem.details }),
    ...problem.extra
  })
})
