/**
 * Terms of a tool on the wire: those in effect, and those that are announced.
 */
import { Schema } from "effect"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Display } from "./Fields.ts"
import { CanceledCallCostsWord, OnCancelWord } from "./ToolBody.ts"

const BillingPolicy = Schema.Literals(["success", "valid_output", "attempt"])

const terms = {
  price_microcents: MicrocentsFromInt,
  max_cost_microcents: MicrocentsFromInt,
  price: Display,
  usage_priced: Schema.Boolean,
  free_tier_calls: Schema.Int,
  billing_policy: BillingPolicy,
  on_cancel: OnCancelWord,
  canceled_call_costs: CanceledCallCostsWord
}

export const UpcomingPrice = Schema.Struct({
  price_version: Schema.Int,
  ...terms,
  announced_at: Timestamp,
  effective_from: Timestamp
}).annotate({ identifier: "UpcomingPrice" })

export const PriceSince = Schema.Struct({
  version: Schema.Int,
  ...terms,
  effective_from: Timestamp
}).annotate({ identifier: "PriceSince" })

/** What every list of prices says of a tool. */
export const pricingFields = {
  model: Schema.Literals(["per_call", "per_token", "free"]),
  price_cents: Schema.Int,
  ...terms,
  price_version: Schema.Int,
  free_tier_limit: Schema.Int,
  free_tier_remaining: Schema.Int,
  upcoming: Schema.NullOr(UpcomingPrice)
}
