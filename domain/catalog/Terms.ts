/**
 * The terms of a tool: price, maximum, billing policy, the cost of a canceled call, and free calls per month. Each
 * change is a price version with a number and the time from which it is in effect.
 */
import type { DateTime } from "effect"
import { formatPrice, type Microcents } from "../shared/Microcents.ts"
import type { CancellationTerm } from "./CancellationTerm.ts"
import type { BillingPolicy } from "./Tool.ts"

export interface Terms {
  /** The list price: what a call costs unless the provider reports another amount. */
  readonly price: Microcents
  /** The most that one call may cost; never below the price. Above it, the tool is usage-priced. */
  readonly maximum: Microcents
  readonly freeTierCalls: number
  readonly billingPolicy: BillingPolicy
  readonly leaving: CancellationTerm
}

/** Terms with the time from which they apply. A call is billed by the version in effect when it was opened. */
export interface PriceVersion extends Terms {
  readonly version: number
  readonly announcedAt: DateTime.Utc
  readonly effectiveFrom: DateTime.Utc
  /** When it was replaced, or the tool withdrawn, before it took effect. It never applies. */
  readonly replacedAt: DateTime.Utc | undefined
}

/** Versions of one tool. At most one is announced and not in effect. */
export interface ToolPrices {
  readonly inEffect: PriceVersion
  readonly upcoming: PriceVersion | undefined
  /** The highest number used. A replaced version's number is not reused: a caller may have named it. */
  readonly lastVersion: number
}

export const isUsagePriced = ({ maximum, price }: Pick<Terms, "maximum" | "price">): boolean => maximum > price

/** `$0.05`, `up to $900.00`, or `Free` if no call can cost anything. */
export const priceText = (terms: Pick<Terms, "maximum" | "price">): string =>
  isUsagePriced(terms) ? `up to ${formatPrice(terms.maximum)}` : formatPrice(terms.price)

export const termsOf = ({ billingPolicy, freeTierCalls, leaving, maximum, price }: Terms): Terms => ({
  price,
  maximum,
  freeTierCalls,
  billingPolicy,
  leaving
})

/** An announced version takes effect exactly at its time, on every node, whatever is stored or cached. */
export const pricesAt = (prices: ToolPrices, nowMs: number): ToolPrices =>
  prices.upcoming === undefined || prices.upcoming.effectiveFrom.epochMilliseconds > nowMs
    ? prices
    : { ...prices, inEffect: prices.upcoming, upcoming: undefined }

export const sameTerms = (a: Terms, b: Terms): boolean => noWorse(a, b) && noWorse(b, a)

/** No consumer pays more under `a` than under `b`, whatever its calls are. */
export const noWorse = (a: Terms, b: Terms): boolean =>
  a.price <= b.price &&
  a.maximum <= b.maximum &&
  a.freeTierCalls >= b.freeTierCalls &&
  CHARGED[a.billingPolicy] <= CHARGED[b.billingPolicy] &&
  leavesNoWorse(a, b)

/**
 * For each term the better one for the consumer, never worse than `a`. If neither is better for callers that
 * disconnect, those of `a` stay.
 */
export const better = (a: Terms, b: Terms): Terms => {
  const best: Terms = {
    price: a.price < b.price ? a.price : b.price,
    maximum: a.maximum < b.maximum ? a.maximum : b.maximum,
    freeTierCalls: Math.max(a.freeTierCalls, b.freeTierCalls),
    billingPolicy: CHARGED[a.billingPolicy] < CHARGED[b.billingPolicy] ? a.billingPolicy : b.billingPolicy,
    leaving: b.leaving
  }
  return leavesNoWorse(best, a) ? best : { ...best, leaving: a.leaving }
}

/**
 * A canceled call costs its list price whatever its outcome is. The outcome of a usage-priced call may cost up to the
 * maximum, which is more.
 */
const leavesNoWorse = (a: Terms, b: Terms): boolean =>
  a.leaving === "outcome" && b.leaving === "price" ? a.maximum <= b.price : TERM_RANK[a.leaving] <= TERM_RANK[b.leaving]

/** What is charged under a policy is also charged under every policy of a higher rank. */
const CHARGED: Readonly<Record<BillingPolicy, number>> = { valid_output: 0, success: 1, attempt: 2 }

/** What a caller pays that disconnects, in ascending order. */
const TERM_RANK: Readonly<Record<CancellationTerm, number>> = { free: 0, outcome: 1, price: 2 }
