/**
 * Problem documents (RFC 9457). A room has a table of problems: one row for each error of its services, with status, code, and what
 * a client may do next over HTTP. The message is the error's own. Rows that many rooms need are here.
 */
import type { Effect } from "effect"
import type { Authentication } from "../../../domain/accounts/Authentication.ts"
import type { ExpiryInThePast, KeyNotFound } from "../../../domain/accounts/Keys.ts"
import type { ProviderNotFound } from "../../../domain/accounts/ProviderDirectory.ts"
import type { RunNotFound } from "../../../domain/accounts/Levels.ts"
import {
  SCHEMA_CHECKS_CPU_MS_MAX,
  type SchemaBudgetSpent,
  type SchemaChecksLimited
} from "../../../domain/catalog/JsonSchemas.ts"
import type { PaymentFailed, PaymentsNotConfigured } from "../../../domain/ledger/PaymentGateway.ts"
import type { FundsTooLow } from "../../../domain/ledger/PlatformFunds.ts"
import type { AccountFrozen } from "../../../domain/metering/CallRejections.ts"
import type { OperatorSessions } from "../../../domain/operator/OperatorSessions.ts"
import type { SignerUnavailable } from "../../../domain/receipts/Receipts.ts"
import type { IdempotencyConflict, IdempotencyInFlight } from "../../../domain/shared/Idempotency.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import { escapeHiddenJson } from "../../../domain/shared/PlainText.ts"
import type { ProviderUnknown } from "../../../domain/trust/Trust.ts"
import { prefixOf } from "../contract/BaseUrl.ts"
import { type NamedCode, type ProblemCode, type ProblemStatus, problemType, titles } from "../contract/Problem.ts"
import type * as Failures from "./Failures.ts"
import type { WebResponse } from "./WebRequest.ts"

export interface Problem {
  readonly status: ProblemStatus
  readonly code: ProblemCode
  readonly message: string
  readonly details?: ReadonlyArray<Failures.Fault>
  readonly headers?: Readonly<Record<string, string>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** `hint`: where to look or what to call next; appended to the message. `message`: instead of one for operators. */
export type ProblemRow<Status extends ProblemStatus = ProblemStatus, Code extends ProblemCode = ProblemCode> = Omit<
  Problem,
  "code" | "message" | "status"
> & {
  readonly status: Status
  readonly code: Code
  readonly hint?: string
  readonly message?: string
}

/** Rows by the tag of the error. */
export type ProblemTable = Readonly<Record<string, (error: never, baseUrl: string) => ProblemRow>>

type Tagged = Error & { readonly _tag: string }

type RowsFor<E extends Tagged> = {
  readonly [One in E as One["_tag"]]: (error: One, baseUrl: string) => ProblemRow
}

type ErrorOf<Member> = Member extends (...input: never) => infer Returned
  ? ErrorOf<Returned>
  : Member extends Effect.Effect<unknown, infer E, unknown>
    ? E
    : never

type ErrorOfService<S> = S extends { readonly Service: infer Shape }
  ? { [Name in keyof Shape]: ErrorOf<Shape[Name]> }[keyof Shape]
  : never

/**
 * The table of a room: one row for each error of the services that its handlers call, except those of every request. A missing row
 * and one for another error do not compile.
 */
export type ProblemsOf<Services, Own extends Tagged = never> = RowsFor<
  Own | Exclude<Extract<ErrorOfService<Services>, Tagged>, RequestError>
>

type ErrorIn<Module> = {
  [Name in keyof Module]: Module[Name] extends abstract new (...input: never) => infer E ? Extract<E, Tagged> : never
}[keyof Module]

/** Errors of the request itself, and those that handlers of many rooms fail with. */
export type RequestError =
  | ErrorIn<typeof Failures>
  | Extract<ErrorOfService<Authentication | OperatorSessions>, Tagged>
  | IdempotencyConflict
  | IdempotencyInFlight
  | SignerUnavailable
  | KeyNotFound
  | ExpiryInThePast
  | SchemaBudgetSpent
  | SchemaChecksLimited
  | AccountFrozen
  | RunNotFound
  | FundsTooLow
  | PaymentFailed
  | PaymentsNotConfigured
  | ProviderNotFound
  | ProviderUnknown

/**
 * The errors of a table whose problems have one of these statuses and, if their code is declared by name, one of these names; and
 * those of every request that have.
 */
export type ErrorDeclared<Table, Status, Named = NamedCode> =
  | { [Tag in keyof Table & string]: InRow<Tag, Table[Tag], Status, Named> }[keyof Table & string]
  | {
      [One in RequestError as One["_tag"]]: IsDeclared<RequestProblems[One["_tag"]], Status, Named, One>
    }[RequestError["_tag"]]

type InRow<Tag extends string, Row, Status, Named> = Row extends (...given: infer Given) => unknown
  ? IsDeclared<
      Row,
      Status,
      Named,
      ErrorWithTag<Tag, Given extends readonly [infer E, ...ReadonlyArray<unknown>] ? E : unknown>
    >
  : never
type ErrorWithTag<Tag, E> = E extends { readonly _tag: Tag } ? E : Error & { readonly _tag: Tag }
type IsDeclared<Row, Status, Named, E> = Row extends (...given: never) => {
  readonly status: infer Own
  readonly code: infer Code
}
  ? [Own] extends [Status]
    ? [Extract<Code, NamedCode>] extends [Named]
      ? E
      : never
    : never
  : never

// Rows that many tables have.

const row =
  <Status extends ProblemStatus, Code extends ProblemCode>(status: Status, code: Code) =>
  <E = unknown>(hint?: string): ((error: E) => ProblemRow<Status, Code>) => {
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
  ({ message }: { readonly message: string }): ProblemRow<422, "VALIDATION_ERROR"> => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path, message }]
  })

const retryAfter = (seconds: number) => ({
  headers: { "retry-after": String(seconds) },
  extra: { retry_after_seconds: seconds }
})

export const unavailableFor = (seconds: number): ProblemRow<503, "UNAVAILABLE"> => ({
  status: 503,
  code: "UNAVAILABLE",
  ...retryAfter(seconds)
})

export const inFlight = (error: { readonly retryAfterSeconds: number }): ProblemRow<409, "IDEMPOTENCY_CONFLICT"> => ({
  status: 409,
  code: "IDEMPOTENCY_CONFLICT",
  ...retryAfter(error.retryAfterSeconds)
})

/** A limit on a period other than a minute has no `X-RateLimit-Remaining`. */
export const tooMany = (limit: number, retryAfterSeconds: number): ProblemRow<429, "RATE_LIMITED"> => ({
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
): ProblemRow<429, "RATE_LIMITED"> => ({
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

const UNAVAILABLE_RETRY_AFTER_SECONDS = 2
const LATE_RETRY_AFTER_SECONDS = 5
const SEND_KEY = "Send the key as `Authorization: Bearer <key>`."
const unauthorized: ProblemRow<401, "UNAUTHORIZED"> = {
  status: 401,
  code: "UNAUTHORIZED",
  headers: { "www-authenticate": "Bearer" }
}

const cannot = (what: string): string =>
  `The service cannot ${what} at the moment. Try again in a few seconds: what is sent again with the same Idempotency-Key is done once.`

type RequestProblems = typeof requestProblems

const requestProblems = {
  BadRequest: (e) => ({
    status: 400,
    code: "BAD_REQUEST",
    ...(e.faults === undefined ? {} : { details: e.faults })
  }),
  IdempotencyConflict: keyConflict(),
  IdempotencyInFlight: inFlight,
  MethodNotAllowed: (e, baseUrl) => ({
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    message: `${prefixOf(baseUrl)}${e.message}`,
    headers: { allow: e.allow.join(", ") }
  }),
  NotFound: notFound(),
  NotFromOwnPage: forbidden(),
  OperatorDisabled: notConfigured("The operator can set OPERATOR_KEY and restart the service."),
  RequestTimedOut: () => unavailableFor(LATE_RETRY_AFTER_SECONDS),
  PathRejected: (e) => ({ status: 404, code: "NOT_FOUND", details: e.faults }),
  PayloadTooLarge: () => ({ status: 413, code: "PAYLOAD_TOO_LARGE", headers: { connection: "close" } }),
  RateLimited: (e) => limitReached(e.limit, e.retryAfterSeconds, e.resetAfterSeconds),
  RouteNotFound: notFound(),
  StoreUnavailable: () => ({
    ...unavailableFor(UNAVAILABLE_RETRY_AFTER_SECONDS),
    message: cannot("reach its database")
  }),
  UnsupportedMediaType: () => ({
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    headers: { accept: "application/json" }
  }),
  ValidationFailed: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: e.faults }),
  SignerUnavailable: () => ({
    ...unavailableFor(LATE_RETRY_AFTER_SECONDS),
    message: cannot("sign or verify receipts")
  }),

  AuthorizationRejected: () => ({ ...unauthorized, hint: SEND_KEY }),
  ExpiryInThePast: invalidField("expires_at"),
  KeyNotFound: notFound("GET /api/v1/market/keys lists your keys."),
  MetricsRejected: () => unauthorized,
  SessionEnded: () => unauthorized,
  Unauthorized: ({ reason }) => (reason === "missing" ? { ...unauthorized, hint: SEND_KEY } : unauthorized),
  WrongOperatorKey: () => ({ ...unauthorized, hint: "It is the value of OPERATOR_KEY." }),
  RunNotFound: notFound("GET /api/v1/market/runs lists your runs."),
  RunRejected: forbidden(),
  ScopeMissing: forbidden(),
  WrongRole: forbidden(),

  SchemaBudgetSpent: (e) => unavailableFor(e.retryAfterSeconds),
  SchemaChecksLimited: (e) => tooMany(SCHEMA_CHECKS_CPU_MS_MAX[e.of], e.retryAfterSeconds),

  AccountFrozen: () => ({
    status: 403,
    code: "ACCOUNT_FROZEN",
    hint: "GET /api/v1/market/whoami shows the reason; POST /api/market/balance/load pays a debt."
  }),
  FundsTooLow: (e) => ({
    status: 409,
    code: "INSUFFICIENT_PLATFORM_FUNDS",
    extra: {
      needed_microcents: Number(e.neededMicrocents),
      platform_funds_microcents: Number(e.availableMicrocents),
      platform_funds_cents: toCents(e.availableMicrocents)
    }
  }),
  PaymentFailed: providerError(),
  PaymentsNotConfigured: notConfigured("The operator can set PAYMENTS=stripe."),

  ProviderNotFound: notFound("GET /api/market/catalog lists tools with their providers."),
  ProviderUnknown: notFound()
} satisfies RowsFor<RequestError>

/** `own`: the table of the room whose handler failed. */
export const problemOf = (error: Tagged, baseUrl: string, own: ProblemTable = {}): Problem => {
  const rowOf = (own[error._tag] ?? (requestProblems as ProblemTable)[error._tag]) as
    | ((error: Tagged, baseUrl: string) => ProblemRow)
    | undefined
  // An adapter that was not compiled may fail with anything.
  if (rowOf === undefined) return internalError
  const { hint, message = error.message, ...problem } = rowOf(error, baseUrl)
  const prefix = prefixOf(baseUrl)
  // The message of another problem may be a provider's.
  const said = problem.status === 404 ? belowPrefix(message, prefix) : message
  return { ...problem, message: hint === undefined ? said : `${said} ${belowPrefix(hint, prefix)}` }
}

/** Where another app mounts the API, paths in the text are those that its clients request. */
const belowPrefix = (text: string, prefix: string): string =>
  prefix === "" ? text : text.replaceAll(/(?<=\b(?:GET|POST|PUT|DELETE|at) )\//gu, `${prefix}/`)

/** A defect. Its cause is in the log, with the request id. */
export const internalError: Problem = {
  status: 500,
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side. Nothing was charged twice; the request id names the case."
}

export const toAnswer = (problem: Problem, requestId: string, instance: string, baseUrl: string): WebResponse => ({
  status: problem.status,
  headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...problem.headers },
  body: escapeHiddenJson(
    JSON.stringify({
      type: problemType(baseUrl, problem.code),
      title: titles[problem.status],
      status: problem.status,
      detail: problem.message,
      instance: `${prefixOf(baseUrl)}${instance}`,
      error: true,
      code: problem.code,
      message: problem.message,
      request_id: requestId,
      ...(problem.details === undefined ? {} : { details: problem.details }),
      ...problem.extra
    })
  )
})
