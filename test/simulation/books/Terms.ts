/**
 * The settings that limit what an account can take out: live defaults, or others from a seed.
 */
import { randomFrom } from "../../../testing/Random.ts"

export interface Terms {
  /** Full days from when a call was settled, until what it earned can be paid out. */
  readonly payoutDelayDays: number
  /** The same, of a provider's first days. */
  readonly newProviderDelayDays: number
  readonly newProviderDays: number
  readonly reservePercent: number
  readonly reserveDays: number
  readonly priceNoticeHours: number
  /** Of providers for which the operator set no other. */
  readonly feeBasisPoints: number
  /** What platform funds may pay of refunds that the provider does not cover. */
  readonly lossLimitCents: number
  readonly newAccountLoadCentsPerDay: number
  readonly newAccountDays: number
  readonly chargebackLiability: "platform" | "provider"
}

export const LIVE_DEFAULTS: Terms = {
  payoutDelayDays: 7,
  newProviderDelayDays: 30,
  newProviderDays: 90,
  reservePercent: 10,
  reserveDays: 90,
  priceNoticeHours: 24,
  feeBasisPoints: 1_000,
  lossLimitCents: 0,
  newAccountLoadCentsPerDay: 100_000,
  newAccountDays: 30,
  chargebackLiability: "platform"
}

/** Of three seeds, two have the live defaults. */
export const termsOf = (seed: number): Terms => {
  const random = randomFrom(seed ^ SALT)
  if (random.percent(67)) return LIVE_DEFAULTS
  return {
    ...LIVE_DEFAULTS,
    payoutDelayDays: random.pick([1, 3, 7, 14]),
    newProviderDelayDays: random.pick([1, 7, 30]),
    reservePercent: random.pick([0, 5, 10, 50]),
    reserveDays: random.pick([30, 90, 180]),
    priceNoticeHours: random.pick([1, 24, 72]),
    lossLimitCents: random.pick([0, 5_000, 50_000]),
    newAccountLoadCentsPerDay: random.pick([20_000, 100_000]),
    chargebackLiability: random.pick(["platform", "provider"]),
    feeBasisPoints: random.pick([0, 1, 999, 1_000, 2_500, 5_000])
  }
}

const SALT = 0x7e2a5
