/**
 * Every refusal there is, with its HTTP status, code and extra fields: the one place where an error of the domain meets
 * HTTP.
 */
import type { AlreadyRegistered, ToolsRefused } from "../../../domain/accounts/Registration.ts"
import type { HandleRefusal } from "../../../domain/accounts/Handles.ts"
import type { EndpointBlocked } from "../../../domain/accounts/EndpointGuard.ts"
import type { ToolNotYours } from "../../../domain/catalog/Catalog.ts"
import type { Unauthorized } from "../../../domain/accounts/Authentication.ts"
import type { ExpiryInThePast, KeyNotFound, LastKey, TooManyKeys } from "../../../domain/accounts/Keys.ts"
import type { BudgetNotFound, TooManyBudgets } from "../../../domain/ledger/Budgets.ts"
import type { PaymentFailed, PaymentsNotConfigured, UntrustedEvent } from "../../../domain/payments/PaymentGateway.ts"
import type { CreditRefused, InvoiceNotFound, MonthNotOver } from "../../../domain/invoices/Invoicing.ts"
import { type BelowMinimum, type NotOnboarded, PAYOUT_CENTS_MIN } from "../../../domain/payouts/Payouts.ts"
import type { GrantNotFound, TooManyGrants, UnknownProvider } from "../../../domain/metering/Grants.ts"
import type { MetricsRefused } from "../../../domain/platform/MetricsAccess.ts"
import type { IdempotencyConflict } from "../../../domain/shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../../../domain/shared/IdempotencyStore.ts"
import {
  type BadRequest,
  FAULTS_MAX,
  type MethodNotAllowed,
  type NoToolRegistered,
  type NotFound,
  type NotInTime,
  type PathRefused,
  type PayloadTooLarge,
  type RateLimited,
  type RouteNotFound,
  type UnsupportedMediaType,
  type ValidationFailed,
  type WrongRole
} from "./Failures.ts"
import { callMapping, type CallRefusal } from "./CallRefusals.ts"
import { fundsMapping, type FundsRefusal } from "./FundsRefusals.ts"
import { paymentMapping, type PaymentRefusal } from "./PaymentRefusals.ts"
import type { Problem, ProblemTable } from "./Problems.ts"
import { trustMapping, type TrustRefusal } from "./TrustRefusals.ts"

/** Whatever a handler may fail with. A new error without a row below does not compile. */
export type Refusal =
  | TrustRefusal
  | FundsRefusal
  | CallRefusal
  | PaymentRefusal
  | AlreadyRegistered
  | BadRequest
  | BelowMinimum
  | BudgetNotFound
  | CreditRefused
  | EndpointBlocked
  | ExpiryInThePast
  | GrantNotFound
  | HandleRefusal
  | IdempotencyConflict
  | IdempotencyInFlight
  | InvoiceNotFound
  | KeyNotFound
  | LastKey
  | MethodNotAllowed
  | MetricsRefused
  | MonthNotOver
  | NoToolRegistered
  | NotFound
  | NotInTime
  | NotOnboarded
  | PathRefused
  | PayloadTooLarge
  | PaymentFailed
  | PaymentsNotConfigured
  | RateLimited
  | RouteNotFound
  | ToolNotYours
  | ToolsRefused
  | TooManyBudgets
  | TooManyGrants
  | TooManyKeys
  | Unauthorized
  | UnknownProvider
  | UnsupportedMediaType
  | UntrustedEvent
  | ValidationFailed
  | WrongRole

const faultsOfTool = ({ error, faults, index, tool_name: name }: NoToolRegistered["tools"][number]) =>
  faults === undefined
    ? [{ path: ["tools", index], message: `${name}: ${error}` }]
    : faults.map(({ message, path }) => ({ path: ["tools", index, ...path], message }))

/** A database that is silent is asked again a little later. */
const LATE_RETRY_AFTER_SECONDS = 5

const mapping: ProblemTable<Refusal> = {
  ...trustMapping,
  ...fundsMapping,
  ...callMapping,
  ...paymentMapping,
  AlreadyRegistered: () => ({ status: 409, code: "DUPLICATE" }),
  BadRequest: (e) => ({
    status: 400,
    code: "BAD_REQUEST",
    ...(e.faults === undefined ? {} : { details: e.faults })
  }),
  BelowMinimum: (e) => ({
    status: 422,
    code: "BELOW_MINIMUM",
    extra: { minimum_cents: PAYOUT_CENTS_MIN, payout_balance_cents: e.balanceCents }
  }),
  BudgetNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  CreditRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["amount_microcents"], message: e.message }]
  }),
  EndpointBlocked: (e) => ({
    status: 422,
    code: "BLOCKED_ENDPOINT",
    details: [{ path: ["endpoint_url"], message: e.message }]
  }),
  ExpiryInThePast: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["expires_at"], message: e.message }]
  }),
  GrantNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  HandleRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["handle"], message: e.message }]
  }),
  HandleTaken: () => ({ status: 409, code: "DUPLICATE" }),
  IdempotencyConflict: () => ({ status: 409, code: "IDEMPOTENCY_CONFLICT" }),
  IdempotencyInFlight: (e) => ({
    status: 409,
    code: "IDEMPOTENCY_CONFLICT",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  InvoiceNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  KeyNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  LastKey: () => ({ status: 409, code: "DUPLICATE" }),
  MethodNotAllowed: (e) => ({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: e.allow.join(", ") } }),
  MonthNotOver: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: [{ path: ["month"], message: e.message }] }),
  NoToolRegistered: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.flatMap(faultsOfTool).slice(0, FAULTS_MAX),
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
  PathRefused: (e) => ({ status: 404, code: "NOT_FOUND", details: e.faults }),
  PayloadTooLarge: () => ({ status: 413, code: "PAYLOAD_TOO_LARGE", headers: { connection: "close" } }),
  PaymentFailed: () => ({ status: 502, code: "PROVIDER_ERROR" }),
  PaymentsNotConfigured: () => ({ status: 503, code: "NOT_CONFIGURED" }),
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
  ToolNotYours: () => ({ status: 404, code: "NOT_FOUND" }),
  MetricsRefused: () => ({ status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } }),
  TooManyBudgets: () => ({ status: 422, code: "VALIDATION_ERROR" }),
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

export const problemOf = <R extends Refusal>(refusal: R, baseUrl: string): Problem => ({
  ...(mapping[refusal._tag] as (refusal: R, baseUrl: string) => Omit<Problem, "message">)(refusal, baseUrl),
  message: refusal.message
})
