/**
 * Imports of tools from a provider's MCP server, and how they are kept in sync.
 */
import { Effect, Option } from "effect"
import { AccountStore, SERVER_FEATURES } from "../../../domain/accounts/Account.ts"
import { OfferedFeatures } from "../../../domain/accounts/OfferedFeatures.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ToolImport } from "../../../domain/catalog/ToolImport.ts"
import { ToolSync } from "../../../domain/catalog/ToolSync.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { preparedRoute } from "../pipeline/PreparedRoute.ts"
import { route } from "../pipeline/Route.ts"
import { ImportApi } from "./ImportApi.ts"
import { importView, syncView } from "./ImportViews.ts"
import { toChange } from "./ToolBody.ts"
import { namedTool, versionView } from "./ToolViews.ts"

const { endpoints } = ImportApi

/** A thousand tools take longer than other requests. */
const IMPORT_EXTRA_MS = 90_000
/** Each may have two large schemas. */
const VERSIONS_SHOWN_MAX = 10

export const importRoutes = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const catalog = yield* Catalog
  const imports = yield* ToolImport
  const sync = yield* ToolSync
  const features = yield* OfferedFeatures
  const baseUrl = yield* BaseUrl

  const providerOf = (id: ProviderId) => Effect.map(accounts.findProvider(id), Option.getOrThrow)

  const featuresOf = Effect.fnUntraced(function* (id: ProviderId) {
    const { handle } = yield* providerOf(id)
    return { features_off: yield* features.turnedOff(id), mcp_url: `${baseUrl}/mcp/${handle}` }
  })

  const importing = (endpoint: typeof endpoints.importTools | typeof endpoints.importToolsV1) =>
    preparedRoute(
      endpoint,
      Effect.fnUntraced(function* ({ as, payload }) {
        const { endpointUrl, id } = yield* providerOf(as("provider").ownerId)
        const options = {
          defaultPrice: payload.default_price_microcents,
          overrides: (payload.overrides ?? []).map(toChange),
          listed: payload.listed ?? false
        }
        const list = yield* imports.read({ providerId: id, endpointUrl })
        return { list, options, preview: yield* imports.preview(id, list, options) }
      }),
      function* ({ as, clock, payload }, { list, options, preview }) {
        const { ownerId } = as("provider")
        const isApplied = payload.apply ?? false
        if (isApplied) clock.restart(IMPORT_EXTRA_MS)
        const plan = isApplied ? yield* imports.apply(ownerId, list, options) : preview
        return importView(plan, list, yield* providerOf(ownerId), isApplied)
      }
    )

  return [
    importing(endpoints.importTools),
    importing(endpoints.importToolsV1),
    route(endpoints.toolSync, function* ({ as }) {
      const { ownerId } = as("provider")
      return syncView(yield* sync.history(ownerId), yield* providerOf(ownerId))
    }),
    route(endpoints.configureToolSync, function* ({ as, payload }) {
      const { ownerId } = as("provider")
      const history = yield* sync.configure(ownerId, {
        enabled: payload.enabled,
        listed: payload.listed,
        defaultPrice: payload.default_price_microcents ?? undefined
      })
      return syncView(history, yield* providerOf(ownerId))
    }),
    route(endpoints.mcpFeatures, ({ as }) => featuresOf(as("provider").ownerId)),
    route(endpoints.turnOffMcpFeatures, function* ({ as, payload }) {
      const { ownerId } = as("provider")
      yield* features.turnOff(
        ownerId,
        SERVER_FEATURES.filter((feature) => payload.features_off.includes(feature))
      )
      return yield* featuresOf(ownerId)
    }),
    route(endpoints.toolVersions, function* ({ params }) {
      const { tool } = yield* namedTool(catalog, params.id)
      const versions = yield* catalog.versions(tool.id)
      return {
        tool_id: tool.id,
        tool_name: tool.toolName,
        versions: versions.slice(0, VERSIONS_SHOWN_MAX).map(versionView)
      }
    })
  ]
})
