/**
 * Ledger accounts. `wallet` belongs to a consumer; `provider` and `provider_frozen` belong to a provider; the others
 * belong to the platform.
 *
 * `processor` mirrors what the payment processor holds for the platform: it is below zero by what was received.
 * `platform_fee` holds the platform's own funds: fees that were not withdrawn, and the operator's deposits.
 * `consumer_debt` is below zero by what a consumer owes, `loss` by what the operator has to fund. A clearing account
 * returns to zero when both of its movements have happened.
 */
import { Schema } from "effect"

/** The accounts of the ledger. Wallets, providers' money and debts exist per owner, all others once. */
export const AccountKind = Schema.Literals([
  "wallet",
  "provider",
  "provider_frozen",
  "platform_fee",
  "processor",
  "load_clearing",
  "payout_clearing",
  "refund_clearing",
  "dispute_clearing",
  "consumer_debt",
  "loss"
])
export type AccountKind = typeof AccountKind.Type

const MAY_BE_OVERDRAWN: ReadonlySet<AccountKind> = new Set(["processor", "consumer_debt", "loss"])

/** Whether an account may be below zero. No other may: it holds money that can be spent or withdrawn. */
export const mayBeOverdrawn = (account: AccountKind): boolean => MAY_BE_OVERDRAWN.has(account)

/** The owner of the platform's own accounts. */
export const MARKET_OWNER = "00000000-0000-0000-0000-000000000000"

/** A consumer's money: total received, total spent, and what open calls reserve. */
export interface Wallet {
  readonly credits: bigint
  readonly debits: bigint
  readonly held: bigint
}

/** Never below zero. */
export const availableIn = (wallet: Wallet): bigint => wallet.credits - wallet.debits - wallet.held

/** Totals of an account's transfers. */
export interface Balance {
  readonly credits: bigint
  readonly debits: bigint
}

export const balanceOf = (totals: Balance): bigint => totals.credits - totals.debits
