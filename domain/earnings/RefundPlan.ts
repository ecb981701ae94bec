/**
 * Where the money of a refund comes from, as a pure function. Only existing money moves: the amount that the dispute
 * froze, then the provider's other money, then platform funds up to a limit. The missing part becomes a claim.
 */
import { least, positive } from "../ledger/PaidFunds.ts"
import { type LotPart, takeFrom, totalOfParts } from "../ledger/Lots.ts"

export interface RefundSources {
  /** What the provider and the platform got of the call. */
  readonly net: bigint
  readonly fee: bigint
  /** The call's own earnings, as far as they existed when the dispute was filed. */
  readonly frozen: bigint
  /** The provider's other money, in the order in which it is taken. */
  readonly parts: ReadonlyArray<LotPart>
  /** Undrawn fees and deposits. */
  readonly platformFunds: bigint
  /** What the platform may still advance for providers: the limit minus open advances. */
  readonly advanceLeft: bigint
}

export interface RefundPlan {
  readonly fromFrozen: bigint
  readonly fromLots: ReadonlyArray<LotPart>
  /** The platform's own part: its fee. */
  readonly fromPlatform: bigint
  /** Platform funds advanced for the provider; the platform then has the claim. */
  readonly advanced: bigint
  readonly owedByProvider: bigint
  readonly owedByPlatform: bigint
  /** What moves now. */
  readonly refunded: bigint
}

export const planRefund = (sources: RefundSources): RefundPlan => {
  const fromFrozen = covered(sources.net, sources.frozen)
  const fromLots = takeFrom(sources.parts, sources.net - fromFrozen)
  const fromPlatform = covered(sources.fee, sources.platformFunds)
  const missing = sources.net - fromFrozen - totalOfParts(fromLots)
  const advanced = covered(missing, sources.advanceLeft, sources.platformFunds - fromPlatform)
  return {
    fromFrozen,
    fromLots,
    fromPlatform,
    advanced,
    owedByProvider: missing - advanced,
    owedByPlatform: sources.fee - fromPlatform,
    refunded: sources.net - missing + advanced + fromPlatform
  }
}

const covered = (...amounts: ReadonlyArray<bigint>): bigint => positive(least(...amounts))
