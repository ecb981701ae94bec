/**
 * Words of tools, prices, and the market as a whole.
 */
import { PROVIDER_ID, TOOL_ID } from "./SharedWords.ts"
import type { Word, Words } from "./Vocabulary.ts"

const inputSchema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
const offeredBy = {
  id: PROVIDER_ID,
  name: "Ada Tools",
  verified: false,
  verification_level: "unverified",
  badge: "unrated",
  trust_score: null
}
const soFar = {
  total_calls: 1_204,
  reported_calls: 0,
  avg_latency_ms: 86,
  avg_response_time_ms: 86,
  p95_latency_ms: 140,
  uptime_pct: 99.92
}

/** An answer of a self-description, cut down to one property. */
export const describing = (endpoint: string, description: string, property: string): Word => [
  "How to use the endpoint.",
  {
    endpoint,
    method: "POST",
    description,
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { [property]: property === "tools" ? { type: "array" } : { type: "string" } },
      required: [property]
    }
  }
]

export const catalogWords: Words = {
  "ToolDeclaration.": [
    "A tool as its provider declares it. Name its price in one of the three ways, or in none. What is absent stays as it is; null resets a field."
  ],
  "ToolDeclaration.tool_name": ["The tool's name, exactly as your MCP server lists it."],
  display_name: ["The name for people; the tool's name, if absent.", "Paper search"],
  category: ["What it is filed under; `other`, if absent.", "search"],
  price_cents_override: ["The price of a call, in whole cents."],
  price_microcents: ["The price of a call, exact.", 500],
  "ToolDeclaration.pricing": ["Price and free tier in one, as older clients send them."],
  price_cents: ["The price of a call in whole cents, rounded toward zero: for people.", 0],
  free_tier_calls: ["Free calls for each consumer in a calendar month (UTC).", 10],
  input_schema: [
    "JSON Schema of the arguments. Where there is one, a call that does not fit is refused unpaid.",
    inputSchema
  ],
  output_schema: ["JSON Schema of the result.", { type: "object" }],
  billing_policy: ["What is charged for: a success, only output that fits `output_schema`, or every attempt."],
  max_cost_microcents: [
    "The most that one call costs. Above the price, the provider reports each call's own cost.",
    500
  ],
  "ToolDeclaration.max_cost_microcents": [
    "The most that one call may cost, where you report each call's own cost.",
    5_000
  ],
  timeout_ms: ["How long one attempt may take.", 10_000],
  on_cancel: [
    "What happens to a forwarded call whose caller cancels it or disconnects. `finish` (default): it runs to its end and " +
      "is billed by its outcome. `pass`: the cancellation is passed to the provider, and the call costs what " +
      "`canceled_call_costs` says."
  ],
  canceled_call_costs: [
    "What a call costs whose cancellation was passed to the provider: its list price, at most what was held, or nothing. " +
      "It counts where `on_cancel` is `pass`; where that is `finish`, terms in effect say `price`."
  ],
  idempotent: ["Calling twice does no harm, so a call that broke off may be sent again."],

  "RegisterTools.": ["Tools to put in or to change, judged one by one."],
  "RegisterTools.tools": ["The tools. A fault in one does not stop the others."],
  "RegisteredTools.": ["What became of each tool. Those that were refused are in `tool_errors`."],
  "RegisteredTools.registered": ["How many were put in or changed.", 1],
  "RegisteredTools.errors": ["How many were refused.", 0],
  "RegisteredTools.tools": ["The tools that were put in or changed."],
  "RegisteredTools.id": ["The tool's id.", TOOL_ID],
  "RegisteredTools.message": ["What happened, in a sentence for people.", "1 registered."],
  "RegisteredTools.error": ["Why it was refused."],
  action: ["Whether the name was new."],
  tool_errors: ["The tools that were refused, and why.", []],

  "catalog.tool.id": ["The tool's id, or its qualified name with the slash as `%2F`.", "ada-tools/search"],
  "trust.toolSla.id": ["The tool's id, or its qualified name with the slash as `%2F`.", "ada-tools/search"],
  "catalog.catalog.q": ["Only tools that have words which begin like all of these, in names, category or description."],
  "catalog.catalog.category": ["Only tools of this category."],
  "catalog.catalog.provider_id": ["Only tools of this provider."],
  "catalog.catalog.max_price_microcents": ["Only tools of which no call can cost more than this."],
  "catalog.catalog.sort": ["The order of the list; by name, if absent."],
  "catalog.ownTools.state": ["Only those that are listed, or only those that were withdrawn; all, if absent."],
  "OwnTools.": ["A page of the provider's own tools, by name."],
  "WithdrawnTool.": ["The tool is off the list."],
  "WithdrawnTool.withdrawn": ["It is."],
  "WithdrawnTool.tool_id": ["The tool's id, which it keeps.", TOOL_ID],
  "WithdrawnTool.withdrawn_at": ["Since when; the first time, if it was withdrawn before.", "2026-11-20T09:29:58.412Z"],
  "WithdrawnTool.message": [
    "What happened, in a sentence for people.",
    "search is withdrawn: nobody finds or calls it. POST /api/market/tools lists it again."
  ],
  withdrawn_at: ["Since when its provider offers it no more; null while it is listed.", null],
  "CatalogPage.": ["A page of the catalogue."],
  tools: ["The tools."],
  categories: ["Every category that has a tool.", ["search"]],
  "CatalogTool.": ["A tool, what it costs, and how it has done."],
  "CatalogTool.id": ["The tool's id: what a call names.", TOOL_ID],
  "CatalogTool.input_schema": ["JSON Schema of the arguments; null where the provider gave none.", inputSchema],
  "CatalogTool.provider": ["Who offers it.", offeredBy],
  "CatalogTool.name": ["The provider's name."],
  provider: ["The provider's name.", "Ada Tools"],
  verified: ["Whether the provider proved anything about itself."],
  verification_level: ["What it proved."],
  badge: ["How far the evidence carries."],
  trust_score: ["0 to 100; null while there is too little evidence.", null],
  "CatalogTool.pricing": ["What a call costs."],
  model: ["How the provider charges.", "per_call"],
  price: ["The price of a call, for people; `up to` the maximum where it is usage-priced.", "$0.0005"],
  free_tier_limit: ["The same as `free_tier_calls`, under the name that existing clients know.", 10],
  "CatalogTool.free_tier_remaining": [
    "Free calls a month of a consumer that has used none: this list is the same for everyone. What you have left: a quote, or `GET /api/v1/market/free-tiers`.",
    10
  ],
  "ToolDetails.free_tier_remaining": [
    "Free calls a month of a consumer that has used none: this list is the same for everyone. What you have left: a quote, or `GET /api/v1/market/free-tiers`.",
    10
  ],
  "PriceLine.free_tier_remaining": [
    "Free calls a month of a consumer that has used none: this list is the same for everyone. What you have left: a quote, or `GET /api/v1/market/free-tiers`.",
    10
  ],
  upcoming: ["Terms that are announced and not yet in effect; null where there are none.", null],
  "UpcomingPrice.": ["Terms that are announced. Until they take effect, no call is charged by them."],
  announced_at: ["When the provider made the change.", "2026-11-20T09:00:00.000Z"],
  "UpcomingPrice.effective_from": ["From when on calls are charged by them.", "2026-11-21T09:00:00.000Z"],
  "CatalogTool.stats": ["How it has done, from proxied calls.", soFar],
  stats: ["How it has done, from proxied calls."],
  total_calls: ["Calls that the proxy made, without those of the provider to itself.", 1_204],
  reported_calls: ["Calls that were reported to `POST /api/v1/market/meter`; they count for no other figure here.", 0],
  avg_latency_ms: ["The mean time of a proxied call; null before the first one.", 86],
  p95_latency_ms: ["95 of 100 calls were at least this fast.", 140],
  uptime_pct: [
    "The share of proxied calls that succeeded, in percent, without calls whose input was rejected up to 5% of them.",
    99.92
  ],

  "ToolDetails.": ["All that is to be known of a tool."],
  "ToolDetails.id": ["The tool's id: what a call names.", TOOL_ID],
  "ToolDetails.input_schema": ["JSON Schema of the arguments; null where the provider gave none.", inputSchema],
  "ToolDetails.output_schema": ["JSON Schema of the result; null where the provider gave none.", { type: "object" }],
  "ToolDetails.provider": ["Who offers it.", offeredBy],
  "ToolDetails.name": ["The provider's name."],
  "ToolDetails.pricing": ["What a call costs."],
  "ToolDetails.stats": ["How it has done, from proxied calls.", soFar],
  "ToolDetails.max_cost_microcents": ["The most that one call may cost; null where a call costs its price."],
  "ToolDetails.timeout_ms": ["How long one attempt may take; null where the service's own limit holds."],
  price_history: ["The terms that are and were in effect, the newest first."],
  "PriceSince.": ["A price, and since when. Receipts keep the one that they were billed at."],
  "PriceSince.version": ["The number of these terms.", 1],
  effective_from: ["Since when it holds.", "2026-11-02T08:00:00.000Z"],
  declaration: ["Send it to `POST /api/market/tools`, in `tools`, and the tool stays as it is; or change it first."],

  "PriceList.": ["What every tool costs, and what the platform keeps."],
  "PriceList.pricing": ["One line for each tool."],
  "PriceList.tools": ["The same list as `pricing`, under the name that existing clients know."],
  "PriceLine.": ["What one tool costs."],
  "PriceLine.pricing": ["What a call costs."],
  price_per_call: ["The price of a call, for people.", "$0.0005"],
  price_per_call_cents: ["In whole cents, rounded toward zero: for people.", 0],
  price_per_call_microcents: ["The price of a call, exact.", 500],
  platform_fee: ["What the platform keeps of each call, for people."],
  platform_fee_bps: ["The same in hundredths of a percent."],
  microcents_per_cent: ["How the unit of money is divided."],

  "MarketStats.": ["Figures of the whole market. Reported calls count in `reported_calls` and in the revenue only."],
  total_tool_invocations: [
    "Calls that the proxy made, without those of providers to themselves and cancellations that were passed on.",
    18_420
  ],
  successful_calls: ["Those that succeeded.", 18_311],
  "MarketStats.reported_calls": ["Calls that were reported to `POST /api/v1/market/meter`.", 120],
  unique_agents: ["Consumers with at least one call in `total_tool_invocations`.", 37],
  unique_tools: ["Tools with at least one call in `total_tool_invocations`.", 12],
  tools_listed: ["Tools in the catalogue.", 14],
  providers: ["Registered providers.", 5],
  total_revenue: ["What was billed, for people.", "$9.21"],
  total_revenue_cents: ["In whole cents, rounded toward zero.", 921],
  total_revenue_microcents: ["What was billed, exact.", 9_210_000],
  avg_response_time_ms: ["The mean time of a proxied call.", 91.4],
  free_tier_usage_pct: [
    "The share of `total_tool_invocations` that a free tier covered, in percent. Null before the first such call.",
    21.5
  ],
  last_invocation: [
    "When the newest call in `total_tool_invocations` began. Null before the first such call.",
    "2026-11-20T09:29:58.412Z"
  ],

  "MarketIndex.": ["What there is and where, for agents that arrive with nothing but the address."],
  "MarketIndex.name": ["The service's name.", "Agent Tool Billing"],
  "MarketIndex.description": [
    "What the service is.",
    "Billing, metering and authentication between agents and the MCP tools they call."
  ],
  base_url: ["What every path is appended to.", "https://billing.example.org"],
  flow: ["How to begin, step by step.", ["1. Register: POST /api/market/register-consumer"]],
  endpoints: ["Every endpoint, with what it does.", { "GET /api/market/catalog": "Find tools" }],
  auth: ["How to sign in.", "Authorization: Bearer <key>; registration shows the key once"],
  links: ["Where to read on.", { docs: "https://billing.example.org/docs" }],
  "MarketHealth.": ["The market is up."],
  "MarketHealth.status": ["Whether the database answered."],
  "MarketHealthDegraded.": ["The database does not answer: the counts are null."],
  "MarketHealthDegraded.status": ["Whether the database answered.", "degraded"],
  "MarketHealthDegraded.provider_count": ["Registered providers; null while degraded.", null],
  "MarketHealthDegraded.tool_count": ["Tools in the catalogue; null while degraded.", null],
  provider_count: ["Registered providers.", 5],
  tool_count: ["Tools in the catalogue.", 14],
  uptime_seconds: ["How long this process has been running.", 86_400],

  "SelfDescription.": ["How to use an endpoint, from the endpoint itself."],
  "SelfDescription.description": ["What it does."],
  "SelfDescription.schema": ["JSON Schema of the body."],
  "catalog.describeRegisterProvider.200": describing("/api/market/register-provider", "Register a provider", "email"),
  "catalog.describeRegisterConsumer.200": describing("/api/market/register-consumer", "Register a consumer", "email"),
  "catalog.describeTools.200": describing("/api/market/tools", "Register or update tools", "tools"),
  endpoint: ["The endpoint's path."],
  method: ["Its method."]
}
