/**
 * Errors on the wire: RFC 9457 problem details that also carry `error`, `code`, `message` and `request_id`.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** Every code there is, under its status. */
export const codesByStatus = {
  400: ["BAD_REQUEST"],
  401: ["UNAUTHORIZED"],
  402: ["INSUFFICIENT_FUNDS", "BUDGET_EXCEEDED"],
  403: ["FORBIDDEN"],
  404: ["NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  409: ["DUPLICATE", "IDEMPOTENCY_CONFLICT", "PRICE_CHANGED"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
  422: ["VALIDATION_ERROR", "BELOW_MINIMUM", "BLOCKED_ENDPOINT"],
  429: ["RATE_LIMITED"],
  500: ["INTERNAL_ERROR"],
  502: ["PROVIDER_ERROR"],
  503: ["UNAVAILABLE", "NOT_CONFIGURED"],
  504: ["PROXY_TIMEOUT"]
} as const

export type ProblemStatus = keyof typeof codesByStatus
export type ProblemCode = typeof codesByStatus[ProblemStatus][number]

export const titles: Record<ProblemStatus, string> = {
  400: "Bad request",
  401: "Unauthorized",
  402: "Payment required",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Payload too large",
  415: "Unsupported media type",
  422: "Unprocessable content",
  429: "Too many requests",
  500: "Internal error",
  502: "Provider error",
  503: "Unavailable",
  504: "Provider timed out"
}

const Fault = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
}).annotate({ identifier: "Fault" })

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
    details: Schema.optionalKey(Schema.Array(Fault))
  }).annotate({
    identifier: `Problem${status}`,
    description: titles[status],
    examples: [{
      type: `urn:agent-tool-billing:problem:${codesByStatus[status][0].toLowerCase()}`,
      title: titles[status],
      status,
      detail: titles[status],
      instance: "/api/market",
      error: true as const,
      code: codesByStatus[status][0],
      message: titles[status],
      request_id: "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9e"
    }]
  }).pipe(HttpApiSchema.asJson({ contentType: "application/problem+json" }), HttpApiSchema.status(status))

const cache = new Map<ProblemStatus, ReturnType<typeof schemaOf>>()
const problemSchema = (status: ProblemStatus) => {
  const known = cache.get(status) ?? schemaOf(status)
  cache.set(status, known)
  return known
}

/** The errors that an endpoint may answer with; 429, 500 and 503 may come from any. */
export const problems = (...statuses: ReadonlyArray<ProblemStatus>) =>
  [...new Set<ProblemStatus>([...statuses, 429, 500, 503])].toSorted((a, b) => a - b).map(problemSchema)
