/**
 * Errors on the wire: RFC 9457 problem details that also carry `error`, `code`, `message` and `request_id`.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"

/** Every code there is, under its status. */
export const codesByStatus = {
  400: ["BAD_REQUEST"],
  401: ["UNAUTHORIZED"],
  402: ["INSUFFICIENT_FUNDS", "BUDGET_EXCEEDED"],
  403: ["FORBIDDEN", "ACCOUNT_FROZEN"],
  404: ["NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  408: ["REQUEST_TIMEOUT"],
  409: [
    "DUPLICATE",
    "IDEMPOTENCY_CONFLICT",
    "INSUFFICIENT_PLATFORM_FUNDS",
    "PRICE_CHANGED",
    "DEBT_OUTSTANDING",
    "RECOVERED_BY_CHARGEBACK"
  ],
  410: ["TOOL_WITHDRAWN", "ANSWER_NOT_KEPT"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
  422: [
    "VALIDATION_ERROR",
    "BELOW_MINIMUM",
    "BLOCKED_ENDPOINT",
    "CAP_REQUIRED",
    "LOAD_LIMIT_REACHED",
    "NOT_WITHDRAWABLE"
  ],
  429: ["RATE_LIMITED"],
  431: ["HEADERS_TOO_LARGE"],
  500: ["INTERNAL_ERROR"],
  502: ["PROVIDER_ERROR"],
  503: ["UNAVAILABLE", "NOT_CONFIGURED"],
  504: ["PROXY_TIMEOUT"]
} as const

export type ProblemStatus = keyof typeof codesByStatus
export type ProblemCode = (typeof codesByStatus)[ProblemStatus][number]

export const titles: Record<ProblemStatus, string> = {
  400: "Bad request",
  401: "Unauthorized",
  402: "Payment required",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timed out",
  409: "Conflict",
  410: "Gone",
  413: "Payload too large",
  415: "Unsupported media type",
  422: "Unprocessable content",
  429: "Too many requests",
  431: "Headers too large",
  500: "Internal error",
  502: "Provider error",
  503: "Unavailable",
  504: "Provider timed out"
}

/** Where the docs say what a code means and what to do. */
export const problemType = (baseUrl: string, code: ProblemCode): string => `${baseUrl}/docs#${problemAnchor(code)}`
export const problemAnchor = (code: ProblemCode): string => `error-${code}`

const Fault = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
}).annotate({ identifier: "Fault" })

const RetryAfter = { retry_after_seconds: Schema.optionalKey(Schema.Int) }
const FailedCall = {
  tool: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(Schema.String),
  latency_ms: Schema.optionalKey(Schema.Int),
  attempts: Schema.optionalKey(Schema.Int),
  cost_cents: Schema.optionalKey(Schema.Int),
  cost_microcents: Schema.optionalKey(Schema.Int),
  receipt_id: Schema.optionalKey(ReceiptId),
  outcome: Schema.optionalKey(ReceiptStatus),
  problem: Schema.optionalKey(Schema.String),
  provider_status: Schema.optionalKey(Schema.Int),
  provider_error: Schema.optionalKey(Schema.Unknown)
}

/** What problems of a status may say besides; which code brings which is in the mapping of the pipeline. */
const extras: Partial<Record<ProblemStatus, Schema.Struct.Fields>> = {
  402: {
    cost_microcents: Schema.optionalKey(Schema.Int),
    cost_cents: Schema.optionalKey(Schema.Int),
    balance_microcents: Schema.optionalKey(Schema.Int),
    balance_cents: Schema.optionalKey(Schema.Int),
    load_balance_url: Schema.optionalKey(Schema.String),
    budget_id: Schema.optionalKey(Schema.String),
    cap_microcents: Schema.optionalKey(Schema.Int),
    left_microcents: Schema.optionalKey(Schema.Int),
    resets_at: Schema.optionalKey(Schema.NullOr(Schema.String))
  },
  409: {
    ...RetryAfter,
    owed_cents: Schema.optionalKey(Schema.Int),
    chargeback_id: Schema.optionalKey(Schema.String),
    price_microcents: Schema.optionalKey(Schema.Int),
    max_cost_microcents: Schema.optionalKey(Schema.Int),
    needed_microcents: Schema.optionalKey(Schema.Int),
    platform_funds_microcents: Schema.optionalKey(Schema.Int),
    platform_funds_cents: Schema.optionalKey(Schema.Int),
    price_version: Schema.optionalKey(Schema.Int),
    candidates: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          qualified_name: Schema.String,
          tool_id: Schema.String,
          provider_id: Schema.String,
          provider: Schema.String
        })
      )
    )
  },
  410: {
    cost_cents: FailedCall.cost_cents,
    cost_microcents: FailedCall.cost_microcents,
    receipt_id: FailedCall.receipt_id,
    outcome: FailedCall.outcome,
    tool_id: Schema.optionalKey(Schema.String),
    withdrawn_at: Schema.optionalKey(Schema.String)
  },
  422: {
    ...FailedCall,
    price_microcents: Schema.optionalKey(Schema.Int),
    max_cost_microcents: Schema.optionalKey(Schema.Int),
    withdrawable_cents: Schema.optionalKey(Schema.Int),
    limit_cents: Schema.optionalKey(Schema.Int),
    left_cents: Schema.optionalKey(Schema.Int),
    retry_at: Schema.optionalKey(Schema.String),
    minimum_cents: Schema.optionalKey(Schema.Int),
    payout_balance_cents: Schema.optionalKey(Schema.Int),
    connect_url: Schema.optionalKey(Schema.String),
    registered: Schema.optionalKey(Schema.Literal(0)),
    errors: Schema.optionalKey(Schema.Int),
    tools: Schema.optionalKey(Schema.Tuple([])),
    tool_errors: Schema.optionalKey(Schema.Array(Schema.Struct({ tool_name: Schema.String, error: Schema.String })))
  },
  429: {
    ...RetryAfter,
    limit: Schema.optionalKey(Schema.Literal("calls_in_flight")),
    calls_in_flight_max: Schema.optionalKey(Schema.Int)
  },
  502: { ...RetryAfter, ...FailedCall },
  503: { ...RetryAfter, ...FailedCall },
  504: FailedCall
}

const schemaOf = (status: ProblemStatus) =>
  Schema.Struct({
    type: Schema.String,
    title: Schema.String,
    status: Schema.Literal(status),
    detail: Schema.String,
    instance: Schema.String,
    error: Schema.Literal(true),
    code: Schema.Literals(codesByStatus[status]),
    message: Schema.String,
    request_id: Schema.String,
    details: Schema.optionalKey(Schema.Array(Fault)),
    ...extras[status]
  })
    .annotate({ identifier: `Problem${status}`, description: titles[status] })
    .pipe(HttpApiSchema.asJson({ contentType: "application/problem+json" }), HttpApiSchema.status(status))

const cache = new Map<ProblemStatus, ReturnType<typeof schemaOf>>()
const problemSchema = (status: ProblemStatus) => {
  const known = cache.get(status) ?? schemaOf(status)
  cache.set(status, known)
  return known
}

/** The errors that an endpoint may answer with; 422 (an unknown query parameter), 429, 500 and 503 may come from any. */
export const problems = (...statuses: ReadonlyArray<ProblemStatus>) =>
  [...new Set<ProblemStatus>([...statuses, 422, 429, 500, 503])].toSorted((a, b) => a - b).map(problemSchema)
