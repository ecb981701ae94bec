/**
 * The one place where errors of the domain and of the pipeline get their HTTP status, code and extra fields.
 */
import type { AlreadyRegistered, ToolsRefused } from "../../../domain/accounts/Registration.ts"
import type { Unauthorized } from "../../../domain/accounts/Authentication.ts"
import type { ExpiryInThePast, KeyNotFound, LastKey, TooManyKeys } from "../../../domain/accounts/Keys.ts"
import type { IdempotencyConflict } from "../../../domain/shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../../../domain/shared/IdempotencyStore.ts"
import { type ProblemCode, type ProblemStatus, titles } from "../api/Problem.ts"
import type {
  BadRequest,
  Fault,
  MethodNotAllowed,
  NoToolRegistered,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  RouteNotFound,
  UnsupportedMediaType,
  ValidationFailed,
  WrongRole
} from "./Failures.ts"
import type { WebAnswer } from "./WebRequest.ts"

/** Whatever a handler may fail with. A new error without a row below does not compile. */
export type Refusal =
  | AlreadyRegistered
  | BadRequest
  | ExpiryInThePast
  | IdempotencyConflict
  | IdempotencyInFlight
  | KeyNotFound
  | LastKey
  | MethodNotAllowed
  | NoToolRegistered
  | NotFound
  | PayloadTooLarge
  | RateLimited
  | RouteNotFound
  | ToolsRefused
  | TooManyKeys
  | Unauthorized
  | UnsupportedMediaType
  | ValidationFailed
  | WrongRole

export interface Problem {
  readonly status: ProblemStatus
  readonly code: ProblemCode
  readonly message: string
  readonly details?: ReadonlyArray<Fault>
  readonly headers?: Readonly<Record<string, string>>
  readonly extra?: Readonly<Record<string, unknown>>
}

type Mapping = { readonly [R in Refusal as R["_tag"]]: (refusal: R) => Omit<Problem, "message"> }

const mapping: Mapping = {
  AlreadyRegistered: () => ({ status: 409, code: "DUPLICATE" }),
  BadRequest: () => ({ status: 400, code: "BAD_REQUEST" }),
  ExpiryInThePast: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["expires_at"], message: e.message }]
  }),
  IdempotencyConflict: () => ({ status: 409, code: "IDEMPOTENCY_CONFLICT" }),
  IdempotencyInFlight: (e) => ({
    status: 409,
    code: "IDEMPOTENCY_CONFLICT",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  KeyNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  LastKey: () => ({ status: 409, code: "DUPLICATE" }),
  MethodNotAllowed: (e) => ({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: e.allow.join(", ") } }),
  NoToolRegistered: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.map((tool) => ({ path: ["tools", tool.index], message: `${tool.tool_name}: ${tool.error}` })),
    extra: {
      registered: 0,
      errors: e.tools.length,
      tools: [],
      tool_errors: e.tools.map(({ tool_name, error }) => ({ tool_name, error }))
    }
  }),
  NotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  PayloadTooLarge: () => ({ status: 413, code: "PAYLOAD_TOO_LARGE", headers: { connection: "close" } }),
  RateLimited: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  RouteNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  ToolsRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.map((tool) => ({ path: ["tools", tool.index], message: `${tool.tool_name}: ${tool.error}` }))
  }),
  TooManyKeys: () => ({ status: 422, code: "VALIDATION_ERROR" }),
  Unauthorized: () => ({ status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } }),
  UnsupportedMediaType: () => ({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE", headers: { accept: "application/json" } }),
  ValidationFailed: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: e.faults }),
  WrongRole: () => ({ status: 403, code: "FORBIDDEN" })
}

export const problemOf = <R extends Refusal>(refusal: R): Problem => ({
  ...(mapping[refusal._tag] as (refusal: R) => Omit<Problem, "message">)(refusal),
  message: refusal.message
})

/** A defect: whatever it was, the caller learns only that it was ours, and the id to ask about. */
export const internalError: Problem = {
  status: 500,
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side. Nothing was charged twice; the request id names the case."
}

/** The store does not answer. */
export const unavailable: Problem = {
  status: 503,
  code: "UNAVAILABLE",
  message: "The service cannot reach its database at the moment. Try again in a few seconds.",
  headers: { "retry-after": "2" },
  extra: { retry_after_seconds: 2 }
}

export const toAnswer = (problem: Problem, requestId: string, instance: string): WebAnswer => ({
  status: problem.status,
  headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...problem.headers },
  body: JSON.stringify({
    type: `urn:agent-tool-billing:problem:${problem.code.toLowerCase().replaceAll("_", "-")}`,
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
