/**
 * Earnings, holdings and payouts as the API shows them.
 */
import type { EarningsTotals } from "../../../domain/payouts/Earnings.ts"
import type { Payout } from "../../../domain/payouts/PayoutStore.ts"
import type { ProviderHoldings } from "../../../domain/payouts/ProviderMoney.ts"
import { formatDollars, fromCents, toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"

export const earningsView = (totals: EarningsTotals) => ({
  calls: totals.calls,
  gross_cents: toCents(totals.grossMicrocents),
  gross_microcents: Number(totals.grossMicrocents),
  platform_fee_cents: toCents(totals.feeMicrocents),
  platform_fee_microcents: Number(totals.feeMicrocents),
  net_cents: toCents(totals.netMicrocents),
  net_microcents: Number(totals.netMicrocents)
})

const MATURITIES_SHOWN_MAX = 200

export const holdingsView = (holdings: ProviderHoldings) => ({
  maturing_cents: toCents(holdings.maturingMicrocents),
  maturing_microcents: Number(holdings.maturingMicrocents),
  available_cents: toCents(holdings.availableMicrocents),
  available_microcents: Number(holdings.availableMicrocents),
  reserved_cents: toCents(holdings.reservedMicrocents),
  reserved_microcents: Number(holdings.reservedMicrocents),
  frozen_cents: toCents(holdings.frozenMicrocents),
  frozen_microcents: Number(holdings.frozenMicrocents),
  reserve_lifted: holdings.reserveLifted,
  maturities: holdings.maturities.slice(0, MATURITIES_SHOWN_MAX).map(({ amount, availableOn, from }) => ({
    available_on: availableOn,
    amount_cents: toCents(amount),
    amount_microcents: Number(amount),
    from
  }))
})

export const payoutView = (payout: Payout) => ({
  id: payout.id,
  amount_cents: payout.amountCents,
  status: payout.state,
  paid_at: payout.paidAt === undefined ? null : format(payout.paidAt),
  created_at: format(payout.createdAt),
  stripe_transfer_id: payout.transferId ?? null,
  failure: payout.failure ?? null
})

export const payoutMessage = ({ amountCents, failure, state }: Payout): string => {
  const amount = formatDollars(fromCents(amountCents))
  switch (state) {
    case "paid":
      return `${amount} was sent to your account.`
    case "failed":
      return `The payment processor rejected the payout: ${failure ?? "no reason given"}. ${amount} was returned to your balance.`
    case "reversed":
      return `The payment processor reversed ${amount}.`
    default:
      return `${amount} is reserved; the transfer is in progress. GET /api/market/payouts shows its status.`
  }
}
