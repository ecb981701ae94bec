/**
 * The platform fee, in basis points (1/100 of a percent) of what a call costs. A provider has the default fee or its own.
 * The fee in effect when a call is held is recorded on the call, and everything later uses the recorded one: a change
 * never affects open or past calls.
 */
import { Context, DateTime, type Duration } from "effect"
import type { Microcents } from "../shared/Microcents.ts"

export const FEE_BASIS_POINTS_DEFAULT = 1_000

/** Half of the cost. More can only be a typing error, and it would take the earnings of every provider. */
export const FEE_BASIS_POINTS_MAX = 5_000

const WHOLE = 10_000n

/**
 * The platform fee of providers without one of their own, in basis points of what a call costs. Default:
 * `FEE_BASIS_POINTS_DEFAULT`.
 */
export const DefaultFeeBasisPoints = Context.Reference<number>(
  "agent-tool-billing/domain/ledger/DefaultFeeBasisPoints",
  { defaultValue: () => FEE_BASIS_POINTS_DEFAULT }
)

/** The fee of one provider in basis points. Undefined: it pays the default fee. */
export type OwnFee = number | undefined

/** A provider's own fee, if it has one, and the one announced. */
export interface ProviderFee {
  readonly own: OwnFee
  readonly upcoming: { readonly own: OwnFee; readonly effectiveFrom: DateTime.Utc } | undefined
}

/** One entry of the history of a provider's fee, which is only added to. */
export interface FeeChange {
  readonly fee: ProviderFee
  readonly at: DateTime.Utc
  /** The operator's session, its key, or the registration. */
  readonly by: string
  readonly reason: string | undefined
}

/** Of a provider's history only the newest are returned. */
export const FEE_CHANGES_SHOWN_MAX = 50

export const NO_OWN_FEE: ProviderFee = { own: undefined, upcoming: undefined }

/**
 * The platform's share, rounded half up; the provider gets the rest. Unless the fee is zero, at least 1 microcent of any
 * cost above 0: otherwise a cost split into small parts would have no fee.
 */
export const feeOf = (cost: bigint, basisPoints: number): Microcents => {
  if (cost === 0n || basisPoints === 0) return 0n as Microcents
  const share = (cost * BigInt(basisPoints) + WHOLE / 2n) / WHOLE
  return (share === 0n ? 1n : share) as Microcents
}

/** An announced fee takes effect exactly at its time, on every node, whatever is stored or cached. */
export const providerFeeAt = (fee: ProviderFee, nowMs: number): ProviderFee =>
  fee.upcoming === undefined || fee.upcoming.effectiveFrom.epochMilliseconds > nowMs
    ? fee
    : { own: fee.upcoming.own, upcoming: undefined }

export const basisPointsAt = (fee: ProviderFee, defaultFee: number, nowMs: number): number =>
  providerFeeAt(fee, nowMs).own ?? defaultFee

/**
 * The fee after the operator set it, or with `wanted` undefined removed it. A lower fee applies at once, a higher one
 * after the notice, as an increase of a price does. A later change replaces an upcoming one; if it is not higher than
 * that, it needs no longer notice.
 */
export const planFee = (
  known: ProviderFee,
  wanted: OwnFee,
  terms: { readonly defaultFee: number; readonly now: DateTime.Utc; readonly notice: Duration.Duration }
): ProviderFee => {
  const { defaultFee, notice, now } = terms
  const { own, upcoming } = providerFeeAt(known, now.epochMilliseconds)
  const requested = wanted ?? defaultFee
  const effectiveFrom = DateTime.addDuration(now, notice)
  const isAtOnce = requested <= (own ?? defaultFee) || DateTime.isLessThanOrEqualTo(effectiveFrom, now)
  if (isAtOnce) return { own: wanted, upcoming: undefined }
  const announced =
    upcoming !== undefined && requested <= (upcoming.own ?? defaultFee) ? upcoming.effectiveFrom : undefined
  return {
    own,
    upcoming: {
      own: wanted,
      effectiveFrom: announced === undefined ? effectiveFrom : DateTime.min(announced, effectiveFrom)
    }
  }
}

/** `10%`, `2.5%`. */
export const feePercent = (basisPoints: number): string => `${basisPoints / 100}%`
