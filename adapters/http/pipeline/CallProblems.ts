/**
 * Problems of calls.
 */
import { SCHEMA_CHECKS_CPU_MS_MAX } from "../../../domain/catalog/JsonSchemas.ts"
import type { PriceChanged, PriceVersionChanged } from "../../../domain/metering/CallRejections.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { defaultCapPage } from "../contract/BaseUrl.ts"
import {
  forbidden,
  inFlight,
  invalid,
  invalidField,
  keyConflict,
  limitReached,
  notFound,
  type ProblemRow,
  type ProblemTable,
  tooMany,
  unavailableFor
} from "./ProblemTable.ts"

const OVERDUE_RETRY_AFTER_SECONDS = 5
const UNSIGNED_RETRY_AFTER_SECONDS = 5

export const callProblems = {
  ResultNotRetained: (e) => ({
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
    hint: "POST /api/v1/market/budgets raises it.",
    extra: {
      budget_id: e.budgetId,
      cap_microcents: Number(e.capMicrocents),
      left_microcents: Number(e.leftMicrocents),
      resets_at: e.resetsAt ?? null
    }
  }),
  CallConflict: keyConflict(),
  CallInFlight: inFlight,
  CallOverdue: (e) => {
    const { extra, ...problem } = unavailableFor(OVERDUE_RETRY_AFTER_SECONDS)
    return {
      ...problem,
      extra: { ...extra, outcome: "error", cost_cents: 0, cost_microcents: 0, receipt_id: e.receiptId }
    }
  },
  CallTimeRejected: invalidField("timestamp"),
  CapRequired: (e, baseUrl) => ({
    status: 422,
    code: "CAP_REQUIRED",
    hint:
      "Send `max_cost_microcents` in the body or the header `X-Max-Cost-Microcents`. `default_cap_microcents` of " +
      `POST /api/v1/market/default-cap sets it for all calls of your key or account, and ${defaultCapPage(baseUrl)} of your account.`,
    extra: {
      price_microcents: Number(e.priceMicrocents),
      max_cost_microcents: Number(e.maxCostMicrocents),
      default_cap_url: defaultCapPage(baseUrl)
    }
  }),
  CostTooHigh: invalidField("cost_microcents"),
  InsufficientFunds: (e, baseUrl) => ({
    status: 402,
    code: "INSUFFICIENT_FUNDS",
    hint: `Add funds at ${baseUrl}/api/market/balance/load.`,
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
  PriceChanged: (e) => priceChanged(e),
  PriceVersionChanged: (e) => priceChanged(e),
  RequestStateRejected: invalid(),
  SignerUnavailable: () => ({
    ...unavailableFor(UNSIGNED_RETRY_AFTER_SECONDS),
    message:
      "The service cannot sign or verify receipts at the moment. Try again in a few seconds: what is sent again with the same " +
      "Idempotency-Key is done once."
  }),
  SchemaChecksLimited: (e) => tooMany(SCHEMA_CHECKS_CPU_MS_MAX[e.of], e.retryAfterSeconds),
  SchemaBudgetSpent: (e) => unavailableFor(e.retryAfterSeconds),
  TooManyCallsInFlight: (e) =>
    limitReached(e.max, e.retryAfterSeconds, e.retryAfterSeconds, {
      limit: "calls_in_flight",
      calls_in_flight_max: e.max
    }),
  TooManyCallsWaiting: (e) =>
    limitReached(e.max, e.retryAfterSeconds, e.retryAfterSeconds, {
      limit: "calls_waiting",
      calls_waiting_max: e.max
    }),
  ToolboxFull: invalid(),
  TooManyPins: invalidField("tool_name"),
  ToolAmbiguous: (e) => ({ status: 409, code: "DUPLICATE", extra: { candidates: e.candidates } }),
  ToolNotInToolbox: notFound("GET /api/market/toolbox lists its tools."),
  ToolNotFound: notFound("GET /api/market/catalog lists all tools."),
  ToolWithdrawn: (e) => ({
    status: 410,
    code: "TOOL_WITHDRAWN",
    extra: { tool_id: e.toolId, withdrawn_at: e.since }
  }),
  NoGrant: (e) => ({
    status: 403,
    code: "FORBIDDEN",
    ...(e.reason === "none" ? { hint: "The consumer gives one with POST /api/v1/market/grants." } : {})
  }),
  NotYours: forbidden()
} satisfies Partial<ProblemTable>

const priceChanged = (e: PriceChanged | PriceVersionChanged): ProblemRow<409> => ({
  status: 409,
  code: "PRICE_CHANGED",
  hint: "Raise `max_cost_microcents`, or get a new quote with `dry_run: true`.",
  extra: {
    price_microcents: Number(e.priceMicrocents),
    max_cost_microcents: Number(e.maxCostMicrocents),
    price_version: e.priceVersion
  }
})
