/**
 * What a provider asks for a call: the tool's price, else its provider's default, else nothing; at most the tool's
 * maximum; how many calls a month are free; and what a canceled call costs.
 */
import { Context } from "effect"
import type { PricingModel } from "../accounts/Account.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { leavingOf } from "./Leaving.ts"
import type { Terms } from "./Terms.ts"
import type { ToolDeclaration } from "./Tool.ts"

/** Calls per consumer, tool and calendar month (UTC) that are free where the provider said nothing. */
export const DefaultFreeTierCalls = Context.Reference<number>(
  "agent-tool-billing/domain/catalog/DefaultFreeTierCalls",
  { defaultValue: () => 0 }
)

export const FREE_TIER_CALLS_MAX = 1_000_000_000

export const effectivePrice = (
  toolPrice: Microcents | undefined,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents }
): Microcents => toolPrice ?? (provider.pricingModel === "free" ? zero : provider.defaultPrice)

/** A maximum below the price means nothing: no call costs less for it. */
export const wantedTerms = (
  declared: Pick<
    ToolDeclaration,
    "billingPolicy" | "canceledCallCosts" | "freeTierCalls" | "maxCost" | "onCancel" | "price"
  >,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents },
  defaultFreeTierCalls: number
): Terms => {
  const price = effectivePrice(declared.price, provider)
  return {
    price,
    maximum: declared.maxCost !== undefined && declared.maxCost > price ? declared.maxCost : price,
    freeTierCalls: declared.freeTierCalls ?? defaultFreeTierCalls,
    billingPolicy: declared.billingPolicy,
    leaving: leavingOf(declared)
  }
}
