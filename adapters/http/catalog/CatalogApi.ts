/**
 * The catalog: tools, prices, and the state of the market.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { BADGES, VERIFICATION_LEVELS } from "../../../domain/trust/TrustScore.ts"
import { MCP_VERSIONS } from "../../../domain/upstream/Protocol.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { publicRead, readBy, uncached, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Bounded, MicrocentsQuery, pageQuery, toolIdOrName } from "../contract/InputSchemas.ts"
import {
  BASE_URL,
  INPUT_SCHEMA,
  NOW,
  PRODUCT_DESCRIPTION,
  PRODUCT_NAME,
  PROVIDER_ID
} from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { defaultFee, feeBps } from "../contract/SharedFields.ts"
import { EndpointReport, ToolVersionSummary } from "./ImportApi.ts"
import * as price from "./ToolBody.ts"
import { TOOL_ANNOTATIONS, ToolAnnotations, ToolBody, toolExample } from "./ToolBody.ts"

// The MCP endpoints of the service on the wire: where they are, what they offer, and how a client authenticates.

export const MARKET_DOOR_TOOLS =
  "`search_tools`, `describe_tool`, `call_tool`, `quote` and `balance`, which find and call any tool of the catalog; then, as " +
  "`{provider}__{tool}`, the tools of your toolbox, or without one those that you called in the last 30 days."

const McpServer = Field.object("McpServer", "An MCP endpoint.", {
  url: Field.string("URL, with `{handle}` for the handle of a provider.", `${BASE_URL}/mcp`),
  tools: Field.string("Tools that this endpoint lists.", MARKET_DOOR_TOOLS)
})

export const mcpDoors = Field.of(
  Field.object("McpDoors", "How an MCP client connects.", {
    transport: Field.always("streamable-http"),
    protocol_versions: Field.strings("Versions of MCP, newest first.", ...MCP_VERSIONS.slice(0, 2)),
    authentication: Field.of(
      Schema.Struct({
        type: Field.always("bearer"),
        header: Field.string("Header to send.", "Authorization: Bearer <key>"),
        alternative_header: Field.string("Header to send instead.", "X-API-Key: <key>"),
        register: Field.string("URL for getting a key.", `${BASE_URL}/api/market/register-consumer`)
      }),
      "How to authenticate: with the API key of a consumer."
    ),
    servers: Field.list(McpServer, "MCP endpoints.")
  }),
  "How an MCP client connects."
)

const JsonSchema = Schema.Record(Schema.String, Schema.Unknown)

const Provider = Schema.Struct({
  id: Field.of(ProviderId, "ID of the provider.", PROVIDER_ID),
  handle: shared.handle,
  name: shared.providerName,
  verified: Field.boolean("Whether the provider has a verification level.", false),
  verification_level: Field.of(Schema.Literals(VERIFICATION_LEVELS), "Highest verification level of the provider."),
  badge: Field.of(Schema.Literals(BADGES), "Badge for the trust score."),
  trust_score: Field.nullableInt("Trust score from 0 to 100. `null`: too few calls.")
})

const Stats = Schema.Struct({
  total_calls: Field.int("Calls through the proxy, without the provider's own calls.", 1_204),
  reported_calls: Field.int("Calls reported to `POST /api/v1/market/meter`; not part of any other statistic.", 0),
  avg_latency_ms: Field.nullableNumber("Average latency of proxied calls in milliseconds. `null`: no calls.", 86),
  avg_response_time_ms: Field.nullableNumber("Same as `avg_latency_ms`.", 86),
  p95_latency_ms: Field.nullableNumber("p95 latency of proxied calls in milliseconds. `null`: no calls.", 140),
  uptime_pct: Field.nullableNumber(
    "Success rate of proxied calls in percent. Calls with rejected input are left out up to 5% of all calls.",
    99.92
  )
})

/** A tool on the wire: as the catalog and the price list show it, and in detail. */
export const CatalogTool = Field.object("CatalogTool", "A tool with its price and statistics.", {
  id: shared.toolId,
  tool_name: shared.toolName,
  qualified_name: shared.qualifiedName,
  display_name: shared.displayName,
  description: shared.toolDescription,
  category: shared.category,
  input_schema: Field.nullable(JsonSchema, "JSON Schema of the arguments. `null`: none.", INPUT_SCHEMA),
  provider: Field.of(Provider, "Provider of the tool."),
  pricing: Field.of(Schema.Struct(price.pricingFields), "Price of a call."),
  stats: Field.of(Stats, "Statistics of proxied calls."),
  on_cancel: price.onCancel,
  canceled_call_costs: price.canceledCallCosts,
  annotations: Field.nullable(ToolAnnotations, TOOL_ANNOTATIONS),
  state: Field.of(
    Schema.Literals(["listed", "draft", "withdrawn"]),
    "State of the tool. A draft was never listed: only its provider sees it."
  ),
  withdrawn_at: Field.nullableTimestamp("Time when the tool was withdrawn. `null`: it is listed, or a draft."),
  provider_frozen_at: Field.nullableTimestamp(
    "Time since which the operator has frozen the provider: its tools cannot be called and are not listed. `null`: it is not."
  )
})
export type CatalogTool = typeof CatalogTool.Type

export const ToolDetails = Field.object(
  "ToolDetails",
  "A tool with its schemas, its price history and its declaration.",
  {
    ...CatalogTool.fields,
    output_schema: Field.nullable(JsonSchema, "JSON Schema of the result. `null`: none.", { type: "object" }),
    billing_policy: price.billingPolicy,
    max_cost_microcents: Field.nullable(
      MicrocentsFromInt,
      "Maximum cost of a call in microcents. `null`: a call costs its price."
    ),
    timeout_ms: Field.nullableInt("Timeout of an attempt in milliseconds. `null`: the default of the service.", 10_000),
    idempotent: Field.boolean("Whether the call is idempotent: a failed attempt may be retried."),
    price_history: Field.list(price.PriceSince, "Current and former price versions, newest first."),
    version_history: Field.list(
      ToolVersionSummary,
      "Versions of names, description, schemas and annotations, newest first."
    ),
    unchecked: Field.nullable(
      Schema.Array(Schema.String),
      "What of the schemas is not checked, and why: patterns that do not run in linear time, in schemas that were registered " +
        "before such patterns were rejected. `null`: not known at the moment.",
      []
    ),
    declaration: Field.of(
      price.StoredDeclaration,
      "Declaration of the tool. To update the tool, change it and send it to `POST /api/market/tools`."
    )
  }
)
export type ToolDetails = typeof ToolDetails.Type

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
  pricing: Field.of(Schema.Struct({ ...price.pricingFields, ...price.pricePerCall }), "Price of a call."),
  price_cents: price.priceCents,
  price: price.priceShown,
  platform_fee_bps: feeBps("Platform fee of the provider, part of the price,"),
  ...price.freeTierFields
})

const PriceList = Field.object("PriceList", "Price list of all tools, and the platform fee.", {
  pricing: Field.list(PriceLine, "One line per tool."),
  tools: Field.list(PriceLine, "Same as `pricing`."),
  ...shared.pageFields,
  ...defaultFee,
  microcents_per_cent: Field.always(10_000, "Number of microcents in a cent."),
  timestamp: shared.answeredAt
})

const several = [Schema.isMinLength(1), Schema.isMaxLength(TOOLS_PER_REQUEST_MAX)] as const

const RegisterTools = Field.object("RegisterTools", "Tools to register or update.", {
  tools: Field.of(Schema.Array(ToolBody).check(...several), "Tools. An invalid tool does not affect the others.")
}).annotate({ examples: [{ tools: [toolExample] }] })

/** Decodes the list only: the tools are decoded one by one, so that an invalid one does not affect the others. */
export const RegisterToolsLenient = Schema.Struct({ tools: Schema.Array(Schema.Unknown).check(...several) })

const RegisteredTools = Field.object("RegisteredTools", "Registered, updated and rejected tools.", {
  registered: Field.int("Number of registered or updated tools.", 1),
  errors: Field.int("Number of rejected tools.", 0),
  tools: Field.list(
    Schema.Struct({
      id: shared.toolId,
      tool_name: shared.toolName,
      qualified_name: shared.qualifiedName,
      action: Field.of(Schema.Literals(["created", "updated"]), "Whether the tool was created or updated.")
    }),
    "Registered and updated tools."
  ),
  tool_errors: Field.list(
    Schema.Struct({
      tool_name: shared.toolName,
      error: Field.string("Reason for the rejection.", "`category` is unknown.")
    }),
    "Rejected tools, with the reason.",
    []
  ),
  endpoint: Field.of(EndpointReport, "What was found at your endpoint."),
  message: shared.message("1 registered.")
})

const WithdrawnTool = Field.object("WithdrawnTool", "The withdrawn tool.", {
  withdrawn: Field.always(true),
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  withdrawn_at: Field.timestamp("Time of the first withdrawal.", "2026-11-20T09:29:58.412Z"),
  message: shared.message("search is withdrawn. To list it again, send it to POST /api/market/tools.")
})

const MarketStats = Field.object(
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

const MarketIndex = Field.object("MarketIndex", "Endpoints of the market API, and how to get started.", {
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
  mcp: mcpDoors,
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

const marketHealth = [
  MarketHealth.annotate({ identifier: "MarketHealth", description: "The market is available." }),
  MarketHealth.annotate({
    identifier: "MarketHealthDegraded",
    description: "The database does not respond.",
    examples: [{ status: "degraded", provider_count: null, tool_count: null, uptime_seconds: 86_400, timestamp: NOW }]
  }).pipe(HttpApiSchema.status(503))
] as const

const OwnTools = shared.pageOf(
  "OwnTools",
  "A page of your tools, by name.",
  "tools",
  Field.list(CatalogTool, "Tools of this page.")
)

const CatalogPage = Field.object("CatalogPage", "A page of the catalog.", {
  ...OwnTools.fields,
  categories: Field.strings("Categories that contain a tool.", "search"),
  timestamp: shared.answeredAt
})

export class CatalogApi extends HttpApiGroup.make("catalog")
  .add(
    Endpoint.post("registerTools", "/api/market/tools", {
      access: writeBy("provider"),
      summary: "Register or update tools",
      description:
        "Creates each tool, or updates the tool with the same `tool_name`. In an update, an absent field keeps its value " +
        "and `null` resets it to its default. A withdrawn tool, or a draft, is listed.\n\n" +
        "Your MCP server is asked which tools it lists. If it answers, a tool that it does not list is rejected, unless " +
        "the tool is listed already or you send `unlisted: true`. If it does not answer within 3 seconds, the tool is accepted and " +
        "`endpoint` says so.\n\n" +
        "A change of price, maximum, free tier, billing policy, `on_cancel` or `canceled_call_costs` creates a price " +
        "version, and so does one of the `output_schema` by which `valid_output` bills, except of its titles, descriptions " +
        "and comments; receipts keep theirs. A change in favor of consumers takes effect immediately. A change that charges " +
        "more is shown as `upcoming` and takes effect after the notice period (24 hours unless the operator configures " +
        "another); a smaller free tier takes effect with the first month that begins after it. A further change " +
        "replaces the upcoming one.",
      payload: RegisterTools,
      success: RegisteredTools.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.get("ownTools", "/api/v1/market/tools", {
      access: readBy("provider"),
      summary: "List your tools",
      description: "Returns your listed and withdrawn tools and your drafts by name.",
      query: {
        ...pageQuery,
        state: Field.optional(
          Schema.Literals(["listed", "withdrawn", "draft", "any"]),
          "State of the tools. Default: `any`."
        )
      },
      success: OwnTools
    }),
    Endpoint.delete("withdrawTool", "/api/v1/market/tools/:id", {
      access: writeBy("provider"),
      summary: "Withdraw a tool, or dismiss a draft",
      description:
        "Removes the tool from the catalog. Within a second, every node answers calls, quotes and metering of it with 410 " +
        "`TOOL_WITHDRAWN`. A call in flight completes and is billed, and a call made before can still be reported. " +
        "Receipts, usage, disputes and statistics remain. `POST /api/market/tools` with the same name lists the tool " +
        "again under the same ID.\n\n" +
        "A draft is removed. It becomes a draft again when your MCP server changes the tool, or when an import names it in " +
        "`overrides`.",
      params: { id: shared.toolId },
      success: WithdrawnTool
    }),
    Endpoint.get("catalog", "/api/market/catalog", {
      access: publicRead,
      summary: "Search the catalog",
      description:
        "Returns the listed tools with provider, price and statistics. `max_price_microcents` and the price sort orders " +
        "compare the maximum cost of a call.",
      query: {
        ...pageQuery,
        category: Field.optional(Category, "Category of the tools."),
        q: Field.optional(
          Bounded(200),
          "Search text. A tool matches if its names, category or description have words that start with each of these words."
        ),
        provider_id: Field.optional(ProviderId, "ID of the provider."),
        max_price_microcents: Field.optional(MicrocentsQuery, "Highest maximum cost of a call, in microcents."),
        sort: Field.optional(Schema.Literals(["name", "price", "price_desc", "newest"]), "Sort order. Default: `name`.")
      },
      success: CatalogPage
    }),
    Endpoint.get("tool", "/api/v1/market/tools/:id", {
      access: publicRead,
      summary: "Retrieve a tool",
      description:
        "Returns the catalog entry with the output schema, the billing policy, the price history and the declaration.",
      params: { id: toolIdOrName },
      success: ToolDetails
    }),
    Endpoint.get("pricing", "/api/v1/market/pricing", {
      access: publicRead,
      summary: "List prices",
      description: "Returns the price of every tool, and the platform fee, which is part of it.",
      query: pageQuery,
      success: PriceList
    }),
    Endpoint.get("stats", "/api/v1/market/stats", {
      access: publicRead,
      summary: "Retrieve market statistics",
      description:
        "Returns counts and totals over all accounts. Calls and rates cover calls through the proxy, without providers' calls " +
        "to their own tools; reported calls are counted separately. Revenue covers all billed calls.",
      success: MarketStats
    }),
    Endpoint.get("index", "/api/market", {
      access: publicRead,
      summary: "List the market endpoints",
      description: "Returns the endpoints of the market API, and how to get started.",
      success: MarketIndex
    }),
    Endpoint.get("health", "/api/market/health", {
      access: uncached,
      summary: "Check the market's health",
      description: "Queries the database. Returns 503 and counts of `null` if it does not respond within 2 seconds.",
      success: marketHealth
    }),
    Endpoint.describing("describeRegisterProvider", "/api/market/register-provider"),
    Endpoint.describing("describeRegisterConsumer", "/api/market/register-consumer"),
    Endpoint.describing("describeTools", "/api/market/tools")
  )
  .annotateMerge(Endpoint.about("Catalog", "Tools, prices and market statistics.")) {}
