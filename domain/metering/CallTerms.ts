/**
 * On what terms a call is made: how much is held for it, and by when it has ended.
 */
import { Duration, Effect } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { PriceChanged } from "./CallRefusals.ts"
import type { UpstreamBounds } from "./UpstreamLimits.ts"

/** After this a call whose settlement did not get through is the sweeper's. */
const SETTLE_GRACE = Duration.seconds(30)

/** A metered tool's maximum if it declares one, cut to what the caller allows; never less than the list price. */
export const holdFor = (
  entry: CatalogEntry,
  allowed: Microcents | undefined
): Effect.Effect<Microcents, PriceChanged> => {
  const most = entry.tool.maxCost !== undefined && entry.tool.maxCost > entry.price ? entry.tool.maxCost : entry.price
  if (allowed === undefined) return Effect.succeed(most)
  if (allowed < entry.price) {
    return Effect.fail(new PriceChanged({ priceMicrocents: entry.price, maxCostMicrocents: allowed }))
  }
  return Effect.succeed(allowed < most ? allowed : most)
}

/** No sooner than the upstream gives up, whether its attempts or its waits take the time. */
export const deadlineOf = (timeoutMs: number, { retriesMax, totalMs }: UpstreamBounds): Duration.Duration =>
  Duration.sum(Duration.millis(Math.max(timeoutMs * (retriesMax + 1), totalMs)), SETTLE_GRACE)
