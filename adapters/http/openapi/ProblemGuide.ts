/**
 * Every error code: an example of its message, and what to do. A code without an entry does not compile.
 */
import {
  codesByStatus,
  namedCodes,
  type ProblemCode,
  type ProblemStatus,
  problemType,
  titles
} from "../contract/Problem.ts"
import { BASE_URL, RECEIPT_ID, TOOL_ID } from "../contract/SampleValues.ts"
import type { EndpointInfo } from "./Api.ts"
import type { Json } from "./OpenApiModel.ts"

export interface Guidance {
  readonly message: string
  readonly remedy: string
  readonly extra?: Readonly<Record<string, Json>>
}

/** Endpoints that take an idempotency key declare headers. */
export const takesIdempotencyKey = ({ endpoint }: EndpointInfo): boolean => endpoint.headers !== undefined

export const guide: Readonly<Record<ProblemCode, Guidance>> = {
  BAD_REQUEST: {
    message: "`offset` must be an integer between 0 and 1000000, in digits only; `-1` was sent.",
    remedy: "Correct the query parameter or the JSON that the message names."
  },
  UNAUTHORIZED: {
    message: "The API key is unknown, expired or revoked.",
    remedy: "Send `Authorization: Bearer <key>` with an active API key."
  },
  INSUFFICIENT_FUNDS: {
    message: "Insufficient balance: this call costs $0.0005 and $0.00012 is available. Add funds.",
    remedy: "Add funds with `POST /api/market/balance/load`. The call was not forwarded and not billed.",
    extra: {
      cost_microcents: 500,
      cost_cents: 0,
      balance_microcents: 120,
      balance_cents: 0,
      load_balance_url: `${BASE_URL}/api/market/balance/load`
    }
  },
  BUDGET_EXCEEDED: {
    message: "Budget 0193f9c5-6e1a-7b44-a1f0-3c5d7e9b2a68 does not cover this call: $0.00012 of $1.00 is left.",
    remedy: "Raise the budget with `POST /api/v1/market/budgets`, or retry after `resets_at`.",
    extra: {
      budget_id: "0193f9c5-6e1a-7b44-a1f0-3c5d7e9b2a68",
      cap_microcents: 1_000_000,
      left_microcents: 120,
      resets_at: "2026-12-01T00:00:00.000Z"
    }
  },
  FORBIDDEN: {
    message: "This endpoint requires a provider key; a consumer key was sent.",
    remedy: "Use an API key of the role that the message names."
  },
  ACCOUNT_FROZEN: {
    message: "This account is frozen: one of its payments is disputed at the bank, or the operator froze it.",
    remedy:
      "`GET /api/v1/market/whoami` shows the reason. Withdraw the dispute at your bank, or pay the debt with " +
      "`POST /api/market/balance/load`."
  },
  NOT_FOUND: {
    message: "No resource has this ID.",
    remedy: "Check the path and the ID. `GET /api/market` lists every endpoint."
  },
  METHOD_NOT_ALLOWED: {
    message: "/api/market/catalog does not support POST. Supported methods: GET, HEAD, OPTIONS.",
    remedy: "Use a method of the `Allow` header."
  },
  REQUEST_TIMEOUT: {
    message: "The request was not received in time. Send it again.",
    remedy: "Send the request again, without pauses."
  },
  HEADERS_TOO_LARGE: {
    message: "The request line and headers exceed the limit of 32768 bytes.",
    remedy: "Send fewer or shorter headers."
  },
  DUPLICATE: {
    message: "The resource exists already.",
    remedy:
      "Read the message: the resource exists, the handle is taken, or you would revoke your only active key. If " +
      "several providers offer a bare `tool_name`, send a qualified name from `candidates`."
  },
  IDEMPOTENCY_CONFLICT: {
    message: "This idempotency key was used with another request. Use a new key for a new request.",
    remedy: "Use a new key. With `Retry-After`, the first request is still in progress: retry after that time."
  },
  INSUFFICIENT_PLATFORM_FUNDS: {
    message: "Insufficient platform funds: $0.50 is needed and $0.12 is available. Record a deposit first.",
    remedy: "Operators record deposits with `POST /api/v1/operator/funds`.",
    extra: { needed_microcents: 500_000, platform_funds_microcents: 120_000, platform_funds_cents: 12 }
  },
  PRICE_CHANGED: {
    message: "The price is above your cap: this call costs $0.0008 and your cap is $0.0005. Nothing was charged.",
    remedy: "The list price exceeds your cap, or `price_version` is not in effect. Request a new quote.",
    extra: { price_microcents: 800, max_cost_microcents: 800, price_version: 3 }
  },
  TOOL_WITHDRAWN: {
    message: "The provider withdrew the tool search on 2026-11-20. Nothing was charged.",
    remedy:
      "Find another tool in `GET /api/market/catalog` and call it by its ID or qualified name; a pinned bare " +
      "name does not move to another tool. Receipts, usage and disputes remain.",
    extra: { tool_id: TOOL_ID, withdrawn_at: "2026-11-20T09:29:58.412Z" }
  },
  ANSWER_NOT_KEPT: {
    message:
      "The response of this call is no longer stored: the caller disconnected before the call completed, or a failover " +
      "of the database lost it.",
    remedy: "The call completed and is not repeated. Read its receipt; use a new `Idempotency-Key` for a new call.",
    extra: { outcome: "success", cost_cents: 0, cost_microcents: 500, receipt_id: RECEIPT_ID }
  },
  PAYLOAD_TOO_LARGE: {
    message: "The body exceeds the limit of 1048576 bytes.",
    remedy: "Send a smaller body."
  },
  UNSUPPORTED_MEDIA_TYPE: {
    message: "The body was sent as text/plain. Send JSON with `Content-Type: application/json`.",
    remedy: "Send JSON with `Content-Type: application/json`."
  },
  VALIDATION_ERROR: {
    message: "`email` must be an email address such as ada@example.org; `ada` was sent.",
    remedy: "Correct every field and query parameter that `details` names. Unknown fields are rejected.",
    extra: {
      details: [
        { path: ["email"], message: "`email` must be an email address such as ada@example.org; `ada` was sent." }
      ]
    }
  },
  BELOW_MINIMUM: {
    message: "The minimum payout is $10.00.",
    remedy: "Request a payout once `available_cents` reaches the minimum.",
    extra: { minimum_cents: 1_000, payout_balance_cents: 640 }
  },
  CAP_REQUIRED: {
    message: "This tool is usage-priced: one call costs up to $0.05, and no cap is set. Nothing was charged.",
    remedy:
      "Send a cap: `max_cost_microcents` in the body or the header `X-Max-Cost-Microcents`. Or set a default cap " +
      "with `POST /api/v1/market/default-cap` or at `default_cap_url`.",
    extra: {
      price_microcents: 0,
      max_cost_microcents: 50_000,
      default_cap_url: "https://market.example.org/developer/connect"
    }
  },
  DEBT_OUTSTANDING: {
    message: "This account has a debt of $12.00.",
    remedy: "Pay the debt with `POST /api/market/balance/load`.",
    extra: { owed_cents: 1_200 }
  },
  RECOVERED_BY_CHARGEBACK: {
    message: "This call cannot be disputed: its payment was charged back.",
    remedy: "Nothing to do: the bank refunded the payment. The call can be disputed again if the chargeback is won.",
    extra: { chargeback_id: "dp_1Nv0FG" }
  },
  NOT_WITHDRAWABLE: {
    message: "$50.00 cannot be withdrawn: $20.00 is withdrawable.",
    remedy: "Withdraw at most `withdrawable_cents`.",
    extra: { withdrawable_cents: 2_000 }
  },
  LOAD_LIMIT_REACHED: {
    message: "An account can load at most $1000.00 within 24 hours during its first 30 days.",
    remedy: "Load at most `left_cents` now, or retry at `retry_at`.",
    extra: { limit_cents: 100_000, left_cents: 2_500, retry_at: "2026-11-21T09:29:58.412Z" }
  },
  BLOCKED_ENDPOINT: {
    message: "The URL of the tool's server is not allowed.",
    remedy: "Call another tool. Nothing was charged. The provider must register a URL on the public internet."
  },
  RATE_LIMITED: {
    message: "Rate limit of 60 requests per minute exceeded. Retry after 3 seconds.",
    remedy: "Retry after `Retry-After` seconds.",
    extra: { retry_after_seconds: 3 }
  },
  INTERNAL_ERROR: {
    message: "Internal error. Include the request ID when you report it.",
    remedy: "Retry with the same `Idempotency-Key`. If the error persists, report the `request_id`."
  },
  PROVIDER_ERROR: {
    message: "The provider returned an invalid response.",
    remedy: "Retry, or call another tool. Nothing was charged, unless the tool's `billing_policy` says otherwise."
  },
  UNAVAILABLE: {
    message: "The database is not available. Retry after 2 seconds with the same `Idempotency-Key`.",
    remedy: "Retry after `Retry-After` seconds with the same `Idempotency-Key`.",
    extra: { retry_after_seconds: 2 }
  },
  NOT_CONFIGURED: {
    message: "This service has no payment processor.",
    remedy: "The operator must configure what the message names."
  },
  PROXY_TIMEOUT: {
    message: "The provider did not respond in time.",
    remedy: "Retry, or call another tool. Nothing was charged, unless the tool's `billing_policy` says otherwise."
  }
}

// Which errors an endpoint can respond with, each with an example.

export const statuses = Object.keys(codesByStatus).map(Number) as ReadonlyArray<number> as ReadonlyArray<ProblemStatus>

export const isProblemStatus = (status: number): status is ProblemStatus => Object.hasOwn(codesByStatus, status)

export const codesAt = (status: ProblemStatus, endpoint: EndpointInfo): ReadonlyArray<ProblemCode> =>
  codesByStatus[status].filter(
    (code) =>
      !(namedCodes as ReadonlyArray<ProblemCode>).includes(code) ||
      endpoint.codes.includes(code) ||
      (code === "IDEMPOTENCY_CONFLICT" && takesIdempotencyKey(endpoint))
  )

export const exampleProblem = (status: ProblemStatus, code: ProblemCode): Json => ({
  type: problemType(BASE_URL, code),
  title: titles[status],
  status,
  detail: guide[code].message,
  instance: "/api/market/register-consumer",
  error: true,
  code,
  message: guide[code].message,
  request_id: "0193fa00-9c1e-7f43-8b6d-5a4e3d2c1b0a",
  ...guide[code].extra
})
