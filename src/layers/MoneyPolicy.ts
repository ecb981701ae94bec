/**
 * The policies that protect money: strict with real payments, off in a dry run.
 */
import { Layer } from "effect"
import {
  CurrentEarningsPolicy,
  DRY_RUN_EARNINGS_POLICY,
  type EarningsPolicy,
  LIVE_EARNINGS_POLICY
} from "../../domain/payouts/EarningsPolicy.ts"
import { RefundLossLimitCents } from "../../domain/refunds/Refunds.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const moneyPolicy = (config: AppConfig) =>
  Layer.mergeAll(
    Layer.succeed(CurrentEarningsPolicy, earningsPolicy(config)),
    Layer.succeed(RefundLossLimitCents, valueOf(config, "REFUND_LOSS_LIMIT_CENTS"))
  )

const earningsPolicy = (config: AppConfig): EarningsPolicy => {
  const preset = config.PAYMENTS === "stripe" ? LIVE_EARNINGS_POLICY : DRY_RUN_EARNINGS_POLICY
  return {
    delayDays: config.PAYOUT_DELAY_DAYS ?? preset.delayDays,
    newProviderDelayDays: config.PAYOUT_DELAY_DAYS_NEW ?? preset.newProviderDelayDays,
    newProviderDays: LIVE_EARNINGS_POLICY.newProviderDays,
    reservePercent: config.RESERVE_PERCENT ?? preset.reservePercent,
    reserveDays: config.RESERVE_DAYS ?? preset.reserveDays
  }
}
