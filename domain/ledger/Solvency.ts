/**
 * Whether all the money that somebody can spend or withdraw is there. The ledger's double entries make the books balance; this
 * says that nothing but money received stands behind them.
 */
import { type AccountKind, mayBeOverdrawn } from "./Account.ts"
import type { AccountTotals } from "./LedgerStore.ts"

export interface Solvency {
  /** Balances that can be spent or withdrawn: wallets, providers' money in every state, platform funds, what is in clearing. */
  readonly spendableMicrocents: bigint
  readonly receivedMicrocents: bigint
  readonly sentMicrocents: bigint
  /** From processor events alone: chargebacks and refunds that could not be recovered, processor fees beyond platform funds. */
  readonly recordedLossesMicrocents: bigint
  /** What of the recorded losses the operator still has to fund. */
  readonly shortfallMicrocents: bigint
  /** Spendable money with nothing behind it. Anything but 0 is a fault of the service. */
  readonly unbackedMicrocents: bigint
  /** The platform's own funds: fees that were not withdrawn, and deposits. */
  readonly platformFundsMicrocents: bigint
}

export const solvencyOf = (totals: ReadonlyArray<AccountTotals>): Solvency => {
  const of = (account: AccountKind) =>
    totals.find((one) => one.account === account) ?? { credits: 0n, debits: 0n, overdrawn: 0n }
  // What is below zero must not hide what is above it: each account counts with what it has, or not at all.
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
