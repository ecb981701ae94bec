/**
 * Terms of a tool as the catalog, the price list, the tool page and a quote show them.
 */
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { cancellationOf } from "../../../domain/catalog/CancellationTerm.ts"
import { isUsagePriced, priceText, type PriceVersion, type Terms } from "../../../domain/catalog/Terms.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"

export const termsView = (terms: Terms) => ({
  price_microcents: terms.price,
  max_cost_microcents: terms.maximum,
  price: priceText(terms),
  usage_priced: isUsagePriced(terms),
  free_tier_calls: terms.freeTierCalls,
  billing_policy: terms.billingPolicy,
  ...cancellationView(terms)
})

export const cancellationView = (terms: Pick<Terms, "leaving">) => {
  const { canceledCallCosts, onCancel } = cancellationOf(terms.leaving)
  return { on_cancel: onCancel, canceled_call_costs: canceledCallCosts }
}

export const pricingView = (entry: CatalogEntry) => ({
  model: entry.provider.pricingModel,
  price_cents: toCents(entry.price),
  ...termsView(entry),
  price_version: entry.priceVersion,
  free_tier_limit: entry.freeTierCalls,
  // The list is public, so it does not show one consumer's remaining calls.
  free_tier_remaining: entry.freeTierCalls,
  upcoming: upcomingView(entry.prices.upcoming)
})

export const upcomingView = (upcoming: PriceVersion | undefined) =>
  upcoming === undefined
    ? null
    : {
        price_version: upcoming.version,
        ...termsView(upcoming),
        announced_at: format(upcoming.announcedAt),
        effective_from: format(upcoming.effectiveFrom)
      }

export const priceSince = (price: PriceVersion) => ({
  version: price.version,
  ...termsView(price),
  effective_from: format(price.effectiveFrom)
})
