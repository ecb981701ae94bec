/**
 * The catalog: tools, prices, and the state of the market.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { about, KeyAuth, publicRead, readBy, uncached, writeBy } from "./Access.ts"
import { CatalogTool, ToolDetails } from "./CatalogTool.ts"
import * as Field from "./Field.ts"
import { idempotencyHeader, MicrocentsQuery, pageQuery, Text, toolIdOrName } from "./InputSchemas.ts"
import { marketHealth, MarketIndex, MarketStats } from "./MarketInfo.ts"
import { PriceList } from "./PriceList.ts"
import { problems } from "./ProblemSchemas.ts"
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
    HttpApiEndpoint.post("registerTools", "/api/market/tools", {
      headers: idempotencyHeader,
      payload: RegisterTools,
      success: RegisteredTools.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("provider"),
          "Register or update tools",
          "Creates each tool, or updates the tool with the same `tool_name`. In an update, an absent field keeps its value " +
            "and `null` resets it to its default. A withdrawn tool is listed again.\n\n" +
            "A change of price, maximum, free tier, billing policy, `on_cancel` or `canceled_call_costs` creates a price " +
            "version; receipts keep theirs. A change in favor of consumers takes effect immediately. A change that charges " +
            "more is shown as `upcoming` and takes effect after the notice period (24 hours unless the operator configures " +
            "another); a smaller free tier takes effect with the first month that begins after it. A further change " +
            "replaces the upcoming one."
        )
      ),
    HttpApiEndpoint.get("ownTools", "/api/v1/market/tools", {
      query: {
        ...pageQuery,
        state: Field.optional(Schema.Literals(["listed", "withdrawn", "any"]), "State of the tools. Default: `any`.")
      },
      success: OwnTools,
      error: problems(400, 401, 403)
    })
      .middleware(KeyAuth)
      .annotateMerge(about(readBy("provider"), "List your tools", "Returns your listed and withdrawn tools by name.")),
    HttpApiEndpoint.delete("withdrawTool", "/api/v1/market/tools/:id", {
      headers: idempotencyHeader,
      params: { id: toolId },
      success: WithdrawnTool,
      error: problems(400, 401, 403, 404, 409)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("provider"),
          "Withdraw a tool",
          "Removes the tool from the catalog. Within a second, every node answers calls, quotes and metering of it with 410 " +
            "`TOOL_WITHDRAWN`. A call in flight completes and is billed, and a call made before can still be reported. " +
            "Receipts, usage, disputes and statistics remain. `POST /api/market/tools` with the same name lists the tool " +
            "again under the same ID."
        )
      ),
    HttpApiEndpoint.get("catalog", "/api/market/catalog", {
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
      success: CatalogPage,
      error: problems(400)
    }).annotateMerge(
      about(
        publicRead,
        "Search the catalog",
        "Returns the listed tools with provider, price and statistics. `max_price_microcents` and the price sort orders " +
          "compare the maximum cost of a call."
      )
    ),
    HttpApiEndpoint.get("tool", "/api/v1/market/tools/:id", {
      params: { id: toolIdOrName },
      success: ToolDetails,
      error: problems(404)
    }).annotateMerge(
      about(
        publicRead,
        "Retrieve a tool",
        "Returns the catalog entry with the output schema, the billing policy, the price history and the declaration."
      )
    ),
    HttpApiEndpoint.get("pricing", "/api/v1/market/pricing", {
      query: pageQuery,
      success: PriceList,
      error: problems(400)
    }).annotateMerge(about(publicRead, "List prices", "Returns the price of every tool, and the platform fee.")),
    HttpApiEndpoint.get("stats", "/api/v1/market/stats", { success: MarketStats, error: problems() }).annotateMerge(
      about(
        publicRead,
        "Retrieve market statistics",
        "Returns counts and totals over all accounts. Calls and rates cover calls through the proxy, without providers' calls " +
          "to their own tools; reported calls are counted separately. Revenue covers all billed calls."
      )
    ),
    HttpApiEndpoint.get("index", "/api/market", { success: MarketIndex, error: problems() }).annotateMerge(
      about(publicRead, "List the market endpoints", "Returns the endpoints of the market API, and how to get started.")
    ),
    HttpApiEndpoint.get("health", "/api/market/health", { success: marketHealth, error: problems() }).annotateMerge(
      about(
        uncached,
        "Check the market's health",
        "Queries the database. Returns 503 and counts of `null` if it does not respond within 2 seconds."
      )
    ),
    describing("describeRegisterProvider", "/api/market/register-provider"),
    describing("describeRegisterConsumer", "/api/market/register-consumer"),
    describing("describeTools", "/api/market/tools")
  )
  .annotateMerge(OpenApi.annotations({ title: "Catalog", description: "Tools, prices and market statistics." })) {}
