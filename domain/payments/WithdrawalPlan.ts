/**
 * From which loads a withdrawal is refunded, and the processor's fee of each, as a pure function. Newest loads first:
 * the oldest load was spent first.
 */
import type { Load } from "./LoadStore.ts"

export interface RefundableLoad {
  readonly load: Load
  /** What is left of it after refunds, withdrawals and chargebacks. */
  readonly leftCents: number
}

export interface PlannedPart {
  readonly load: Load
  readonly amountCents: number
  readonly feeCents: number
}

/** Takes what fits, at most `amountCents`, from the loads in their order. */
export const planWithdrawal = (
  loads: ReadonlyArray<RefundableLoad>,
  amountCents: number
): ReadonlyArray<PlannedPart> => {
  let missing = amountCents
  return loads.flatMap(({ leftCents, load }) => {
    const taken = Math.min(leftCents, missing)
    const feeCents = retainedFee(load, taken)
    // The processor refunds whole cents above zero.
    if (taken <= 0 || taken <= feeCents) return []
    missing -= taken
    return [{ load, amountCents: taken, feeCents }]
  })
}

/** The processing fee of the load, pro rata, rounded up: the platform, which paid it, never loses. */
const retainedFee = ({ amountCents, feeCents = 0 }: Load, taken: number): number =>
  Number((BigInt(feeCents) * BigInt(taken) + BigInt(amountCents) - 1n) / BigInt(amountCents))

export const totalCents = (parts: ReadonlyArray<{ readonly amountCents: number }>): number =>
  parts.reduce((sum, { amountCents }) => sum + amountCents, 0)
