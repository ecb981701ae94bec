/**
 * Who holds money. A wallet is a consumer's, a provider account a provider's; the others are the market's own.
 *
 * `processor` stands for the world outside: what the payment processor holds for the market, seen from the inside, so it
 * is as far below zero as money came in. The clearing accounts come back to zero when what they wait for has happened.
 * A consumer's debt is below zero as far as money was taken back that the wallet no longer had.
 */
import { Schema } from "effect"

export const AccountKind = Schema.Literals([
  "wallet",
  "provider",
  "platform_fee",
  "processor",
  "load_clearing",
  "payout_clearing",
  "refund_clearing",
  "dispute_clearing",
  "promo",
  "adjustment",
  "consumer_debt"
])
export type AccountKind = typeof AccountKind.Type

/** The owner of the market's own accounts. */
export const MARKET_OWNER = "00000000-0000-0000-0000-000000000000"

/** A consumer's money: what came in, what went out, and what open calls have reserved of the rest. */
export interface Wallet {
  readonly credits: bigint
  readonly debits: bigint
  readonly held: bigint
}

/** Never below zero, at any concurrency. */
export const availableIn = (wallet: Wallet): bigint => wallet.credits - wallet.debits - wallet.held

/** The sums of the transfers of an account. */
export interface Balance {
  readonly credits: bigint
  readonly debits: bigint
}

export const balanceOf = (sums: Balance): bigint => sums.credits - sums.debits
