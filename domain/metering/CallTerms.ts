/**
 * The terms of a call: the amount reserved, and the deadline.
 */
import { Duration, Effect } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { isUsagePriced } from "../catalog/Terms.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { CapRequired, PriceChanged, PriceVersionChanged } from "./CallRejections.ts"
import type { UpstreamBounds } from "./UpstreamLimits.ts"

/** After this, a call that was not settled is due for the sweeper. */
const SETTLE_GRACE = Duration.seconds(30)

/** What a caller agrees to pay. */
export interface Agreement {
  /** The maximum cost that the caller accepts, from the body or the header. */
  readonly maxCost: Microcents | undefined
  /**
   * The cap of the key, else of the account. It replaces `maxCost` for usage-priced tools only: the price of a fixed-price
   * tool is known to the caller, and a forgotten default must not make such calls fail.
   */
  readonly defaultCap?: Microcents | undefined
  /** The price version that the caller was quoted. */
  readonly priceVersion?: number | undefined
}

/**
 * The amount to reserve: the price, or for a usage-priced tool its maximum, limited by the caller's cap; never less than the
 * list price. A usage-priced call without a cap is rejected, because the provider alone determines its cost.
 */
export const holdFor = (
  entry: CatalogEntry,
  agreement: Agreement
): Effect.Effect<Microcents, CapRequired | PriceChanged | PriceVersionChanged> =>
  capOf(entry, agreement) === undefined && isUsagePriced(entry)
    ? Effect.fail(new CapRequired({ maxCostMicrocents: entry.maximum, priceMicrocents: entry.price }))
    : quotedHoldFor(entry, agreement)

/** As `holdFor`, for a quote, which needs no cap. */
export const quotedHoldFor = (
  entry: CatalogEntry,
  agreement: Agreement
): Effect.Effect<Microcents, PriceChanged | PriceVersionChanged> => {
  const { maximum, price, priceVersion } = entry
  if (agreement.priceVersion !== undefined && agreement.priceVersion !== priceVersion) {
    return Effect.fail(
      new PriceVersionChanged({
        named: agreement.priceVersion,
        priceVersion,
        priceMicrocents: price,
        maxCostMicrocents: maximum
      })
    )
  }
  const cap = capOf(entry, agreement)
  if (cap === undefined) return Effect.succeed(maximum)
  if (cap < price) {
    return Effect.fail(new PriceChanged({ priceMicrocents: price, maxCostMicrocents: cap, priceVersion }))
  }
  return Effect.succeed(cap < maximum ? cap : maximum)
}

const capOf = (entry: CatalogEntry, { defaultCap, maxCost }: Agreement): Microcents | undefined =>
  maxCost ?? (isUsagePriced(entry) ? defaultCap : undefined)

/** Not before the upstream gives up, after its attempts and waits. */
export const deadlineOf = (timeoutMs: number, { retriesMax, totalMs }: UpstreamBounds): Duration.Duration =>
  Duration.sum(Duration.millis(Math.max(timeoutMs * (retriesMax + 1), totalMs)), SETTLE_GRACE)
