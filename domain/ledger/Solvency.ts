/**
 * Whether all money that can be spent or withdrawn was received. Double entry keeps debits equal to credits; solvency
 * checks that balances are backed by received money.
 */
import { type AccountKind, mayBeOverdrawn } from "./Account.ts"
import type { AccountTotals } from "./LedgerStore.ts"

export interface Solvency {
  /**
   * Balances that can be spent or withdrawn: wallets, providers' money in every state, platform funds, clearing
   * accounts.
   */
  readonly spendableMicrocents: bigint
  readonly receivedMicrocents: bigint
  readonly sentMicrocents: bigint
  /**
   * From processor events only: chargebacks and refunds that could not be recovered, processor fees beyond platform
   * funds.
   */
  readonly recordedLossesMicrocents: bigint
  /** The part of the recorded losses that the operator has not covered. */
  readonly shortfallMicrocents: bigint
  /** Spendable money that was never received. Above 0 it is a fault of the service. */
  readonly unbackedMicrocents: bigint
  /** Fees that were not withdrawn, and deposits. */
  readonly platformFundsMicrocents: bigint
}

export const solvencyOf = (totals: ReadonlyArray<AccountTotals>): Solvency => {
  const of = (account: AccountKind) =>
    totals.find((one) => one.account === account) ?? { credits: 0n, debits: 0n, overdrawn: 0n }
  // An account below zero must not offset another one: each account counts with at least zero.
  const spendable = totals
    .filter(({ account }) => !mayBeOverdrawn(account))
    .reduce((sum, { credits, debits, overdrawn }) => sum + credits - debits + overdrawn, 0n)
  const { credits: sent, debits: received } = of("processor")
  const lost = of("loss")
  const recorded = atLeastZero(of("consumer_debt").overdrawn + lost.debits - lost.credits)
  const platform = of("platform_fee")
  return {
    spendableMicrocents: spendable,
    receivedMicrocents: received,
    sentMicrocents: sent,
    recordedLossesMicrocents: recorded,
    shortfallMicrocents: recorded,
    unbackedMicrocents: atLeastZero(spendable - (received - sent) - recorded),
    platformFundsMicrocents: platform.credits - platform.debits
  }
}

const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n)
