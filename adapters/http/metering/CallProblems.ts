/**
 * Problems of calls: through the proxy, reported, and at the doors for MCP clients.
 */
import type { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import type { PriceChanged, PriceVersionChanged } from "../../../domain/metering/CallRejections.ts"
import type { ToolDirectory } from "../../../domain/metering/ToolDirectory.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import type { UpstreamProblem } from "../../../domain/upstream/ToolUpstream.ts"
import { catalogProblems } from "../catalog/ToolViews.ts"
import { defaultCapPage } from "../contract/BaseUrl.ts"
import type { ProblemCode, ProblemStatus } from "../contract/Problem.ts"
import {
  type ErrorDeclared,
  inFlight,
  invalid,
  invalidField,
  keyConflict,
  limitReached,
  type Problem,
  problemOf as problemIn,
  type ProblemRow,
  type ProblemsOf,
  type RequestError,
  unavailableFor
} from "../pipeline/Problems.ts"

const OVERDUE_RETRY_AFTER_SECONDS = 5

export const callProblems = {
  BudgetExceeded: (e) => ({
    status: 402,
    code: "BUDGET_EXCEEDED",
    hint:
      e.level === "account"
        ? "POST /api/v1/market/budgets raises it."
        : e.level === "run"
          ? "Start a run with a higher limit: POST /api/v1/market/runs with the key that started this one."
          : "PATCH /api/v1/market/keys/{key_id} raises it, with a key above this one or without bounds.",
    extra: {
      budget_id: e.budgetId,
      cap_microcents: Number(e.capMicrocents),
      left_microcents: Number(e.leftMicrocents),
      resets_at: e.resetsAt ?? null,
      level: e.level,
      level_id: e.levelId ?? null,
      period: e.period,
      spent_microcents: Number(e.spentMicrocents),
      held_microcents: Number(e.heldMicrocents)
    }
  }),
  CallNotAllowed: (e) => ({
    status: 403,
    code: "CALL_NOT_ALLOWED",
    extra: { level: e.kind, level_id: e.levelId, bound: e.bound }
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
  TooManyPins: invalidField("tool_name"),
  ToolAmbiguous: (e) => ({ status: 409, code: "DUPLICATE", extra: { candidates: e.candidates } }),
  ToolWithdrawn: (e) => ({
    status: 410,
    code: "TOOL_WITHDRAWN",
    extra: { tool_id: e.toolId, withdrawn_at: e.since }
  }),
  ToolNotFound: catalogProblems.ToolNotFound
} satisfies ProblemsOf<McpCalls | ToolDirectory>

export type HandlerError = RequestError | ErrorDeclared<typeof callProblems, ProblemStatus>

export const problemOf = (error: HandlerError, baseUrl: string): Problem => problemIn(error, baseUrl, callProblems)

const priceChanged = (e: PriceChanged | PriceVersionChanged): ProblemRow<409, "PRICE_CHANGED"> => ({
  status: 409,
  code: "PRICE_CHANGED",
  hint: "Raise `max_cost_microcents`, or get a new quote with `dry_run: true`.",
  extra: {
    price_microcents: Number(e.priceMicrocents),
    max_cost_microcents: Number(e.maxCostMicrocents),
    price_version: e.priceVersion
  }
})

const providerError = { status: 502, code: "PROVIDER_ERROR" } as const
const unavailable = { status: 503, code: "UNAVAILABLE" } as const

/** The MCP doors use it too. An outcome without a problem does not compile. */
export const problemOfKind = {
  blocked_endpoint: { status: 422, code: "BLOCKED_ENDPOINT" },
  canceled: providerError,
  circuit_open: unavailable,
  connection: providerError,
  http_status: providerError,
  json_rpc_error: providerError,
  malformed_answer: providerError,
  overloaded: unavailable,
  rate_limited: providerError,
  session_lost: providerError,
  // A call that timed out has that status, and its own problem.
  timeout: providerError,
  too_large: providerError,
  unfinished: providerError
} as const satisfies Record<UpstreamProblem["kind"], { readonly status: ProblemStatus; readonly code: ProblemCode }>
