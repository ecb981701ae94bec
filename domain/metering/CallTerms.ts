/**
 * On what terms a call is made: how much is held for it, and by when it has ended.
 */
import { Duration, Effect } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { isUsagePriced } from "../catalog/Terms.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { CapRequired, PriceChanged, PriceVersionChanged } from "./CallRefusals.ts"
import type { UpstreamBounds } from "./UpstreamLimits.ts"

/** After this a call whose settlement did not get through is the sweeper's. */
const SETTLE_GRACE = Duration.seconds(30)

/** What a caller agrees to. */
export interface Agreement {
  /** The most that the caller pays for this call, from its body or its header. */
  readonly maxCost: Microcents | undefined
  /**
   * The cap of the key, else of the account. It stands in for `maxCost` on usage-priced tools alone: of a fixed-price
   * tool the caller knows the price, and a forgotten default must not make such calls fail.
   */
  readonly defaultCap?: Microcents | undefined
  /** The price version that the caller was quoted. */
  readonly priceVersion?: number | undefined
}

/**
 * What is held for a call: the price, or of a usage-priced tool its maximum, cut to the caller's cap; never less than
 * the list price. A usage-priced call without a cap is rejected: the provider alone says what it costs.
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

/** No sooner than the upstream gives up, whether its attempts or its waits take the time. */
export const deadlineOf = (timeoutMs: number, { retriesMax, totalMs }: UpstreamBounds): Duration.Duration =>
  Duration.sum(Duration.millis(Math.max(timeoutMs * (retriesMax + 1), totalMs)), SETTLE_GRACE)
