/**
 * The price of a tool on the wire: current, former and upcoming terms.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import {
  BILLING_POLICY,
  BillingPolicy,
  CANCELED_CALL_COSTS,
  CanceledCallCosts,
  ON_CANCEL,
  OnCancel
} from "./ToolBody.ts"

export const PricingModel = Schema.Literals(["per_call", "per_token", "free"])

const price = "Price of a call"

export const billingPolicy = Field.of(BillingPolicy, BILLING_POLICY)
export const onCancel = Field.of(OnCancel, ON_CANCEL)
export const canceledCallCosts = Field.of(CanceledCallCosts, CANCELED_CALL_COSTS)
export const priceVersion = Field.int("Number of the price version.", 3)
export const priceCents = Field.cents(price, 0)
export const priceShown = Field.string(
  `${price} as display text, with \`up to\` the maximum if usage-priced.`,
  "$0.0005"
)
export const priceMicrocents = Field.microcents(price, 500)
export const maxCostMicrocents = Field.microcents("Maximum cost of a call", 500)
export const usagePriced = Field.boolean(
  "Whether the provider reports the cost of each call, up to `max_cost_microcents`. Calls then need a cap.",
  false
)
export const freeTierCalls = Field.int("Free calls per consumer and calendar month (UTC).", 10)

const terms = {
  price_microcents: priceMicrocents,
  max_cost_microcents: maxCostMicrocents,
  price: priceShown,
  usage_priced: usagePriced,
  free_tier_calls: freeTierCalls,
  billing_policy: billingPolicy,
  on_cancel: onCancel,
  canceled_call_costs: canceledCallCosts
}

const UpcomingPrice = Field.object(
  "UpcomingPrice",
  "Announced terms. No call is charged by them before they take effect.",
  {
    price_version: priceVersion,
    ...terms,
    output_schema_changes: Field.boolean(
      "Whether the `output_schema` by which `valid_output` bills changes too: `declaration.output_schema` of the tool.",
      false
    ),
    announced_at: Field.timestamp("Time of the announcement.", "2026-11-20T09:00:00.000Z"),
    effective_from: Field.timestamp("Time from which calls are charged by these terms.", "2026-11-21T09:00:00.000Z")
  }
)

export const PriceSince = Field.object(
  "PriceSince",
  "A price version. A receipt keeps the version that its call was billed by.",
  {
    version: Field.int("Number of the price version.", 1),
    ...terms,
    effective_from: Field.timestamp("Time from which these terms applied.", "2026-11-02T08:00:00.000Z")
  }
)

export const upcoming = Field.nullable(UpcomingPrice, "Announced terms that are not in effect yet. `null`: none.")

export const freeTierFields = {
  free_tier_limit: Field.int("Same as `free_tier_calls`.", 10),
  free_tier_remaining: Field.int(
    "Free calls per month of a consumer that has used none. For your own number: a quote or " +
      "`GET /api/v1/market/free-tiers`.",
    10
  )
}

export const pricingFields = {
  model: Field.of(PricingModel, "Pricing model of the provider."),
  price_cents: priceCents,
  ...terms,
  price_version: priceVersion,
  ...freeTierFields,
  upcoming
}

/** The same price under the names of the price list. */
export const pricePerCall = {
  price_per_call_microcents: priceMicrocents,
  price_per_call_cents: priceCents,
  price_per_call: Field.dollars(price, "$0.0005")
}
