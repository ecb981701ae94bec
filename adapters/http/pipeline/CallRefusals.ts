/**
 * Why a call is not made or not answered, with HTTP status, code and extra fields.
 */
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
import type { SchemaBudgetSpent } from "../../../domain/catalog/JsonSchemas.ts"
import type { CallOverdue } from "../../../domain/metering/CallEndings.ts"
import type { TooManyCallsInFlight } from "../../../domain/metering/CallsInFlight.ts"
import type { AnswerNotKept } from "../../../domain/metering/LeftAnswers.ts"
import type { CallTimeRefused, CostTooHigh, NotYours } from "../../../domain/metering/DirectMetering.ts"
import type { NoGrant } from "../../../domain/metering/Reservations.ts"
import type { TooManyPins } from "../../../domain/metering/NamePins.ts"
import type { ToolAmbiguous, ToolNotFound, ToolWithdrawn } from "../../../domain/metering/ToolDirectory.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import type { ProblemTable } from "./Problems.ts"

export type CallRefusal =
  | AnswerNotKept
  | BudgetExceeded
  | CallConflict
  | CallInFlight
  | CallOverdue
  | CallTimeRefused
  | CapRequired
  | CostTooHigh
  | InsufficientFunds
  | InvalidArguments
  | PriceChanged
  | PriceVersionChanged
  | SchemaBudgetSpent
  | TooManyCallsInFlight
  | TooManyPins
  | ToolAmbiguous
  | ToolNotFound
  | ToolWithdrawn
  | NoGrant
  | NotYours

const OVERDUE_RETRY_AFTER_SECONDS = 5

export const callMapping: ProblemTable<CallRefusal> = {
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
  SchemaBudgetSpent: (e) => ({
    status: 503,
    code: "UNAVAILABLE",
    headers: { "retry-after": String(e.retryAfterSeconds) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
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
  TooManyPins: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["tool_name"], message: e.message }]
  }),
  ToolAmbiguous: (e) => ({ status: 409, code: "DUPLICATE", extra: { candidates: e.candidates } }),
  ToolNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  ToolWithdrawn: (e) => ({
    status: 410,
    code: "TOOL_WITHDRAWN",
    extra: { tool_id: e.toolId, withdrawn_at: e.since }
  }),
  NoGrant: () => ({ status: 403, code: "FORBIDDEN" }),
  NotYours: () => ({ status: 403, code: "FORBIDDEN" })
}
