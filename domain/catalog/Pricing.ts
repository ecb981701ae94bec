/**
 * What a call costs: the tool's price, else its provider's default, else nothing; and how many calls a month are free.
 */
import { Context } from "effect"
import type { PricingModel } from "../accounts/Account.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"

/** Calls per consumer, tool and calendar month (UTC) that are free where the provider said nothing. */
export const DefaultFreeTierCalls = Context.Reference<number>(
  "agent-tool-billing/domain/catalog/DefaultFreeTierCalls",
  { defaultValue: () => 100 }
)

export const FREE_TIER_CALLS_MAX = 1_000_000_000

export const effectivePrice = (
  toolPrice: Microcents | undefined,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents }
): Microcents => toolPrice ?? (provider.pricingModel === "free" ? zero : provider.defaultPrice)

export const effectiveFreeTier = (declared: number | undefined, platformDefault: number): number =>
  declared ?? platformDefault
