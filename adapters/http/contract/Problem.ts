/**
 * Error codes, their HTTP statuses, and where the documentation explains them.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { qualifiedName } from "./SharedFields.ts"

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

// Errors on the wire: RFC 9457 problem details that also carry `error`, `code`, `message` and `request_id`.

const Fault = Field.object("Fault", "An invalid field.", {
  path: Field.list(
    Schema.Union([Schema.String, Schema.Int]),
    "Path of the field: names and indexes from the body's root.",
    ["tools", 0, "price_microcents"]
  ),
  message: Field.string("What is wrong and what is expected.", "`amount_cents` is required.")
})

const int = (description: string) => Field.of(Schema.Int, description)
const text = (description: string) => Field.of(Schema.String, description)
const mayInt = (description: string) => Field.optional(Schema.Int, description)
const mayText = (description: string) => Field.optional(Schema.String, description)

const RETRY = "Seconds to wait before the next attempt; also in `Retry-After`."
const retry = { retry_after_seconds: int(RETRY) }
const mayRetry = { retry_after_seconds: mayInt(RETRY) }
const cost = {
  cost_cents: int("Cost of the call in whole cents, rounded toward zero."),
  cost_microcents: int("Cost of the call in microcents (1/10,000 of a cent).")
}
const mayCost = {
  cost_cents: Schema.optionalKey(cost.cost_cents),
  cost_microcents: Schema.optionalKey(cost.cost_microcents)
}
const receiptId = Field.of(ReceiptId, "ID of the call's receipt.")
const outcome = Field.of(ReceiptStatus, "Outcome of the call.")
/** Problems that are no outcome of a call have none of these. */
const failedCall = {
  tool: mayText("Display name of the tool."),
  provider: mayText("Name of the provider."),
  latency_ms: mayInt("Time that the provider took, in milliseconds."),
  attempts: mayInt("Number of attempts to reach the provider."),
  ...mayCost,
  receipt_id: Schema.optionalKey(receiptId),
  outcome: Schema.optionalKey(outcome),
  problem: mayText("Reason why the provider could not be reached."),
  provider_status: mayInt("HTTP status of the provider's response."),
  provider_error: Field.optional(Schema.Unknown, "JSON-RPC error of the provider's response.")
}
const prices = {
  price_microcents: int("List price of a call in microcents."),
  max_cost_microcents: int("Maximum cost of a call in microcents.")
}
const faults = Schema.Array(Fault)

const base = <Code extends ProblemCode, Extra extends Schema.Struct.Fields>(code: Code, extra: Extra) => ({
  type: text("URL of the error code's documentation (RFC 9457)."),
  title: text("Short description, the same for every problem with this status."),
  status: Field.of(Schema.Literal(statusOf(code)), "HTTP status."),
  detail: text("What is wrong with this request, and what to do."),
  instance: text("Path of the request."),
  error: Field.always(true),
  code: Field.of(Schema.Literal(code), "Machine-readable error code. Branch on it."),
  message: text("Same as `detail`."),
  request_id: text("ID of the request, also in `X-Request-Id`. Include it in support requests."),
  details: Field.optional(faults, "Every invalid field."),
  ...extra
})

/** Every code with its extension fields. */
const bodies = {
  BAD_REQUEST: base("BAD_REQUEST", {}),
  UNAUTHORIZED: base("UNAUTHORIZED", {}),
  INSUFFICIENT_FUNDS: base("INSUFFICIENT_FUNDS", {
    ...cost,
    balance_microcents: int("Balance in microcents."),
    balance_cents: int("Balance in whole cents, rounded toward zero."),
    load_balance_url: text("URL for adding funds.")
  }),
  BUDGET_EXCEEDED: base("BUDGET_EXCEEDED", {
    budget_id: text("ID of the exceeded budget."),
    cap_microcents: int("Limit of the budget in microcents."),
    left_microcents: int("Amount left in the budget, in microcents."),
    resets_at: Field.of(Schema.NullOr(Schema.String), "Time when the budget resets. `null`: never.")
  }),
  FORBIDDEN: base("FORBIDDEN", {}),
  ACCOUNT_FROZEN: base("ACCOUNT_FROZEN", {}),
  NOT_FOUND: base("NOT_FOUND", {}),
  METHOD_NOT_ALLOWED: base("METHOD_NOT_ALLOWED", {}),
  REQUEST_TIMEOUT: base("REQUEST_TIMEOUT", {}),
  DUPLICATE: base("DUPLICATE", {
    candidates: Field.optional(
      Schema.Array(
        Schema.Struct({
          qualified_name: qualifiedName,
          tool_id: text("ID of the tool."),
          provider_id: text("ID of the provider."),
          provider: text("Name of the provider.")
        })
      ),
      "Tools with the requested name."
    )
  }),
  IDEMPOTENCY_CONFLICT: base("IDEMPOTENCY_CONFLICT", mayRetry),
  INSUFFICIENT_PLATFORM_FUNDS: base("INSUFFICIENT_PLATFORM_FUNDS", {
    needed_microcents: int("Required platform funds in microcents."),
    platform_funds_microcents: int("Available platform funds in microcents."),
    platform_funds_cents: int("Available platform funds in whole cents, rounded toward zero.")
  }),
  PRICE_CHANGED: base("PRICE_CHANGED", { ...prices, price_version: int("Price version in effect.") }),
  DEBT_OUTSTANDING: base("DEBT_OUTSTANDING", { owed_cents: int("Debt of the account in cents.") }),
  RECOVERED_BY_CHARGEBACK: base("RECOVERED_BY_CHARGEBACK", {
    chargeback_id: text("ID of the chargeback at the payment processor.")
  }),
  TOOL_WITHDRAWN: base("TOOL_WITHDRAWN", {
    tool_id: text("ID of the tool."),
    withdrawn_at: text("Time when the provider withdrew the tool.")
  }),
  ANSWER_NOT_KEPT: base("ANSWER_NOT_KEPT", { ...cost, receipt_id: receiptId, outcome }),
  PAYLOAD_TOO_LARGE: base("PAYLOAD_TOO_LARGE", {}),
  UNSUPPORTED_MEDIA_TYPE: base("UNSUPPORTED_MEDIA_TYPE", {}),
  VALIDATION_ERROR: base("VALIDATION_ERROR", {
    connect_url: mayText("URL of the endpoint that creates a link to the payout account."),
    registered: Field.optional(Schema.Literal(0), "Always `0`: no tool was registered."),
    errors: mayInt("Number of rejected tools."),
    tools: Field.optional(Schema.Tuple([]), "Always empty: no tool was registered."),
    tool_errors: Field.optional(
      Schema.Array(Schema.Struct({ tool_name: text("Name of the tool."), error: text("Reason for the rejection.") })),
      "Rejected tools, with the reason."
    )
  }),
  BELOW_MINIMUM: base("BELOW_MINIMUM", {
    minimum_cents: int("Minimum payout in cents."),
    payout_balance_cents: int("Amount available for payout, in cents.")
  }),
  BLOCKED_ENDPOINT: base("BLOCKED_ENDPOINT", failedCall),
  CAP_REQUIRED: base("CAP_REQUIRED", { ...prices, default_cap_url: mayText("Page where you set a default cap.") }),
  LOAD_LIMIT_REACHED: base("LOAD_LIMIT_REACHED", {
    limit_cents: int("Maximum amount of loads within 24 hours, in cents."),
    left_cents: int("Amount that can be loaded now, in cents."),
    retry_at: text("Time from which the requested amount can be loaded.")
  }),
  NOT_WITHDRAWABLE: base("NOT_WITHDRAWABLE", {
    withdrawable_cents: int("Amount that can be withdrawn, in cents.")
  }),
  RATE_LIMITED: base("RATE_LIMITED", {
    ...retry,
    limit: Field.optional(Schema.Literal("calls_in_flight"), "Exceeded limit. Absent for the rate limit."),
    calls_in_flight_max: mayInt(
      "Maximum number of calls in flight per account, including calls that you disconnected from."
    )
  }),
  HEADERS_TOO_LARGE: base("HEADERS_TOO_LARGE", {}),
  INTERNAL_ERROR: base("INTERNAL_ERROR", {}),
  PROVIDER_ERROR: base("PROVIDER_ERROR", { ...mayRetry, ...failedCall }),
  UNAVAILABLE: base("UNAVAILABLE", { ...mayRetry, ...failedCall }),
  NOT_CONFIGURED: base("NOT_CONFIGURED", {}),
  PROXY_TIMEOUT: base("PROXY_TIMEOUT", failedCall)
} satisfies { readonly [Code in ProblemCode]: Schema.Struct.Fields }

type Bodies = { readonly [Code in ProblemCode]: Schema.Struct<(typeof bodies)[Code]> }
/** Any problem; its code decides which fields it has. */
export type ProblemBody = Bodies[ProblemCode]["Type"]
/** The errors of an endpoint, for typed clients. */
export type ProblemsOf<Status extends ProblemStatus> = Schema.Codec<Extract<ProblemBody, { readonly status: Status }>>

const bodyOf = (code: ProblemCode, status: ProblemStatus): Schema.Codec<ProblemBody, ProblemBody> =>
  Schema.Struct(bodies[code]).annotate({
    identifier: schemaNameOf(status, code),
    description: titles[status]
  }) as unknown as Schema.Codec<ProblemBody, ProblemBody>

const schemaOf = (status: ProblemStatus) => {
  const codes = codesByStatus[status].map((code) => bodyOf(code, status))
  const schema = codes.length === 1 ? codes[0]! : Schema.Union(codes)
  return schema.pipe(HttpApiSchema.asJson({ contentType: "application/problem+json" }), HttpApiSchema.status(status))
}

const cache = new Map<ProblemStatus, ReturnType<typeof schemaOf>>()
const problemSchema = (status: ProblemStatus) => {
  const known = cache.get(status) ?? schemaOf(status)
  cache.set(status, known)
  return known
}

/** Any endpoint can answer 422 (an unknown query parameter), 429, 500 and 503. */
const ALWAYS = [422, 429, 500, 503] as const
export type AlwaysDeclared = (typeof ALWAYS)[number]

/** The errors of an endpoint. */
export const problems = (...statuses: ReadonlyArray<ProblemStatus>) =>
  [...new Set<ProblemStatus>([...statuses, ...ALWAYS])].toSorted((a, b) => a - b).map(problemSchema)
