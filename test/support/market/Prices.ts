/**
 * The catalog's price of a tool with a fixed price and nothing announced.
 */
export const fixedPrice = (microcents: number, shown: string, freeCalls = 0) => ({
  model: "per_call",
  price_cents: Math.floor(microcents / 10_000),
  price_microcents: microcents,
  max_cost_microcents: microcents,
  price: shown,
  usage_priced: false,
  free_tier_calls: freeCalls,
  free_tier_limit: freeCalls,
  free_tier_remaining: freeCalls,
  billing_policy: "success",
  on_cancel: "finish",
  canceled_call_costs: "price",
  price_version: 1,
  upcoming: null
})
