/**
 * The state of each part of a provider's money, as a pure function of its lots and the clock. Earnings mature first;
 * then most of them are available, and the rest stays in the rolling reserve until its time is over.
 */
import { Context, DateTime } from "effect"
import { type Lot, type LotPart, remainingIn, totalOfParts } from "../ledger/Transfer.ts"

/** The delay of earnings before a payout, the part kept against disputes and chargebacks, and who bears the rest. */
export interface EarningsPolicy {
  /** Full days after the settlement day before earnings can be paid out. */
  readonly delayDays: number
  /** The delay for earnings of a provider's first `newProviderDays`. */
  readonly newProviderDelayDays: number
  readonly newProviderDays: number
  /** Rolling reserve: this share of each day's earnings is kept for so many days. */
  readonly reservePercent: number
  readonly reserveDays: number
  /** The total that the platform advances for providers that cannot pay a refund. */
  readonly refundLossLimitCents: number
  /** Says who is liable for a chargeback: providers' maturing earnings from the consumer, or only the platform. */
  readonly chargebackLiability: "platform" | "provider"
}

/** The default with real money: earnings wait until most chargebacks would be known. */
export const LIVE_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 7,
  newProviderDelayDays: 30,
  newProviderDays: 90,
  reservePercent: 10,
  reserveDays: 90,
  refundLossLimitCents: 0,
  chargebackLiability: "platform"
}

/** In a dry run no provider is paid, so there is no delay. */
export const DRY_RUN_EARNINGS_POLICY: EarningsPolicy = {
  delayDays: 0,
  newProviderDelayDays: 0,
  newProviderDays: 90,
  reservePercent: 0,
  reserveDays: 0,
  refundLossLimitCents: 0,
  chargebackLiability: "platform"
}

/** The policy that applies. Default: `LIVE_EARNINGS_POLICY`, the one for real payments. */
export const CurrentEarningsPolicy = Context.Reference<EarningsPolicy>(
  "agent-tool-billing/domain/earnings/CurrentEarningsPolicy",
  { defaultValue: () => LIVE_EARNINGS_POLICY }
)

export interface EarningStates {
  /** Each oldest first. */
  readonly maturing: ReadonlyArray<LotPart>
  readonly reserved: ReadonlyArray<LotPart>
  readonly available: ReadonlyArray<LotPart>
  readonly maturingMicrocents: bigint
  readonly reservedMicrocents: bigint
  readonly availableMicrocents: bigint
  /** The times when each part becomes available, soonest first. */
  readonly maturities: ReadonlyArray<Maturity>
}

/** An amount of a provider that becomes available on a later day. */
export interface Maturity {
  /** The day (UTC) from which the amount can be paid out. */
  readonly availableOn: string
  readonly amount: bigint
  readonly from: "maturing" | "reserved"
}

export interface EarningTerms {
  readonly policy: EarningsPolicy
  readonly registeredAt: DateTime.Utc
  /** Set by the operator: no reserve is kept. */
  readonly reserveLifted: boolean
}

export const earningStatesOf = (lots: ReadonlyArray<Lot>, terms: EarningTerms, now: DateTime.Utc): EarningStates => {
  const today = DateTime.formatIsoDateUtc(now)
  const [maturing, reserved, available]: [Array<LotPart>, Array<LotPart>, Array<LotPart>] = [[], [], []]
  const maturities = new Map<string, Maturity>()
  const waits = (from: Maturity["from"], availableOn: string, amount: bigint) => {
    const before = maturities.get(`${availableOn} ${from}`)?.amount ?? 0n
    if (amount > 0n) maturities.set(`${availableOn} ${from}`, { availableOn, amount: before + amount, from })
  }
  for (const lot of lots) {
    const remaining = remainingIn(lot)
    if (remaining <= 0n) continue
    const { day } = lot
    const kept = reserveOf(lot, remaining, terms)
    const delayDays = delayDaysOf(day, terms)
    const maturesOn = dayAfter(day, delayDays)
    const reservedUntil = kept === 0n ? maturesOn : dayAfter(day, Math.max(terms.policy.reserveDays, 1))
    // Without a delay there is nothing to wait for, whatever the clock of the settling node was.
    if (delayDays > 0 && today < maturesOn) {
      maturing.push({ day, amount: remaining })
      waits("maturing", maturesOn, remaining - (maturesOn < reservedUntil ? kept : 0n))
      if (maturesOn < reservedUntil) waits("reserved", reservedUntil, kept)
      continue
    }
    const reservedNow = today < reservedUntil ? kept : 0n
    if (reservedNow > 0n) {
      reserved.push({ day, amount: reservedNow })
      waits("reserved", reservedUntil, reservedNow)
    }
    if (remaining > reservedNow) available.push({ day, amount: remaining - reservedNow })
  }
  return {
    maturing,
    reserved,
    available,
    maturingMicrocents: totalOfParts(maturing),
    reservedMicrocents: totalOfParts(reserved),
    availableMicrocents: totalOfParts(available),
    maturities: [...maturities.values()].toSorted((a, b) =>
      a.availableOn === b.availableOn ? (a.from < b.from ? -1 : 1) : a.availableOn < b.availableOn ? -1 : 1
    )
  }
}

/** The order in which anything but a payout takes money: the part that has to wait longest goes first. */
export const inOrderOfRecovery = ({ available, maturing, reserved }: EarningStates): ReadonlyArray<LotPart> => [
  ...maturing,
  ...reserved,
  ...available
]

/** Rounds up, to never more than what is left of the lot. */
const reserveOf = (lot: Lot, remaining: bigint, { policy, reserveLifted }: EarningTerms): bigint => {
  if (reserveLifted || policy.reservePercent === 0 || policy.reserveDays === 0) return 0n
  const kept = (lot.earned * BigInt(policy.reservePercent) + 99n) / 100n
  return kept < remaining ? kept : remaining
}

const delayDaysOf = (day: string, { policy, registeredAt }: EarningTerms): number => {
  const newUntil = dayAfter(DateTime.formatIsoDateUtc(registeredAt), policy.newProviderDays)
  return day < newUntil ? policy.newProviderDelayDays : policy.delayDays
}

/** A lot fills until its day is over. It is due the given number of full days later, or at once without a delay. */
const dayAfter = (day: string, days: number): string =>
  days === 0
    ? day
    : DateTime.formatIsoDateUtc(DateTime.add(DateTime.makeUnsafe(`${day}T00:00:00.000Z`), { days: days + 1 }))
