/**
 * How long earnings wait before they can be paid out, and how much is kept against disputes and chargebacks.
 */
import { Context } from "effect"

export interface EarningsPolicy {
  /** Full days after the settlement day before earnings can be paid out. */
  readonly delayDays: number
  /** The delay for earnings of a provider's first `newProviderDays`. */
  readonly newProviderDelayDays: number
  readonly newProviderDays: number
  /** Rolling reserve: this share of each day's earnings is kept for so many days. */
  readonly reservePercent: number
  readonly reserveDays: number
}

/** The default with real money: earnings wait until most chargebacks would be known. */
export const LIVE_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 7,
  newProviderDelayDays: 30,
  newProviderDays: 90,
  reservePercent: 10,
  reserveDays: 90
}

/** In a dry run no provider is paid, so there is no delay. */
export const DRY_RUN_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 0,
  newProviderDelayDays: 0,
  newProviderDays: 90,
  reservePercent: 0,
  reserveDays: 0
}

/** The policy that applies. Default: the one for real payments. */
export const CurrentEarningsPolicy = Context.Reference<EarningsPolicy>(
  "agent-tool-billing/domain/earnings/CurrentEarningsPolicy",
  { defaultValue: () => LIVE_EARNINGS_POLICY }
)
