/**
 * The catalogue: what tools there are, what they cost, and how the market does.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, publicRead, readBy, uncached, writeBy } from "./Access.ts"
import { CatalogTool, ToolDetails } from "./CatalogTool.ts"
import { Display, MicrocentsQuery, pageQuery, Text, ToolIdOrName } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { pricingFields } from "./PriceFields.ts"
import { problems } from "./Problem.ts"
import { SelfDescription } from "./SelfDescription.ts"
import { ToolBody } from "./ToolBody.ts"

export const RegisterTools = Schema.Struct({
  tools: Schema.Array(ToolBody).check(Schema.isMinLength(1), Schema.isMaxLength(TOOLS_PER_REQUEST_MAX))
}).annotate({
  identifier: "RegisterTools",
  examples: [
    {
      tools: [
        {
          tool_name: "search",
          display_name: "Paper search",
          description: "Full-text search over public papers",
          category: "search",
          price_microcents: Microcents.make(500n),
          free_tier_calls: 10,
          input_schema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
        }
      ]
    }
  ]
})

/** What is decoded: the tools are judged one by one, so that a fault in one does not stop the others. */
export const RegisterToolsLenient = Schema.Struct({
  tools: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1), Schema.isMaxLength(TOOLS_PER_REQUEST_MAX))
})

const RegisteredTools = Schema.Struct({
  registered: Schema.Int,
  errors: Schema.Int,
  tools: Schema.Array(
    Schema.Struct({
      id: ToolId,
      tool_name: Schema.String,
      qualified_name: Schema.String,
      action: Schema.Literals(["created", "updated"])
    })
  ),
  tool_errors: Schema.Array(Schema.Struct({ tool_name: Schema.String, error: Schema.String })),
  message: Schema.String
}).annotate({ identifier: "RegisteredTools" })

const OwnTools = Schema.Struct({
  tools: Schema.Array(CatalogTool),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OwnTools" })

const WithdrawnTool = Schema.Struct({
  withdrawn: Schema.Literal(true),
  tool_id: ToolId,
  tool_name: Schema.String,
  withdrawn_at: Timestamp,
  message: Schema.String
}).annotate({ identifier: "WithdrawnTool" })

const CatalogPage = Schema.Struct({
  tools: Schema.Array(CatalogTool),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String),
  categories: Schema.Array(Schema.String),
  timestamp: Timestamp
}).annotate({ identifier: "CatalogPage" })

const PriceLine = Schema.Struct({
  tool_id: ToolId,
  tool_name: Schema.String,
  qualified_name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  category: Schema.String,
  provider: Schema.String,
  provider_id: ProviderId,
  provider_handle: Schema.String,
  pricing: Schema.Struct({
    ...pricingFields,
    price_per_call_microcents: MicrocentsFromInt,
    price_per_call_cents: Schema.Int,
    price_per_call: Display
  }),
  price_cents: Schema.Int,
  price: Display,
  free_tier_limit: Schema.Int,
  free_tier_remaining: Schema.Int
}).annotate({ identifier: "PriceLine" })

const PriceList = Schema.Struct({
  pricing: Schema.Array(PriceLine),
  tools: Schema.Array(PriceLine),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String),
  platform_fee: Schema.Literal("10%"),
  platform_fee_bps: Schema.Literal(1_000),
  microcents_per_cent: Schema.Literal(10_000),
  timestamp: Timestamp
}).annotate({ identifier: "PriceList" })

const MarketStats = Schema.Struct({
  total_tool_invocations: Schema.Int,
  successful_calls: Schema.Int,
  reported_calls: Schema.Int,
  unique_agents: Schema.Int,
  unique_tools: Schema.Int,
  tools_listed: Schema.Int,
  providers: Schema.Int,
  total_revenue_microcents: MicrocentsFromInt,
  total_revenue_cents: Schema.Int,
  total_revenue: Display,
  avg_response_time_ms: Schema.NullOr(Schema.Finite),
  free_tier_usage_pct: Schema.NullOr(Schema.Finite),
  last_invocation: Schema.NullOr(Timestamp),
  timestamp: Timestamp
}).annotate({ identifier: "MarketStats" })

const MarketIndex = Schema.Struct({
  name: Schema.String,
  version: Schema.Literal("0.3.0"),
  version_of: Schema.String,
  description: Schema.String,
  base_url: Schema.String,
  flow: Schema.Array(Schema.String),
  endpoints: Schema.Record(Schema.String, Schema.String),
  auth: Schema.String,
  links: Schema.Record(Schema.String, Schema.String)
}).annotate({ identifier: "MarketIndex" })

const MarketHealth = Schema.Struct({
  status: Schema.Literals(["ok", "degraded"]),
  provider_count: Schema.NullOr(Schema.Int),
  tool_count: Schema.NullOr(Schema.Int),
  uptime_seconds: Schema.Int,
  timestamp: Timestamp
}).annotate({ identifier: "MarketHealth" })

const described = (
  identifier: "describeRegisterProvider" | "describeRegisterConsumer" | "describeTools",
  path: `/${string}`
) =>
  HttpApiEndpoint.get(identifier, path, { success: SelfDescription, error: problems() })
    .annotate(Access, publicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: `How to use POST ${path}`,
        description: `The same path describes itself: what POST ${path} does, and the JSON Schema of its body.`
      })
    )

export class CatalogApi extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.post("registerTools", "/api/market/tools", {
      headers: idempotencyHeader,
      payload: RegisterTools,
      success: RegisteredTools.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register or update tools",
          description:
            "Upsert by tool_name. Of a tool that is registered already only the fields that you send change; `null` resets " +
            "one to its default. A tool that was withdrawn is listed again.\n\n" +
            "Another price, maximum, free tier, billing policy or cost of a canceled call (`on_cancel`, " +
            "`canceled_call_costs`) makes a new price version; receipts keep theirs. What is better for consumers takes " +
            "effect at once. What charges them more is shown as `upcoming` and takes effect after the notice period (24 " +
            "hours unless the operator says otherwise), a smaller free tier with the first month that begins after it. " +
            "Another change replaces an upcoming one."
        })
      ),
    HttpApiEndpoint.get("ownTools", "/api/v1/market/tools", {
      query: { ...pageQuery, state: Schema.optionalKey(Schema.Literals(["listed", "withdrawn", "any"])) },
      success: OwnTools,
      error: problems(400, 401, 403)
    })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Your own tools",
          description: "By name, with those that you have withdrawn unless you ask for one state."
        })
      ),
    HttpApiEndpoint.delete("withdrawTool", "/api/v1/market/tools/:id", {
      headers: idempotencyHeader,
      params: { id: ToolId },
      success: WithdrawnTool,
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Withdraw a tool",
          description:
            "It leaves the catalogue and the search, and calls, quotes and metering of it answer 410 `TOOL_WITHDRAWN`, on " +
            "every node within a second; a call that is under way still ends and is paid for, and one that was made before " +
            "can still be reported. Receipts, usage, disputes and measures stay. `POST /api/market/tools` with the same name lists it again, under the same id."
        })
      ),
    HttpApiEndpoint.get("catalog", "/api/market/catalog", {
      query: {
        ...pageQuery,
        category: Schema.optionalKey(Category),
        q: Schema.optionalKey(Text(200)),
        provider_id: Schema.optionalKey(ProviderId),
        max_price_microcents: Schema.optionalKey(MicrocentsQuery),
        sort: Schema.optionalKey(Schema.Literals(["name", "price", "price_desc", "newest"]))
      },
      success: CatalogPage,
      error: problems(400)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Find tools",
          description:
            "Every listed tool with its provider, its price and how it has done, filtered and sorted as you ask. " +
            "`max_price_microcents` and the orders by price go by the most that one call may cost."
        })
      ),
    HttpApiEndpoint.get("tool", "/api/v1/market/tools/:id", {
      params: { id: ToolIdOrName },
      success: ToolDetails,
      error: problems(404)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "All about a tool",
          description:
            "As the catalogue lists it, with its output schema, what is billed, every price that it has had, and the " +
            "declaration that its provider would send to leave it as it is."
        })
      ),
    HttpApiEndpoint.get("pricing", "/api/v1/market/pricing", {
      query: pageQuery,
      success: PriceList,
      error: problems(400)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The price list",
          description: "What a call of each tool costs, and what the platform keeps of it."
        })
      ),
    HttpApiEndpoint.get("stats", "/api/v1/market/stats", { success: MarketStats, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Figures of the whole market",
          description:
            "Counts and totals over all accounts; nothing about any one of them. Calls and rates are of calls that the proxy " +
            "made, without those of a provider to itself; reported calls are counted apart, and revenue is all that was billed."
        })
      ),
    HttpApiEndpoint.get("index", "/api/market", { success: MarketIndex, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "What there is, and where",
          description: "For an agent that arrives with nothing but the address: the way to begin, and every endpoint."
        })
      ),
    HttpApiEndpoint.get("health", "/api/market/health", {
      success: [
        MarketHealth,
        MarketHealth.annotate({ identifier: "MarketHealthDegraded" }).pipe(HttpApiSchema.status(503))
      ],
      error: problems()
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Is the market up",
          description:
            "Asks the database. 503 with the same body, its counts null, where that does not answer within 2 s."
        })
      ),
    described("describeRegisterProvider", "/api/market/register-provider"),
    described("describeRegisterConsumer", "/api/market/register-consumer"),
    described("describeTools", "/api/market/tools")
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Catalogue",
      description: "Tools, prices, and the market as a whole."
    })
  ) {}
