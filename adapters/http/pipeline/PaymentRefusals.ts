/**
 * What a consumer is told when its money cannot be spent, loaded or withdrawn as asked.
 */
import type { AccountFrozen } from "../../../domain/metering/CallRefusals.ts"
import type { RecoveredByChargeback } from "../../../domain/payments/ChargebackRecoveries.ts"
import type { LoadLimitReached } from "../../../domain/payments/LoadLimit.ts"
import type { DebtOutstanding, NotWithdrawable } from "../../../domain/payments/Withdrawals.ts"
import type { ProblemTable } from "./Problems.ts"

export type PaymentRefusal =
  | AccountFrozen
  | DebtOutstanding
  | LoadLimitReached
  | NotWithdrawable
  | RecoveredByChargeback

export const paymentMapping: ProblemTable<PaymentRefusal> = {
  AccountFrozen: () => ({ status: 403, code: "ACCOUNT_FROZEN" }),
  DebtOutstanding: (e) => ({ status: 409, code: "DEBT_OUTSTANDING", extra: { owed_cents: e.owedCents } }),
  LoadLimitReached: (e) => ({
    status: 422,
    code: "LOAD_LIMIT_REACHED",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { limit_cents: e.limitCents, left_cents: e.leftCents, retry_at: e.retryAt }
  }),
  NotWithdrawable: (e) => ({
    status: 422,
    code: "NOT_WITHDRAWABLE",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { withdrawable_cents: e.withdrawableCents }
  }),
  RecoveredByChargeback: (e) => ({
    status: 409,
    code: "RECOVERED_BY_CHARGEBACK",
    extra: { chargeback_id: e.chargebackId }
  })
}
