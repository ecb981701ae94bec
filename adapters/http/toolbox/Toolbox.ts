/**
 * Toolboxes over HTTP.
 */
import { Effect } from "effect"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import type { ToolboxScope } from "../../../domain/accounts/ToolboxStore.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../domain/catalog/Terms.ts"
import { type AliasedTool, Toolbox, ToolboxToolsMax } from "../../../domain/mcp/Toolbox.ts"
import type { ToolReference } from "../../../domain/metering/ToolDirectory.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { callProblems } from "../metering/CallProblems.ts"
import { invalid, notFound, type ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { ToolboxApi } from "./ToolboxApi.ts"

const toolboxProblems = {
  ...callProblems,
  ToolNotInToolbox: notFound("GET /api/market/toolbox lists its tools."),
  ToolboxFull: invalid()
} satisfies ProblemsOf<Toolbox>

const { route } = routesWith(toolboxProblems)

const { endpoints } = ToolboxApi

export const toolboxRoutes = Effect.gen(function* () {
  const toolbox = yield* Toolbox
  const toolsMax = yield* ToolboxToolsMax

  const changed = ({ keyId }: ToolboxScope, entries: ReadonlyArray<CatalogEntry>) => ({
    key_id: keyId ?? null,
    tools: entries.map(({ provider, tool }) => ({
      tool_id: tool.id,
      qualified_name: qualifiedName(provider.handle, tool.toolName)
    })),
    total: entries.length,
    tools_max: toolsMax,
    message: `The toolbox of the ${keyId === undefined ? "account" : "key"} has ${
      entries.length === 1 ? "1 tool" : `${entries.length} tools`
    }.`
  })

  return [
    ...[endpoints.toolbox, endpoints.toolboxV1].map((endpoint) =>
      route(endpoint, function* ({ as, query }) {
        const scope = { consumerId: as("consumer").ownerId, keyId: query.key_id }
        yield* toolbox.requireKey(scope)
        const { source, tools } = yield* toolbox.listed(scope.consumerId, scope.keyId)
        return {
          source,
          key_id: query.key_id ?? null,
          tools: tools.map(toolView),
          total: tools.length,
          tools_max: toolsMax
        }
      })
    ),
    ...[endpoints.addTools, endpoints.addToolsV1].map((endpoint) =>
      route(endpoint, function* ({ as, payload }) {
        const scope = { consumerId: as("consumer").ownerId, keyId: payload.key_id }
        return changed(scope, yield* toolbox.add(scope, payload.tools.map(referenceOf)))
      })
    ),
    ...[endpoints.replaceTools, endpoints.replaceToolsV1].map((endpoint) =>
      route(endpoint, function* ({ as, payload }) {
        const scope = { consumerId: as("consumer").ownerId, keyId: payload.key_id }
        return changed(scope, yield* toolbox.replace(scope, payload.tools.map(referenceOf)))
      })
    ),
    ...[endpoints.removeTool, endpoints.removeToolV1].map((endpoint) =>
      route(endpoint, function* ({ as, params, query }) {
        const scope = { consumerId: as("consumer").ownerId, keyId: query.key_id }
        return changed(scope, yield* toolbox.remove(scope, params.tool_id))
      })
    )
  ]
})

/** The ID of a tool, or its qualified name, which contains a slash. */
const referenceOf = (text: string): ToolReference =>
  text.includes("/")
    ? { toolId: undefined, toolName: text, providerId: undefined }
    : { toolId: ToolId.make(text), toolName: undefined, providerId: undefined }

const toolView = ({ alias, entry }: AliasedTool) => ({
  alias,
  tool_id: entry.tool.id,
  tool_name: entry.tool.toolName,
  qualified_name: qualifiedName(entry.provider.handle, entry.tool.toolName),
  display_name: entry.tool.displayName,
  provider: entry.provider.name,
  provider_id: entry.provider.id,
  price_microcents: entry.price,
  max_cost_microcents: entry.maximum,
  price: priceText(entry),
  usage_priced: isUsagePriced(entry),
  price_version: entry.priceVersion
})
