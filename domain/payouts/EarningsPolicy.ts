/**
 * How long earnings wait before they can be paid out, and what is kept back against disputes and chargebacks.
 */
import { Context } from "effect"

export interface EarningsPolicy {
  /** Full days after the settlement day before earnings can be paid out. */
  readonly delayDays: number
  /** Instead, for what a provider earns in its first `newProviderDays`. */
  readonly newProviderDelayDays: number
  readonly newProviderDays: number
  /** The rolling reserve: of each day's earnings so much stays for so many days. */
  readonly reservePercent: number
  readonly reserveDays: number
}

export const LIVE_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 7,
  newProviderDelayDays: 30,
  newProviderDays: 90,
  reservePercent: 10,
  reserveDays: 90
}

/** A dry run pays nobody, so there is nothing to wait for. */
export const DRY_RUN_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 0,
  newProviderDelayDays: 0,
  newProviderDays: 90,
  reservePercent: 0,
  reserveDays: 0
}

export const CurrentEarningsPolicy = Context.Reference<EarningsPolicy>(
  "agent-tool-billing/domain/payouts/CurrentEarningsPolicy",
  { defaultValue: () => LIVE_EARNINGS_POLICY }
)
