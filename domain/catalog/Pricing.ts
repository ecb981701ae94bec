/**
 * The price of a call: the tool's price, otherwise its provider's default, otherwise nothing; its maximum; the free
 * calls per month; and the cost of a canceled call.
 */
import { Context } from "effect"
import type { PricingModel } from "../accounts/Account.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { cancellationTermOf } from "./CancellationTerm.ts"
import type { Terms } from "./Terms.ts"
import type { BillingPolicy, JsonSchemaObject, ToolDeclaration } from "./Tool.ts"

/** Free calls per consumer, tool and calendar month (UTC) if the provider sets none. */
export const DefaultFreeTierCalls = Context.Reference<number>(
  "agent-tool-billing/domain/catalog/DefaultFreeTierCalls",
  { defaultValue: () => 0 }
)

export const FREE_TIER_CALLS_MAX = 1_000_000_000

export const effectivePrice = (
  toolPrice: Microcents | undefined,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents }
): Microcents => toolPrice ?? (provider.pricingModel === "free" ? zero : provider.defaultPrice)

/** The output schema as a term: where it decides what is billed. */
export const billedSchemaOf = (
  billingPolicy: BillingPolicy,
  outputSchema: JsonSchemaObject | undefined
): Pick<Terms, "outputSchema"> =>
  billingPolicy !== "valid_output" || outputSchema === undefined ? {} : { outputSchema }

/** A maximum below the price has no effect. */
export const declaredTerms = (
  declared: Pick<
    ToolDeclaration,
    "billingPolicy" | "canceledCallCosts" | "freeTierCalls" | "maxCost" | "onCancel" | "outputSchema" | "price"
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
    ...billedSchemaOf(declared.billingPolicy, declared.outputSchema),
    leaving: cancellationTermOf(declared)
  }
}
