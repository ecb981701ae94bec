/**
 * Payouts, claims, chargebacks and jobs as the operator sees them.
 */
import { DateTime } from "effect"
import type { Claim } from "../../../domain/earnings/Claims.ts"
import { isOpen, type Payout } from "../../../domain/earnings/PayoutStore.ts"
import type { Chargeback } from "../../../domain/payments/AccountFreezes.ts"
import type { Heartbeat } from "../../../domain/platform/Health.ts"
import type { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"

export const chargebackView = (one: Chargeback, consumerName: string) => ({
  chargeback_id: one.id,
  consumer_id: one.consumerId,
  consumer_name: consumerName,
  amount_cents: one.amountCents,
  state: one.state,
  funds: one.funds,
  released: one.released,
  opened_at: format(one.openedAt),
  updated_at: format(one.updatedAt)
})

export const payoutView = (payout: Payout, providerName: string) => ({
  payout_id: payout.id,
  provider_id: payout.providerId,
  provider_name: providerName,
  amount_cents: payout.amountCents,
  state: payout.state,
  transfer_id: payout.transferId ?? null,
  failure: payout.failure ?? null,
  reversed_cents: payout.reversedCents,
  attempts: payout.attempts,
  next_attempt_at: isOpen(payout) ? format(payout.nextAttemptAt) : null,
  created_at: format(payout.createdAt),
  paid_at: payout.paidAt === undefined ? null : format(payout.paidAt)
})

export const claimView = (claim: Claim, nameOf: (id: ConsumerId | ProviderId) => string) => ({
  claim_id: claim.id,
  dispute_id: claim.subject,
  debtor_id: claim.debtor ?? null,
  debtor_name: claim.debtor === undefined ? null : nameOf(claim.debtor),
  creditor_id: claim.creditor ?? null,
  creditor_name: claim.creditor === undefined ? null : nameOf(claim.creditor),
  amount_microcents: claim.amount,
  paid_microcents: claim.paid,
  created_at: format(claim.createdAt)
})

export const jobView = ({ durationMs, failure, intervalMs, job, lastMs, late }: Heartbeat) => ({
  job,
  interval_seconds: intervalMs / 1_000,
  last_success_at: durationMs === undefined ? null : timeOf(lastMs),
  duration_ms: durationMs === undefined ? null : Math.round(durationMs * 10) / 10,
  next_run_at: timeOf(lastMs + intervalMs),
  late,
  failed_at: failure === undefined ? null : timeOf(failure.atMs),
  failure: failure?.problem ?? null
})

const timeOf = (epochMs: number) => format(DateTime.makeUnsafe(epochMs))
