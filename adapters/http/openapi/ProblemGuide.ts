/**
 * Every problem code: what it says, and what a caller can do about it. A code without a row does not compile.
 */
import { codesByStatus, type ProblemCode, type ProblemStatus, problemType, titles } from "../api/Problem.ts"
import type { EndpointInfo } from "../api/Endpoints.ts"
import type { Json } from "./OpenApiModel.ts"
import { RECEIPT_ID, TOOL_ID } from "./SharedWords.ts"

const EXAMPLE_BASE_URL = "https://billing.example.org"

export interface Guidance {
  readonly message: string
  readonly remedy: string
  readonly extra?: Readonly<Record<string, Json>>
  /** Where it can happen, as method and path, if not wherever its status is declared. */
  readonly places?: ReadonlyArray<string>
  /** Besides, what those endpoints are like. */
  readonly only?: (endpoint: EndpointInfo) => boolean
}

/** By the pipeline, or by themselves: either way they declare it. */
export const takesIdempotencyKey = ({ endpoint }: EndpointInfo): boolean => endpoint.headers !== undefined

export const guide: Readonly<Record<ProblemCode, Guidance>> = {
  BAD_REQUEST: {
    message: "`offset` must be an integer between 0 and 1000000, in digits only; `-1` was sent.",
    remedy: "Correct the query parameter or the JSON that the message names."
  },
  UNAUTHORIZED: {
    message: "The key is unknown, expired or revoked.",
    remedy: "Send `Authorization: Bearer <key>` with a key that is live."
  },
  INSUFFICIENT_FUNDS: {
    message: "The balance does not cover the call.",
    remedy: "Load the balance; nothing was forwarded or charged.",
    extra: { cost_microcents: 500, cost_cents: 0, balance_microcents: 120, balance_cents: 0 }
  },
  BUDGET_EXCEEDED: {
    message: "The call would go over a budget of this account.",
    remedy: "Raise the budget, or wait until it begins anew."
  },
  FORBIDDEN: {
    message: "This needs a provider key; you sent a consumer key.",
    remedy: "Use a key of the role that the message names."
  },
  ACCOUNT_FROZEN: {
    message: "This account is frozen, so it cannot spend: a payment of it is disputed at the bank.",
    remedy:
      "`GET /api/v1/market/balance` shows the reason. Withdraw the dispute at your bank, or pay the debt with " +
      "`POST /api/market/balance/load`.",
    places: ["POST /api/market/proxy", "POST /api/v1/market/meter", "POST /api/v1/market/balance/withdraw"]
  },
  NOT_FOUND: {
    message: "There is nothing here under this id.",
    remedy: "Check the path and the id. `GET /api/market` lists every endpoint."
  },
  METHOD_NOT_ALLOWED: {
    message: "/api/market/catalog does not take POST. It takes GET, HEAD, OPTIONS.",
    remedy: "Use a method of the `Allow` header."
  },
  REQUEST_TIMEOUT: {
    message: "The request took too long to come. Send it again.",
    remedy: "Send it again, without long pauses in between."
  },
  HEADERS_TOO_LARGE: {
    message: "The request line and the headers are larger than 32768 bytes together, which is the most there may be.",
    remedy: "Send fewer or shorter headers."
  },
  DUPLICATE: {
    message: "That is there already, or would leave nothing behind.",
    remedy:
      "Read the message: what you wanted is there already, the handle is taken, or you would lock yourself out. Where a " +
      "bare `tool_name` is listed by several providers, send one of the qualified names in `candidates`.",
    places: [
      "POST /api/market/register-provider",
      "POST /api/market/register-consumer",
      "DELETE /api/v1/market/keys",
      "DELETE /api/v1/market/keys/:key_id",
      "POST /api/market/proxy",
      "POST /api/v1/market/meter",
      "POST /api/v1/operator/providers/:provider_id/handle",
      "POST /api/v1/market/disputes",
      "POST /api/v1/market/disputes/:id/respond",
      "POST /api/v1/market/disputes/:id/resolve"
    ]
  },
  IDEMPOTENCY_CONFLICT: {
    message: "This Idempotency-Key was used with another request before. Take a new key for a new request.",
    remedy: "Take a new key. With `Retry-After`, the first request is still under way: ask again then.",
    only: takesIdempotencyKey
  },
  INSUFFICIENT_PLATFORM_FUNDS: {
    message: "Insufficient platform funds: $0.50 is needed and $0.12 is available. Record a deposit first.",
    remedy: "Operators record deposits at `POST /api/v1/operator/funds`.",
    extra: { needed_microcents: 500_000, platform_funds_microcents: 120_000, platform_funds_cents: 12 },
    places: [
      "POST /api/v1/market/disputes/:id/resolve",
      "POST /api/v1/market/invoices/:id/credit-notes",
      "POST /api/v1/operator/funds"
    ]
  },
  PRICE_CHANGED: {
    message: "This call costs 800 microcents, more than your cap of 500.",
    remedy: "The list price is above your cap, or `price_version` is not in effect. Get a new quote and decide again.",
    places: ["POST /api/market/proxy"]
  },
  TOOL_WITHDRAWN: {
    message: "Its provider withdrew the tool search on 2026-11-20. Nothing was charged.",
    remedy:
      "Find another tool in `GET /api/market/catalog`, and call it by its qualified name or id: the bare name stays with " +
      "this one. Receipts, usage and disputes of the old one stay.",
    extra: { tool_id: TOOL_ID, withdrawn_at: "2026-11-20T09:29:58.412Z" }
  },
  ANSWER_NOT_KEPT: {
    message: "The answer of this call is no longer kept: its caller disconnected before it ended.",
    remedy: "The call ended and is not repeated. Read its receipt; use a new `Idempotency-Key` for a new call.",
    extra: { outcome: "success", cost_cents: 0, cost_microcents: 500, receipt_id: RECEIPT_ID },
    places: ["POST /api/market/proxy"]
  },
  PAYLOAD_TOO_LARGE: {
    message: "The body is larger than 1048576 bytes, which is the most that this endpoint takes.",
    remedy: "Send less at once."
  },
  UNSUPPORTED_MEDIA_TYPE: {
    message: "The body came as text/plain. Send JSON, with Content-Type: application/json.",
    remedy: "Send JSON with `Content-Type: application/json`."
  },
  VALIDATION_ERROR: {
    message: "`email` must be an e-mail address such as ada@example.org; `ada` was sent.",
    remedy: "Correct every field and query parameter that `details` names: unknown ones are not ignored.",
    extra: {
      details: [
        { path: ["email"], message: "`email` must be an e-mail address such as ada@example.org; `ada` was sent." }
      ]
    }
  },
  BELOW_MINIMUM: {
    message: "A payout needs at least $10.00.",
    remedy: "Wait until more has come in.",
    places: ["POST /api/market/payouts"]
  },
  CAP_REQUIRED: {
    message: "This tool is usage-priced: one call costs up to 50000 microcents ($0.05).",
    remedy:
      "Set the most that you pay: `max_cost_microcents` in the body or the header `X-Max-Cost-Microcents`; or a default for " +
      "your key or account with `POST /api/v1/market/default-cap`.",
    places: ["POST /api/market/proxy"],
    extra: { price_microcents: 0, max_cost_microcents: 50_000 }
  },
  DEBT_OUTSTANDING: {
    message: "This account owes $12.00.",
    remedy: "Pay the debt with `POST /api/market/balance/load`.",
    places: ["POST /api/v1/market/balance/withdraw"],
    extra: { owed_cents: 1_200 }
  },
  RECOVERED_BY_CHARGEBACK: {
    message: "This call cannot be disputed: the payment that covers it was charged back.",
    remedy: "Nothing to do: the bank gave the money back. The call can be disputed again if the chargeback is won.",
    places: ["POST /api/v1/market/disputes"],
    extra: { chargeback_id: "dp_1Nv0FG" }
  },
  NOT_WITHDRAWABLE: {
    message: "$50.00 cannot be withdrawn: $20.00 is unspent and can go back to the payment methods that brought them.",
    remedy: "Ask for at most `withdrawable_cents`.",
    places: ["POST /api/v1/market/balance/withdraw"],
    extra: { withdrawable_cents: 2_000 }
  },
  LOAD_LIMIT_REACHED: {
    message: "An account loads at most $1000.00 in 24 hours during its first 30 days.",
    remedy: "Load at most `left_cents` now, or this amount from `retry_at`.",
    places: ["POST /api/market/balance/load"],
    extra: { limit_cents: 100_000, left_cents: 2_500, retry_at: "2026-11-21T09:29:58.412Z" }
  },
  BLOCKED_ENDPOINT: {
    message: "The tool's address may not be called.",
    remedy: "Nothing was charged. Call another tool; the provider must name an address on the public internet.",
    places: ["POST /api/market/proxy"]
  },
  RATE_LIMITED: {
    message: "At most 60 requests a minute. Try again in 3 s.",
    remedy: "Wait for `Retry-After` seconds.",
    extra: { retry_after_seconds: 3 }
  },
  INTERNAL_ERROR: {
    message: "Something went wrong on our side. Nothing was charged twice; the request id names the case.",
    remedy: "Try again with the same `Idempotency-Key`; tell us the `request_id` if it stays."
  },
  PROVIDER_ERROR: {
    message: "The provider did not answer as it should.",
    remedy: "Nothing was charged, unless the tool's billing policy says so. Try again, or another tool."
  },
  UNAVAILABLE: {
    message:
      "The service cannot reach its database at the moment. Try again in a few seconds: what is sent again with the same " +
      "Idempotency-Key is done once.",
    remedy: "Try again after `Retry-After` seconds, with the same `Idempotency-Key`.",
    extra: { retry_after_seconds: 2 }
  },
  NOT_CONFIGURED: {
    message: "This service runs without a payment processor.",
    remedy: "Ask the operator of this service to set up what the message names.",
    places: [
      "POST /api/market/balance/load",
      "POST /api/market/connect",
      "POST /api/market/payouts",
      "POST /api/v1/market/providers/verify",
      "POST /api/webhooks/stripe"
    ]
  },
  PROXY_TIMEOUT: {
    message: "The provider did not answer in time.",
    remedy: "Nothing was charged, unless the tool's billing policy says so. Try again, or another tool."
  }
}

export const statuses = Object.keys(codesByStatus).map(Number) as ReadonlyArray<number> as ReadonlyArray<ProblemStatus>

export const isProblemStatus = (status: number): status is ProblemStatus => Object.hasOwn(codesByStatus, status)

export const codesAt = (status: ProblemStatus, endpoint: EndpointInfo): ReadonlyArray<ProblemCode> =>
  codesByStatus[status].filter((code) => {
    const { only, places } = guide[code]
    return (places?.includes(`${endpoint.method} ${endpoint.path}`) ?? true) && (only?.(endpoint) ?? true)
  })

export const exampleProblem = (status: ProblemStatus, code: ProblemCode): Json => ({
  type: problemType(EXAMPLE_BASE_URL, code),
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
