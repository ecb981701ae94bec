/**
 * Errors on the wire: RFC 9457 problem details that also carry `error`, `code`, `message` and `request_id`. A row for each code, with
 * its status, what to do, and its fields.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ReceiptStatus } from "../../../domain/receipts/Receipts.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { BASE_URL, RECEIPT_ID, RUN_ID, TOOL_ID } from "./SampleValues.ts"
import { qualifiedName } from "./SharedFields.ts"

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

interface About<Fields> {
  /** An example. */
  readonly message: string
  readonly remedy: string
  readonly fields?: Fields
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

type NoFields = Readonly<Record<never, never>>

const row = <const Status extends number, const Fields extends Schema.Struct.Fields = NoFields>(
  status: Status,
  { extra = {}, fields, message, remedy }: About<Fields>
) => ({ status, isNamed: false as const, message, remedy, extra, fields: (fields ?? {}) as Fields })

/** An endpoint declares it by name. Each other code comes with its status. */
const named = <const Status extends number, const Fields extends Schema.Struct.Fields = NoFields>(
  status: Status,
  about: About<Fields>
) => ({ ...row(status, about), isNamed: true as const })

/** Every code, by status. */
export const codes = {
  BAD_REQUEST: row(400, {
    message: "`offset` must be an integer between 0 and 1000000, in digits only; `-1` was sent.",
    remedy: "Correct the query parameter or the JSON that the message names."
  }),
  UNAUTHORIZED: row(401, {
    message: "The API key is unknown, expired or revoked.",
    remedy: "Send `Authorization: Bearer <key>` with an active API key."
  }),
  INSUFFICIENT_FUNDS: row(402, {
    message: "Insufficient balance: this call costs $0.0005 and $0.00012 is available. Add funds.",
    remedy: "Add funds with `POST /api/market/balance/load`. The call was not forwarded and not billed.",
    extra: {
      cost_microcents: 500,
      cost_cents: 0,
      balance_microcents: 120,
      balance_cents: 0,
      load_balance_url: `${BASE_URL}/api/market/balance/load`
    },
    fields: {
      ...cost,
      balance_microcents: int("Balance in microcents."),
      balance_cents: int("Balance in whole cents, rounded toward zero."),
      load_balance_url: text("URL for adding funds.")
    }
  }),
  BUDGET_EXCEEDED: row(402, {
    message: "Budget 0193f9c5-6e1a-7b44-a1f0-3c5d7e9b2a68 does not cover this call: $0.00012 of $1.00 is left.",
    remedy: "Raise the budget with `POST /api/v1/market/budgets`, or retry after `resets_at`.",
    extra: {
      budget_id: "0193f9c5-6e1a-7b44-a1f0-3c5d7e9b2a68",
      cap_microcents: 1_000_000,
      left_microcents: 120,
      resets_at: "2026-12-01T00:00:00.000Z",
      level: "account",
      level_id: null,
      period: "month",
      spent_microcents: 999_000,
      held_microcents: 880
    },
    fields: {
      budget_id: text("ID of the exceeded budget."),
      cap_microcents: int("Limit of the budget in microcents."),
      left_microcents: int("Amount left in the budget, in microcents."),
      resets_at: Field.of(Schema.NullOr(Schema.String), "Time when the budget resets. `null`: never."),
      level: text("Where it is set: `account`, `team`, `key` or `run`."),
      level_id: Field.of(Schema.NullOr(Schema.String), "ID of the key's or run's level. `null`: the account."),
      period: text("Period of the budget: `hour`, `day`, `week`, `month` or `total`."),
      spent_microcents: int("Spent in the period, in microcents."),
      held_microcents: int("Held for calls in flight, in microcents.")
    }
  }),
  FORBIDDEN: row(403, {
    message: "This endpoint requires a provider key; a consumer key was sent.",
    remedy: "Use an API key of the role that the message names."
  }),
  CALL_NOT_ALLOWED: named(403, {
    message: 'The key "nightly" does not permit ada-tools/search: its tool is not among the allowed ones.',
    remedy:
      "Call what the key permits: `GET /api/v1/market/keys/{key_id}/limits` lists its bounds. A key above it changes them with " +
      "`PATCH /api/v1/market/keys/{key_id}`.",
    extra: { level: "key", level_id: RUN_ID, bound: "tool" },
    fields: {
      level: text("Where it is set: `team`, `key` or `run`."),
      level_id: text("ID of the level."),
      bound: text("What is bounded: `tool`, `provider`, `category` or `price`.")
    }
  }),
  ACCOUNT_FROZEN: named(403, {
    message: "This account is frozen: one of its payments is disputed at the bank, or the operator froze it.",
    remedy:
      "`GET /api/v1/market/whoami` shows the reason. Withdraw the dispute at your bank, or pay the debt with " +
      "`POST /api/market/balance/load`."
  }),
  NOT_FOUND: row(404, {
    message: "No resource has this ID.",
    remedy: "Check the path and the ID. `GET /api/market` lists every endpoint."
  }),
  METHOD_NOT_ALLOWED: row(405, {
    message: "/api/market/catalog does not support POST. Supported methods: GET, HEAD, OPTIONS.",
    remedy: "Use a method of the `Allow` header."
  }),
  REQUEST_TIMEOUT: row(408, {
    message: "The request was not received in time. Send it again.",
    remedy: "Send the request again, without pauses."
  }),
  DUPLICATE: named(409, {
    message: "The resource exists already.",
    remedy:
      "Read the message: the resource exists, the handle is taken, or you would revoke your only active key. If " +
      "several providers offer a bare `tool_name`, send a qualified name from `candidates`.",
    fields: {
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
    }
  }),
  IDEMPOTENCY_CONFLICT: named(409, {
    message: "This idempotency key was used with another request. Use a new key for a new request.",
    remedy: "Use a new key. With `Retry-After`, the first request is still in progress: retry after that time.",
    fields: mayRetry
  }),
  INSUFFICIENT_PLATFORM_FUNDS: named(409, {
    message: "Insufficient platform funds: $0.50 is needed and $0.12 is available. Record a deposit first.",
    remedy: "Operators record deposits with `POST /api/v1/operator/funds`.",
    extra: { needed_microcents: 500_000, platform_funds_microcents: 120_000, platform_funds_cents: 12 },
    fields: {
      needed_microcents: int("Required platform funds in microcents."),
      platform_funds_microcents: int("Available platform funds in microcents."),
      platform_funds_cents: int("Available platform funds in whole cents, rounded toward zero.")
    }
  }),
  PRICE_CHANGED: named(409, {
    message: "The price is above your cap: this call costs $0.0008 and your cap is $0.0005. Nothing was charged.",
    remedy: "The list price exceeds your cap, or `price_version` is not in effect. Request a new quote.",
    extra: { price_microcents: 800, max_cost_microcents: 800, price_version: 3 },
    fields: { ...prices, price_version: int("Price version in effect.") }
  }),
  DEBT_OUTSTANDING: named(409, {
    message: "This account has a debt of $12.00.",
    remedy: "Pay the debt with `POST /api/market/balance/load`.",
    extra: { owed_cents: 1_200 },
    fields: { owed_cents: int("Debt of the account in cents.") }
  }),
  RECOVERED_BY_CHARGEBACK: named(409, {
    message: "This call cannot be disputed: its payment was charged back.",
    remedy: "Nothing to do: the bank refunded the payment. The call can be disputed again if the chargeback is won.",
    extra: { chargeback_id: "dp_1Nv0FG" },
    fields: {
      chargeback_id: text("ID of the chargeback at the payment processor.")
    }
  }),
  TOOL_WITHDRAWN: row(410, {
    message: "The provider withdrew the tool search on 2026-11-20. Nothing was charged.",
    remedy:
      "Find another tool in `GET /api/market/catalog` and call it by its ID or qualified name; a pinned bare " +
      "name does not move to another tool. Receipts, usage and disputes remain.",
    extra: { tool_id: TOOL_ID, withdrawn_at: "2026-11-20T09:29:58.412Z" },
    fields: {
      tool_id: text("ID of the tool."),
      withdrawn_at: text("Time when the provider withdrew the tool.")
    }
  }),
  ANSWER_NOT_KEPT: named(410, {
    message:
      "The response of this call is no longer stored: the caller disconnected before the call completed, or a failover " +
      "of the database lost it.",
    remedy: "The call completed and is not repeated. Read its receipt; use a new `Idempotency-Key` for a new call.",
    extra: { outcome: "success", cost_cents: 0, cost_microcents: 500, receipt_id: RECEIPT_ID },
    fields: { ...cost, receipt_id: receiptId, outcome }
  }),
  PAYLOAD_TOO_LARGE: row(413, {
    message: "The body exceeds the limit of 1048576 bytes.",
    remedy: "Send a smaller body."
  }),
  UNSUPPORTED_MEDIA_TYPE: row(415, {
    message: "The body was sent as text/plain. Send JSON with `Content-Type: application/json`.",
    remedy: "Send JSON with `Content-Type: application/json`."
  }),
  VALIDATION_ERROR: row(422, {
    message: "`email` must be an email address such as ada@example.org; `ada` was sent.",
    remedy: "Correct every field and query parameter that `details` names. Unknown fields are rejected.",
    extra: {
      details: [
        { path: ["email"], message: "`email` must be an email address such as ada@example.org; `ada` was sent." }
      ]
    },
    fields: {
      connect_url: mayText("URL of the endpoint that creates a link to the payout account."),
      registered: Field.optional(Schema.Literal(0), "Always `0`: no tool was registered."),
      errors: mayInt("Number of rejected tools."),
      tools: Field.optional(Schema.Tuple([]), "Always empty: no tool was registered."),
      tool_errors: Field.optional(
        Schema.Array(Schema.Struct({ tool_name: text("Name of the tool."), error: text("Reason for the rejection.") })),
        "Rejected tools, with the reason."
      )
    }
  }),
  BELOW_MINIMUM: named(422, {
    message: "The minimum payout is $10.00.",
    remedy: "Request a payout once `available_cents` reaches the minimum.",
    extra: { minimum_cents: 1_000, payout_balance_cents: 640 },
    fields: {
      minimum_cents: int("Minimum payout in cents."),
      payout_balance_cents: int("Amount available for payout, in cents.")
    }
  }),
  BLOCKED_ENDPOINT: named(422, {
    message: "The URL of the tool's server is not allowed.",
    remedy: "Call another tool. Nothing was charged. The provider must register a URL on the public internet.",
    fields: failedCall
  }),
  CAP_REQUIRED: named(422, {
    message: "This tool is usage-priced: one call costs up to $0.05, and no cap is set. Nothing was charged.",
    remedy:
      "Send a cap: `max_cost_microcents` in the body or the header `X-Max-Cost-Microcents`. Or set a default cap " +
      "with `POST /api/v1/market/default-cap` or at `default_cap_url`.",
    extra: {
      price_microcents: 0,
      max_cost_microcents: 50_000,
      default_cap_url: "https://market.example.org/developer/connect"
    },
    fields: { ...prices, default_cap_url: mayText("Page where you set a default cap.") }
  }),
  LOAD_LIMIT_REACHED: named(422, {
    message: "An account can load at most $1000.00 within 24 hours during its first 30 days.",
    remedy: "Load at most `left_cents` now, or retry at `retry_at`.",
    extra: { limit_cents: 100_000, left_cents: 2_500, retry_at: "2026-11-21T09:29:58.412Z" },
    fields: {
      limit_cents: int("Maximum amount of loads within 24 hours, in cents."),
      left_cents: int("Amount that can be loaded now, in cents."),
      retry_at: text("Time from which the requested amount can be loaded.")
    }
  }),
  NOT_WITHDRAWABLE: named(422, {
    message: "$50.00 cannot be withdrawn: $20.00 is withdrawable.",
    remedy: "Withdraw at most `withdrawable_cents`.",
    extra: { withdrawable_cents: 2_000 },
    fields: {
      withdrawable_cents: int("Amount that can be withdrawn, in cents.")
    }
  }),
  RATE_LIMITED: row(429, {
    message: "Rate limit of 60 requests per minute exceeded. Retry after 3 seconds.",
    remedy: "Retry after `Retry-After` seconds.",
    extra: { retry_after_seconds: 3 },
    fields: {
      ...retry,
      limit: Field.optional(Schema.Literal("calls_in_flight"), "Exceeded limit. Absent for the rate limit."),
      calls_in_flight_max: mayInt(
        "Maximum number of calls in flight per account, including calls that you disconnected from."
      )
    }
  }),
  HEADERS_TOO_LARGE: row(431, {
    message: "The request line and headers exceed the limit of 32768 bytes.",
    remedy: "Send fewer or shorter headers."
  }),
  INTERNAL_ERROR: row(500, {
    message: "Internal error. Include the request ID when you report it.",
    remedy: "Retry with the same `Idempotency-Key`. If the error persists, report the `request_id`."
  }),
  PROVIDER_ERROR: row(502, {
    message: "The provider returned an invalid response.",
    remedy: "Retry, or call another tool. Nothing was charged, unless the tool's `billing_policy` says otherwise.",
    fields: { ...mayRetry, ...failedCall }
  }),
  UNAVAILABLE: row(503, {
    message: "The database is not available. Retry after 2 seconds with the same `Idempotency-Key`.",
    remedy: "Retry after `Retry-After` seconds with the same `Idempotency-Key`.",
    extra: { retry_after_seconds: 2 },
    fields: { ...mayRetry, ...failedCall }
  }),
  NOT_CONFIGURED: named(503, {
    message: "This service has no payment processor.",
    remedy: "The operator must configure what the message names."
  }),
  PROXY_TIMEOUT: row(504, {
    message: "The provider did not respond in time.",
    remedy: "Retry, or call another tool. Nothing was charged, unless the tool's `billing_policy` says otherwise.",
    fields: failedCall
  })
}

export type ProblemCode = keyof typeof codes
export type StatusOf<Code extends ProblemCode> = (typeof codes)[Code]["status"]
export type ProblemStatus = StatusOf<ProblemCode>
export type NamedCode = {
  [Code in ProblemCode]: (typeof codes)[Code]["isNamed"] extends true ? Code : never
}[ProblemCode]
export type DeclaredStatus<Problem> = Problem extends ProblemCode ? StatusOf<Problem> : Extract<Problem, ProblemStatus>

export const statusOf = <Code extends ProblemCode>(code: Code): StatusOf<Code> => codes[code].status

export const codesByStatus = Object.groupBy(Object.keys(codes) as ReadonlyArray<ProblemCode>, statusOf) as Readonly<
  Record<ProblemStatus, ReadonlyArray<ProblemCode>>
>

export const statuses = Object.keys(codesByStatus).map(Number) as ReadonlyArray<number> as ReadonlyArray<ProblemStatus>

export const isProblemStatus = (status: number): status is ProblemStatus => Object.hasOwn(codesByStatus, status)

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

export const exampleProblem = (status: ProblemStatus, code: ProblemCode): Schema.Json => ({
  type: problemType(BASE_URL, code),
  title: titles[status],
  status,
  detail: codes[code].message,
  instance: "/api/market/register-consumer",
  error: true,
  code,
  message: codes[code].message,
  request_id: "0193fa00-9c1e-7f43-8b6d-5a4e3d2c1b0a",
  ...codes[code].extra
})

const fieldsOf = <const Code extends ProblemCode>(code: Code) => ({
  type: text("URL of the error code's documentation (RFC 9457)."),
  title: text("Short description, the same for every problem with this status."),
  status: Field.of(Schema.Literal(statusOf(code)), "HTTP status."),
  detail: text("What is wrong with this request, and what to do."),
  instance: text("Path of the request."),
  error: Field.always(true),
  code: Field.of(Schema.Literal(code), "Machine-readable error code. Branch on it."),
  message: text("Same as `detail`."),
  request_id: text("ID of the request, also in `X-Request-Id`. Include it in support requests."),
  details: Field.optional(Schema.Array(Fault), "Every invalid field."),
  ...(codes[code].fields as (typeof codes)[Code]["fields"])
})

type Bodies = {
  readonly [Code in ProblemCode]: ReturnType<typeof fieldsOf<Code>> extends infer Fields extends Schema.Struct.Fields
    ? Schema.Struct<Fields>
    : never
}
/** Any problem; its code decides which fields it has. */
export type ProblemBody = Bodies[ProblemCode]["Type"]
/** The errors of an endpoint, for typed clients: all that come with a status, and the named ones that it declares. */
export type ProblemsOf<Status extends ProblemStatus, Named extends NamedCode> = Schema.Codec<
  Exclude<Extract<ProblemBody, { readonly status: Status }>, { readonly code: Exclude<NamedCode, Named> }>
>

const bodyOf = (code: ProblemCode, status: ProblemStatus): Schema.Codec<ProblemBody, ProblemBody> =>
  Schema.Struct(fieldsOf(code)).annotate({
    identifier: schemaNameOf(status, code),
    description: titles[status]
  }) as unknown as Schema.Codec<ProblemBody, ProblemBody>

const schemaOf = (status: ProblemStatus) => {
  const bodies = codesByStatus[status].map((code) => bodyOf(code, status))
  const schema = bodies.length === 1 ? bodies[0]! : Schema.Union(bodies)
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
