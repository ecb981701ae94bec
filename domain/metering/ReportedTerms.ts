/**
 * The terms of a reported call. A provider chooses the time in its report. For a call from before the last change, each term
 * is the one that is better for the consumer, then or now: neither a late nor a backdated report charges more than either.
 */
import { DateTime, Effect } from "effect"
import type { Catalog } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { better, noWorse } from "../catalog/Terms.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const termsOfReport = (
  catalog: Catalog["Service"],
  entry: CatalogEntry,
  calledAt: DateTime.Utc
): Effect.Effect<CatalogEntry, StoreUnavailable> => {
  if (DateTime.isGreaterThanOrEqualTo(calledAt, entry.prices.inEffect.effectiveFrom)) return Effect.succeed(entry)
  return Effect.map(catalog.prices(entry.tool.id), (versions) => {
    const before = versions.filter((version) => version.version < entry.priceVersion)
    const then =
      before.find((version) => DateTime.isLessThanOrEqualTo(version.effectiveFrom, calledAt)) ?? before.at(-1)
    if (then === undefined) return entry
    // A report has no output that a schema could judge.
    const { outputSchema } = entry
    const reported = { ...then, ...(outputSchema === undefined ? {} : { outputSchema }) }
    const priceVersion = noWorse(reported, entry) ? then.version : entry.priceVersion
    return { ...entry, ...better(reported, entry), priceVersion }
  })
}
