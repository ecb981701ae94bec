/**
 * Every refusal there is, with its HTTP status, code and extra fields: the one place where an error of the domain meets
 * HTTP.
 */
import type { AlreadyRegistered, ToolsRefused } from "../../../domain/accounts/Registration.ts"
import type { ToolNotYours } from "../../../domain/catalog/Catalog.ts"
import type { Unauthorized } from "../../../domain/accounts/Authentication.ts"
import type { ExpiryInThePast, KeyNotFound, LastKey, TooManyKeys } from "../../../domain/accounts/Keys.ts"
import type {
  BudgetExceeded,
  CallConflict,
  CallInFlight,
  InsufficientFunds,
  CapRequired,
  InvalidArguments,
  PriceChanged,
  PriceVersionChanged
} from "../../../domain/metering/CallRefusals.ts"
import type { CallOverdue } from "../../../domain/metering/CallEndings.ts"
import type { TooManyCallsInFlight } from "../../../domain/metering/CallsInFlight.ts"
import type { AnswerNotKept } from "../../../domain/metering/LeftAnswers.ts"
import type { BudgetNotFound, TooManyBudgets } from "../../../domain/ledger/Budgets.ts"
import type { PaymentFailed, PaymentsNotConfigured, UntrustedEvent } from "../../../domain/payments/PaymentGateway.ts"
import type { CreditRefused, InvoiceNotFound, MonthNotOver } from "../../../domain/invoices/Invoicing.ts"
import { type BelowMinimum, type NotOnboarded, PAYOUT_CENTS_MIN } from "../../../domain/payouts/Payouts.ts"
import type { CallTimeRefused, CostTooHigh, NotYours } from "../../../domain/metering/DirectMetering.ts"
import type { GrantNotFound, TooManyGrants, UnknownProvider } from "../../../domain/metering/Grants.ts"
import type { NoGrant } from "../../../domain/metering/Reservations.ts"
import type { ToolAmbiguous, ToolNotFound, ToolWithdrawn } from "../../../domain/metering/ToolDirectory.ts"
import type { MetricsRefused } from "../../../domain/platform/MetricsAccess.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import type { IdempotencyConflict } from "../../../domain/shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../../../domain/shared/IdempotencyStore.ts"
import type {
  BadRequest,
  MethodNotAllowed,
  NoToolRegistered,
  NotFound,
  NotInTime,
  PayloadTooLarge,
  RateLimited,
  RouteNotFound,
  UnsupportedMediaType,
  ValidationFailed,
  WrongRole
} from "./Failures.ts"
import { fundsMapping, type FundsRefusal } from "./FundsRefusals.ts"
import type { Problem } from "./Problems.ts"
import { trustMapping, type TrustRefusal } from "./TrustRefusals.ts"

/** Whatever a handler may fail with. A new error without a row below does not compile. */
export type Refusal =
  | TrustRefusal
  | FundsRefusal
  | AlreadyRegistered
  | AnswerNotKept
  | BadRequest
  | BelowMinimum
  | BudgetExceeded
  | BudgetNotFound
  | CallConflict
  | CallInFlight
  | CallOverdue
  | CallTimeRefused
  | CapRequired
  | CostTooHigh
  | CreditRefused
  | ExpiryInThePast
  | GrantNotFound
  | IdempotencyConflict
  | IdempotencyInFlight
  | InsufficientFunds
  | InvalidArguments
  | InvoiceNotFound
  | KeyNotFound
  | LastKey
  | MethodNotAllowed
  | MetricsRefused
  | MonthNotOver
  | NoGrant
  | NoToolRegistered
  | NotFound
  | NotInTime
  | NotOnboarded
  | NotYours
  | PayloadTooLarge
  | PaymentFailed
  | PaymentsNotConfigured
  | PriceChanged
  | PriceVersionChanged
  | RateLimited
  | RouteNotFound
  | ToolAmbiguous
  | ToolNotFound
  | ToolNotYours
  | ToolsRefused
  | ToolWithdrawn
  | TooManyBudgets
  | TooManyCallsInFlight
  | TooManyGrants
  | TooManyKeys
  | Unauthorized
  | UnknownProvider
  | UnsupportedMediaType
  | UntrustedEvent
  | ValidationFailed
  | WrongRole

export type MappingOf<Refusals extends { readonly _tag: string }> = {
  readonly [R in Refusals as R["_tag"]]: (refusal: R, baseUrl: string) => Omit<Problem, "message">
}

/** A database that is silent is asked again a little later. */
const LATE_RETRY_AFTER_SECONDS = 5
const OVERDUE_RETRY_AFTER_SECONDS = 5

export const mapping: MappingOf<Refusal> = {
  ...trustMapping,
  ...fundsMapping,
  AlreadyRegistered: () => ({ status: 409, code: "DUPLICATE" }),
  AnswerNotKept: (e) => ({
    status: 410,
    code: "ANSWER_NOT_KEPT",
    extra: {
      outcome: e.outcome,
      cost_cents: toCents(Microcents.make(e.costMicrocents)),
      cost_microcents: Number(e.costMicrocents),
      receipt_id: e.receiptId
    }
  }),
  BadRequest: () => ({ status: 400, code: "BAD_REQUEST" }),
  BelowMinimum: (e) => ({
    status: 422,
    code: "BELOW_MINIMUM",
    extra: { minimum_cents: PAYOUT_CENTS_MIN, payout_balance_cents: e.balanceCents }
  }),
  BudgetExceeded: (e) => ({
    status: 402,
    code: "BUDGET_EXCEEDED",
    extra: {
      budget_id: e.budgetId,
      cap_microcents: Number(e.capMicrocents),
      left_microcents: Number(e.leftMicrocents),
      resets_at: e.resetsAt ?? null
    }
  }),
  BudgetNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  CallConflict: () => ({ status: 409, code: "IDEMPOTENCY_CONFLICT" }),
  CallInFlight: (e) => ({
    status: 409,
    code: "IDEMPOTENCY_CONFLICT",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  CallOverdue: (e) => ({
    status: 503,
    code: "UNAVAILABLE",
    headers: { "retry-after": String(OVERDUE_RETRY_AFTER_SECONDS) },
    extra: {
      retry_after_seconds: OVERDUE_RETRY_AFTER_SECONDS,
      outcome: "error",
      cost_cents: 0,
      cost_microcents: 0,
      receipt_id: e.receiptId
    }
  }),
  CallTimeRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["timestamp"], message: e.message }]
  }),
  CapRequired: (e) => ({
    status: 422,
    code: "CAP_REQUIRED",
    extra: {
      price_microcents: Number(e.priceMicrocents),
      max_cost_microcents: Number(e.maxCostMicrocents)
    }
  }),
  CostTooHigh: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["cost_microcents"], message: e.message }]
  }),
  CreditRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["amount_microcents"], message: e.message }]
  }),
  ExpiryInThePast: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["expires_at"], message: e.message }]
  }),
  GrantNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  IdempotencyConflict: () => ({ status: 409, code: "IDEMPOTENCY_CONFLICT" }),
  IdempotencyInFlight: (e) => ({
    status: 409,
    code: "IDEMPOTENCY_CONFLICT",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  InsufficientFunds: (e, baseUrl) => ({
    status: 402,
    code: "INSUFFICIENT_FUNDS",
    extra: {
      cost_microcents: Number(e.costMicrocents),
      cost_cents: toCents(e.costMicrocents),
      balance_microcents: Number(e.balanceMicrocents),
      balance_cents: toCents(e.balanceMicrocents),
      load_balance_url: `${baseUrl}/api/market/balance/load`
    }
  }),
  InvalidArguments: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.violations.map(({ path, message }) => ({ path: ["input", ...path], message }))
  }),
  InvoiceNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  KeyNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  LastKey: () => ({ status: 409, code: "DUPLICATE" }),
  MethodNotAllowed: (e) => ({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: e.allow.join(", ") } }),
  MonthNotOver: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: [{ path: ["month"], message: e.message }] }),
  NoGrant: () => ({ status: 403, code: "FORBIDDEN" }),
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
  NotInTime: () => ({
    status: 503,
    code: "UNAVAILABLE",
    headers: { "retry-after": String(LATE_RETRY_AFTER_SECONDS) },
    extra: { retry_after_seconds: LATE_RETRY_AFTER_SECONDS }
  }),
  NotOnboarded: (_, baseUrl) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    extra: { connect_url: `${baseUrl}/api/market/connect` }
  }),
  NotYours: () => ({ status: 403, code: "FORBIDDEN" }),
  PayloadTooLarge: () => ({ status: 413, code: "PAYLOAD_TOO_LARGE", headers: { connection: "close" } }),
  PaymentFailed: () => ({ status: 502, code: "PROVIDER_ERROR" }),
  PaymentsNotConfigured: () => ({ status: 503, code: "NOT_CONFIGURED" }),
  PriceChanged: (e) => ({
    status: 409,
    code: "PRICE_CHANGED",
    extra: {
      price_microcents: Number(e.priceMicrocents),
      max_cost_microcents: Number(e.maxCostMicrocents),
      price_version: e.priceVersion
    }
  }),
  PriceVersionChanged: (e) => ({
    status: 409,
    code: "PRICE_CHANGED",
    extra: {
      price_microcents: Number(e.priceMicrocents),
      max_cost_microcents: Number(e.maxCostMicrocents),
      price_version: e.priceVersion
    }
  }),
  RateLimited: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: {
      "retry-after": String(e.retryAfterSeconds),
      "x-ratelimit-limit": String(e.limit),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(e.resetAfterSeconds)
    },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  RouteNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  ToolsRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.map((tool) => ({ path: ["tools", tool.index], message: `${tool.tool_name}: ${tool.error}` }))
  }),
  ToolAmbiguous: (e) => ({ status: 409, code: "DUPLICATE", extra: { candidates: e.candidates } }),
  ToolNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  ToolNotYours: () => ({ status: 404, code: "NOT_FOUND" }),
  ToolWithdrawn: (e) => ({
    status: 410,
    code: "TOOL_WITHDRAWN",
    extra: { tool_id: e.toolId, withdrawn_at: e.since }
  }),
  MetricsRefused: () => ({ status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } }),
  TooManyBudgets: () => ({ status: 422, code: "VALIDATION_ERROR" }),
  TooManyCallsInFlight: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: {
      "retry-after": String(e.retryAfterSeconds),
      "x-ratelimit-limit": String(e.max),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(e.retryAfterSeconds)
    },
    extra: { retry_after_seconds: e.retryAfterSeconds, limit: "calls_in_flight", calls_in_flight_max: e.max }
  }),
  TooManyGrants: () => ({ status: 422, code: "VALIDATION_ERROR" }),
  TooManyKeys: () => ({ status: 422, code: "VALIDATION_ERROR" }),
  Unauthorized: () => ({ status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } }),
  UnknownProvider: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["provider_id"], message: e.message }]
  }),
  UnsupportedMediaType: () => ({
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    headers: { accept: "application/json" }
  }),
  UntrustedEvent: () => ({ status: 400, code: "BAD_REQUEST" }),
  ValidationFailed: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: e.faults }),
  WrongRole: () => ({ status: 403, code: "FORBIDDEN" })
}
