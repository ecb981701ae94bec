/**
 * The market API about itself: index, health and statistics.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as Field from "./Field.ts"
import { BASE_URL, NOW, PRODUCT_DESCRIPTION, PRODUCT_NAME } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

export const MarketStats = Field.object(
  "MarketStats",
  "Statistics of the market. Reported calls count only in `reported_calls` and in the revenue.",
  {
    total_tool_invocations: Field.int(
      "Calls through the proxy, without providers' calls to their own tools and cancellations passed to providers.",
      18_420
    ),
    successful_calls: Field.int("Successful calls.", 18_311),
    reported_calls: Field.int("Calls reported to `POST /api/v1/market/meter`.", 120),
    unique_agents: Field.int("Consumers with at least one call in `total_tool_invocations`.", 37),
    unique_tools: Field.int("Tools with at least one call in `total_tool_invocations`.", 12),
    tools_listed: Field.int("Tools in the catalog.", 14),
    providers: Field.int("Registered providers.", 5),
    total_revenue_microcents: Field.microcents("Revenue", 9_210_000),
    total_revenue_cents: Field.cents("Revenue", 921),
    total_revenue: Field.dollars("Revenue", "$9.21"),
    avg_response_time_ms: Field.nullableNumber(
      "Average latency of proxied calls in milliseconds. `null`: no calls.",
      91.4
    ),
    free_tier_usage_pct: Field.nullableNumber(
      "Share of `total_tool_invocations` covered by a free tier, in percent. `null`: no calls.",
      21.5
    ),
    last_invocation: Field.nullableTimestamp(
      "Start of the newest call in `total_tool_invocations`. `null`: no calls.",
      "2026-11-20T09:29:58.412Z"
    ),
    timestamp: shared.answeredAt
  }
)

export const MarketIndex = Field.object("MarketIndex", "Endpoints of the market API, and how to get started.", {
  name: Field.string("Name of the service.", PRODUCT_NAME),
  version: Field.always("0.3.0"),
  version_of: shared.versionOf,
  description: Field.string("Description of the service.", PRODUCT_DESCRIPTION),
  base_url: Field.string("Base URL of every path.", BASE_URL),
  flow: Field.strings("Steps to get started.", "1. Register: POST /api/market/register-consumer"),
  endpoints: Field.of(Schema.Record(Schema.String, Schema.String), "Endpoints, each with its summary.", {
    "GET /api/market/catalog": "Search the catalog"
  }),
  auth: Field.string("How to authenticate.", "Authorization: Bearer <key>; registration shows the key once"),
  links: Field.of(Schema.Record(Schema.String, Schema.String), "Links to the documentation.", {
    docs: `${BASE_URL}/docs`
  })
})

const MarketHealth = Schema.Struct({
  status: Field.of(Schema.Literals(["ok", "degraded"]), "`degraded`: the database does not respond."),
  provider_count: Field.nullableInt("Number of registered providers. `null` while degraded.", 5),
  tool_count: Field.nullableInt("Number of tools in the catalog. `null` while degraded.", 14),
  uptime_seconds: Field.int("Uptime of this process in seconds.", 86_400),
  timestamp: shared.answeredAt
})

export const marketHealth = [
  MarketHealth.annotate({ identifier: "MarketHealth", description: "The market is available." }),
  MarketHealth.annotate({
    identifier: "MarketHealthDegraded",
    description: "The database does not respond.",
    examples: [{ status: "degraded", provider_count: null, tool_count: null, uptime_seconds: 86_400, timestamp: NOW }]
  }).pipe(HttpApiSchema.status(503))
] as const
