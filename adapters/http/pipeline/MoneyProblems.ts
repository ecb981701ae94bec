/**
 * Problems of spending, loading, withdrawing, paying out and posting money.
 */
import { PAYOUT_CENTS_MIN } from "../../../domain/earnings/PayoutOpening.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import {
  duplicate,
  invalid,
  invalidField,
  notConfigured,
  notFound,
  type ProblemTable,
  providerError
} from "./ProblemTable.ts"

export const moneyProblems = {
  AccountFrozen: () => ({
    status: 403,
    code: "ACCOUNT_FROZEN",
    hint: "GET /api/v1/market/whoami shows the reason; POST /api/market/balance/load pays a debt."
  }),
  BelowMinimum: (e) => ({
    status: 422,
    code: "BELOW_MINIMUM",
    hint: "GET /api/market/payouts shows when your earnings become available.",
    extra: { minimum_cents: PAYOUT_CENTS_MIN, payout_balance_cents: e.balanceCents }
  }),
  BudgetNotFound: notFound("GET /api/v1/market/budgets lists yours."),
  CreditRejected: invalidField("amount_microcents"),
  DebtOutstanding: (e) => ({
    status: 409,
    code: "DEBT_OUTSTANDING",
    hint: "POST /api/market/balance/load pays it.",
    extra: { owed_cents: e.owedCents }
  }),
  DuplicateReference: duplicate(),
  FundsTooLow: (e) => ({
    status: 409,
    code: "INSUFFICIENT_PLATFORM_FUNDS",
    extra: {
      needed_microcents: Number(e.neededMicrocents),
      platform_funds_microcents: Number(e.availableMicrocents),
      platform_funds_cents: toCents(e.availableMicrocents)
    }
  }),
  GrantNotFound: notFound("GET /api/v1/market/grants lists yours."),
  InvoiceNotFound: notFound("GET /api/v1/market/invoices lists yours."),
  LoadLimitReached: (e) => ({
    status: 422,
    code: "LOAD_LIMIT_REACHED",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { limit_cents: e.limitCents, left_cents: e.leftCents, retry_at: e.retryAt }
  }),
  MonthNotOver: invalidField("month"),
  NoSuchLoss: invalidField("amount_cents"),
  NotOnboarded: (_, baseUrl) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    hint: "POST /api/market/connect gives the link.",
    extra: { connect_url: `${baseUrl}/api/market/connect` }
  }),
  NotWithdrawable: (e) => ({
    status: 422,
    code: "NOT_WITHDRAWABLE",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { withdrawable_cents: e.withdrawableCents }
  }),
  PayoutNotRetried: (e) =>
    e.because === "unknown"
      ? { status: 404, code: "NOT_FOUND", hint: "GET /api/v1/operator/payouts lists all payouts." }
      : { status: 422, code: "VALIDATION_ERROR", details: [{ path: ["payout_id"], message: e.message }] },
  PaymentFailed: providerError(),
  PaymentsNotConfigured: notConfigured("The operator can set PAYMENTS=stripe."),
  PdfNotConfigured: notConfigured("Replace .pdf by .html or .json in the URL."),
  RecoveredByChargeback: (e) => ({
    status: 409,
    code: "RECOVERED_BY_CHARGEBACK",
    extra: { chargeback_id: e.chargebackId }
  }),
  TooManyBudgets: invalid(),
  TooManyGrants: invalid(),
  UnknownProvider: invalidField("provider_id"),
  UntrustedEvent: () => ({ status: 400, code: "BAD_REQUEST" })
} satisfies Partial<ProblemTable>
