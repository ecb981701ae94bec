/**
 * Error codes, their HTTP statuses, and where the documentation explains them.
 */
/** Every code, under its status. */
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
export type StatusOf<Code extends ProblemCode> = {
  [Status in ProblemStatus]: Code extends (typeof codesByStatus)[Status][number] ? Status : never
}[ProblemStatus]

/** Codes that an endpoint declares by name. Each other code comes with its status. */
export const namedCodes = [
  "ACCOUNT_FROZEN",
  "DUPLICATE",
  "IDEMPOTENCY_CONFLICT",
  "INSUFFICIENT_PLATFORM_FUNDS",
  "PRICE_CHANGED",
  "DEBT_OUTSTANDING",
  "RECOVERED_BY_CHARGEBACK",
  "ANSWER_NOT_KEPT",
  "BELOW_MINIMUM",
  "BLOCKED_ENDPOINT",
  "CAP_REQUIRED",
  "LOAD_LIMIT_REACHED",
  "NOT_WITHDRAWABLE",
  "NOT_CONFIGURED"
] as const satisfies ReadonlyArray<ProblemCode>
export type NamedCode = (typeof namedCodes)[number]
/** What an endpoint declares, as a status. */
export type DeclaredStatus<Problem> = Problem extends ProblemCode ? StatusOf<Problem> : Extract<Problem, ProblemStatus>

export const statusOf = <Code extends ProblemCode>(code: Code) => {
  const [status] = Object.entries(codesByStatus).find(([, codes]) => (codes as ReadonlyArray<string>).includes(code))!
  return Number(status) as StatusOf<Code>
}

/** Name of a problem's schema in the OpenAPI document. */
export const schemaNameOf = (status: ProblemStatus, code: ProblemCode): string =>
  codesByStatus[status].length === 1 ? `Problem${status}` : `Problem${status}_${code}`

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

/** The page that documents every code. */
export const ERRORS_PAGE = "/docs/errors"

/** Documentation of a code: what it means and what to do. */
export const problemType = (baseUrl: string, code: ProblemCode): string =>
  `${baseUrl}${ERRORS_PAGE}#${problemAnchor(code)}`
export const problemAnchor = (code: ProblemCode): string => `error-${code}`
