/**
 * The price list: one line per tool.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { freeTierFields, priceCents, pricePerCall, priceShown, pricingFields } from "./PriceFields.ts"
import * as shared from "./SharedFields.ts"

const PriceLine = Field.object("PriceLine", "The price of a tool.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  qualified_name: shared.qualifiedName,
  display_name: shared.displayName,
  description: shared.toolDescription,
  category: shared.category,
  provider: shared.providerName,
  provider_id: shared.providerId,
  provider_handle: shared.handle,
  pricing: Field.of(Schema.Struct({ ...pricingFields, ...pricePerCall }), "Price of a call."),
  price_cents: priceCents,
  price: priceShown,
  ...freeTierFields
})

export const PriceList = Field.object("PriceList", "Price list of all tools, and the platform fee.", {
  pricing: Field.list(PriceLine, "One line per tool."),
  tools: Field.list(PriceLine, "Same as `pricing`."),
  ...shared.pageFields,
  platform_fee: Field.always("10%", "Platform fee on each call, as display text."),
  platform_fee_bps: Field.always(1_000, "Platform fee in basis points (1/100 of a percent)."),
  microcents_per_cent: Field.always(10_000, "Number of microcents in a cent."),
  timestamp: shared.answeredAt
})
