/**
 * Ledger accounts. A wallet belongs to a consumer; `provider` and `provider_frozen` belong to a provider; the others belong
 * to the platform.
 *
 * `processor` is the mirror of what the payment processor holds for the platform: it goes below zero by what came in.
 * `platform_fee` holds the platform's own funds: fees that were not withdrawn, and the operator's deposits.
 * `consumer_debt` goes below zero by what a consumer owes, `loss` by what nobody owes and the operator has to fund.
 * A clearing account is back at zero when what it waits for has happened.
 */
import { Schema } from "effect"

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

/** Every other account is money that somebody can spend or withdraw: no posting may leave it below zero. */
export const mayBeOverdrawn = (account: AccountKind): boolean => MAY_BE_OVERDRAWN.has(account)

/** The owner of the platform's own accounts. */
export const MARKET_OWNER = "00000000-0000-0000-0000-000000000000"

/** A consumer's money: what came in, what went out, and what open calls have reserved of the rest. */
export interface Wallet {
  readonly credits: bigint
  readonly debits: bigint
  readonly held: bigint
}

/** Never below zero, at any concurrency. */
export const availableIn = (wallet: Wallet): bigint => wallet.credits - wallet.debits - wallet.held

/** The totals of the transfers of an account. */
export interface Balance {
  readonly credits: bigint
  readonly debits: bigint
}

export const balanceOf = (totals: Balance): bigint => totals.credits - totals.debits
