/**
 * The catalog: tools, prices, and the state of the market.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { publicRead, readBy, uncached, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { CatalogTool, PriceList, ToolDetails } from "./CatalogTool.ts"
import * as Field from "./Field.ts"
import { MicrocentsQuery, pageQuery, Text, toolIdOrName } from "./InputSchemas.ts"
import { marketHealth, MarketIndex, MarketStats } from "./MarketInfo.ts"
import { describing } from "./SelfDescription.ts"
import { answeredAt, pageOf, toolId } from "./SharedFields.ts"
import { RegisteredTools, RegisterTools, WithdrawnTool } from "./ToolRegistration.ts"

const OwnTools = pageOf(
  "OwnTools",
  "A page of your tools, by name.",
  "tools",
  Field.list(CatalogTool, "Tools of this page.")
)

const CatalogPage = Field.object("CatalogPage", "A page of the catalog.", {
  ...OwnTools.fields,
  categories: Field.strings("Categories that contain a tool.", "search"),
  timestamp: answeredAt
})

export class CatalogApi extends HttpApiGroup.make("catalog")
  .add(
    Endpoint.post("registerTools", "/api/market/tools", {
      access: writeBy("provider"),
      summary: "Register or update tools",
      description:
        "Creates each tool, or updates the tool with the same `tool_name`. In an update, an absent field keeps its value " +
        "and `null` resets it to its default. A withdrawn tool is listed again.\n\n" +
        "A change of price, maximum, free tier, billing policy, `on_cancel` or `canceled_call_costs` creates a price " +
        "version; receipts keep theirs. A change in favor of consumers takes effect immediately. A change that charges " +
        "more is shown as `upcoming` and takes effect after the notice period (24 hours unless the operator configures " +
        "another); a smaller free tier takes effect with the first month that begins after it. A further change " +
        "replaces the upcoming one.",
      payload: RegisterTools,
      success: RegisteredTools.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.get("ownTools", "/api/v1/market/tools", {
      access: readBy("provider"),
      summary: "List your tools",
      description: "Returns your listed and withdrawn tools by name.",
      query: {
        ...pageQuery,
        state: Field.optional(Schema.Literals(["listed", "withdrawn", "any"]), "State of the tools. Default: `any`.")
      },
      success: OwnTools
    }),
    Endpoint.delete("withdrawTool", "/api/v1/market/tools/:id", {
      access: writeBy("provider"),
      summary: "Withdraw a tool",
      description:
        "Removes the tool from the catalog. Within a second, every node answers calls, quotes and metering of it with 410 " +
        "`TOOL_WITHDRAWN`. A call in flight completes and is billed, and a call made before can still be reported. " +
        "Receipts, usage, disputes and statistics remain. `POST /api/market/tools` with the same name lists the tool " +
        "again under the same ID.",
      params: { id: toolId },
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
          Text(200),
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
      description: "Returns the price of every tool, and the platform fee.",
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
    describing("describeRegisterProvider", "/api/market/register-provider"),
    describing("describeRegisterConsumer", "/api/market/register-consumer"),
    describing("describeTools", "/api/market/tools")
  )
  .annotateMerge(OpenApi.annotations({ title: "Catalog", description: "Tools, prices and market statistics." })) {}
