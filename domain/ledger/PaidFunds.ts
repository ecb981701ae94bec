/**
 * A split says which part of a wallet was paid for, and which part is credit. Calls spend paid funds first, so a call
 * records neither: what calls have spent since a posting follows from the balance. Only postings record a split, from
 * the consumer's first credit on; before, everything was paid.
 */
import { Context, type Effect } from "effect"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { Leg, Posting } from "./Transfer.ts"

/** A wallet after a posting. Both parts add up to its balance, with what calls hold. */
export interface WalletSplit {
  /** Loaded and returned, minus spent, withdrawn and reversed. Below zero if credit paid for a reversal. */
  readonly paid: bigint
  readonly credit: bigint
  readonly spent: bigint
}

/** The place of a call on the line of everything that its consumer spends. Zero is the first split. */
export interface SpentAt {
  readonly start: bigint
  /** The splits in order, from the last one at or before the start. */
  readonly splits: ReadonlyArray<WalletSplit>
}

export class PaidFunds extends Context.Service<
  PaidFunds,
  {
    /** The part of a wallet's balance that is not credit. */
    paid(consumerId: ConsumerId): Effect.Effect<bigint, StoreUnavailable>
    /** Returns how much of a call was spent from paid funds: all of it if the consumer had no credit. */
    paidOf(call: {
      readonly consumerId: ConsumerId
      readonly receiptId: ReceiptId
      readonly cost: bigint
    }): Effect.Effect<bigint, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/PaidFunds") {}

/** The consumers whose split a posting changes. A credit that pays a debt does, without touching the wallet. */
export const splitConsumers = ({ legs }: Pick<Posting, "legs">): ReadonlyArray<ConsumerId> => [
  ...new Set(
    legs.flatMap(({ consumerId, credit, debit }) =>
      consumerId !== undefined && [debit, credit].some((one) => one === "wallet" || one === "consumer_debt")
        ? [consumerId]
        : []
    )
  )
]

/** Tells whether the posting is a reason to record the consumer's first split. */
export const bringsCredit = (consumerId: ConsumerId, { legs }: Pick<Posting, "legs">): boolean =>
  legs.some((leg) => leg.consumerId === consumerId && isCredit(leg))

/** The split after calls have spent down to this balance. */
export const splitAt = (split: WalletSplit | undefined, balance: bigint): WalletSplit => {
  if (split === undefined) return { paid: balance, credit: 0n, spent: 0n }
  const { credit, paid, spent } = split
  const since = paid + credit - balance
  // A node of a release without splits has posted: what came in counts as paid.
  if (since < 0n) return { paid: paid - since, credit, spent }
  const fromPaid = least(positive(paid), since)
  return { paid: paid - fromPaid, credit: credit - (since - fromPaid), spent: spent + since }
}

/** The split after a posting, from the one before and the balance after it. */
export const splitAfter = (
  before: WalletSplit | undefined,
  balance: bigint,
  consumerId: ConsumerId,
  { legs, restoredCredit = 0n }: Pick<Posting, "legs" | "restoredCredit">
): WalletSplit => {
  const own = legs.filter((leg) => leg.consumerId === consumerId)
  const change = own.reduce((sum, leg) => sum + intoWallet(leg), 0n)
  const reached = splitAt(before, balance - change)
  let [paid, credit] = [reached.paid + change, reached.credit]
  const toCredit = (amount: bigint) => {
    credit += amount
    paid -= amount
  }
  for (const leg of own) {
    if (isCredit(leg)) toCredit(leg.amount)
    if (takesCredit(leg)) toCredit(-least(credit, leg.amount))
  }
  toCredit(restoredCredit)
  return { paid, credit, spent: reached.spent }
}

/** The part of a call that lies where paid funds were spent. */
export const paidPartAt = ({ splits, start }: SpentAt, cost: bigint): bigint => {
  const end = start + cost
  let paid = positive(least(end, splits[0]?.spent ?? end) - start)
  for (const [i, split] of splits.entries()) {
    const until = least(end, splits[i + 1]?.spent ?? end, split.spent + positive(split.paid))
    paid += positive(until - most(start, split.spent))
  }
  return paid
}

const intoWallet = ({ amount, credit, debit }: Leg): bigint => {
  if (credit === "wallet") return amount
  return debit === "wallet" ? -amount : 0n
}

/** A credit comes from platform funds, except what they contribute to the refund of a call. */
const isCredit = ({ credit, debit, kind }: Leg): boolean =>
  debit === "platform_fee" && (credit === "wallet" || credit === "consumer_debt") && kind !== "refund"

/** Takes back what the platform gave, as long as it is there. */
const takesCredit = ({ credit, debit }: Leg): boolean => debit === "wallet" && credit === "platform_fee"

export const positive = (amount: bigint): bigint => (amount > 0n ? amount : 0n)
export const least = (...amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((a, b) => (a < b ? a : b))
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
