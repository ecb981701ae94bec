/**
 * Failures of requests: problems that the service answers with, and requests that got no answer.
 */
import type { Schemas } from "./Contract.ts"

/** Any problem of the API. `code` decides which fields it has. */
export type Problem = {
  readonly [Name in keyof Schemas as Name extends `Problem${number}${string}` ? Name : never]: Schemas[Name]
} extends infer Problems
  ? Problems[keyof Problems]
  : never

/** Every code that a problem document can have. Compare with it to decide what to do. */
export type ProblemCode = Problem["code"]

/** The service rejected the request, or a proxied call failed. Branch on `code`. */
export class ProblemError extends Error {
  override readonly name = "ProblemError"
  readonly code: ProblemCode
  readonly problem: Problem
  /** To repeat the request, for example after `UNAVAILABLE`: with the same key it is executed at most once. */
  readonly idempotencyKey: string | undefined
  constructor(problem: Problem, idempotencyKey: string | undefined) {
    super(problem.message)
    this.code = problem.code
    this.problem = problem
    this.idempotencyKey = idempotencyKey
  }
}

/** One of these errors: a comparison of `code` decides which fields `problem` has. */
export type ProblemErrorOf<Code> = Code extends ProblemCode
  ? ProblemError & { readonly code: Code; readonly problem: Extract<Problem, { readonly code: Code }> }
  : never

/**
 * The service did not answer, or with something else than this API, or the request was aborted. It may have been executed:
 * repeat it with the same `idempotencyKey`.
 */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError"
  readonly idempotencyKey: string | undefined
  constructor(message: string, idempotencyKey: string | undefined, cause: unknown) {
    super(message, { cause })
    this.idempotencyKey = idempotencyKey
  }
}
