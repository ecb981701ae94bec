/**
 * Imports of tools from a provider's MCP server, and how they are kept in sync.
 */
import { Effect, Option } from "effect"
import { AccountStore, type Provider, SERVER_FEATURES } from "../../../domain/accounts/Account.ts"
import { OfferedFeatures } from "../../../domain/accounts/ProviderDirectory.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { EndpointReport } from "../../../domain/catalog/EndpointProbe.ts"
import type { DeclaredField, ImportPlan } from "../../../domain/catalog/ImportPlan.ts"
import type { ImportRecord } from "../../../domain/catalog/ImportStore.ts"
import { effectivePrice } from "../../../domain/catalog/Terms.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import { type SyncHistory, ToolImport, ToolSync } from "../../../domain/catalog/ToolImport.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"
import type { ToolList } from "../../../domain/upstream/ProviderServers.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { ImportApi } from "./ImportApi.ts"
import { toChange } from "./ToolBody.ts"
import { catalogProblems, namedTool, versionView, wireName } from "./ToolViews.ts"

const { preparedRoute, route } = routesWith(catalogProblems)

// Imports, endpoints and tool versions as the API shows them.

export const endpointView = (report: EndpointReport) => ({
  ...fieldsOf(report, "reachable", "era", "protocolVersion", "serverName", "serverVersion"),
  tools_found: report.list?.tools.length ?? null,
  problem: report.problem ?? null
})

export const importView = (
  plan: ImportPlan,
  list: ToolList,
  provider: Pick<Provider, "defaultPrice" | "pricingModel">,
  applied: boolean
) => {
  const shown = (
    { change, toolName }: { readonly change: ToolChange; readonly toolName: string },
    action: "change" | "draft" | "list" | "restore",
    changed: ReadonlyArray<DeclaredField>
  ) => ({
    tool_name: toolName,
    display_name: change.displayName ?? toolName,
    action,
    price_microcents: change.price === undefined ? null : effectivePrice(change.price ?? undefined, provider),
    changed: changed.map(wireName)
  })
  const tools = [
    ...plan.creates.map((tool) => shown(tool, tool.draft ? "draft" : "list", [])),
    ...plan.changes.map((tool) => shown(tool, tool.state === "listed" ? "list" : "change", tool.fields)),
    ...plan.restored.map((tool) => shown(tool, "restore", []))
  ]
  return {
    applied,
    tools_found: list.tools.length,
    truncated: list.truncated,
    tools,
    unchanged: plan.unchanged.length,
    missing: plan.missing.map(({ since, toolName, withdrawnFrom }) => ({
      tool_name: toolName,
      missing_since: format(since),
      withdrawn_from: format(withdrawnFrom)
    })),
    withdrawn: plan.withdrawals,
    removed_drafts: plan.removedDrafts,
    dismissed: plan.dismissed,
    held: plan.held.map((one) => fieldsOf(one, "toolName", "reason")),
    rejected: plan.rejected.map(rejectedView),
    message: messageOf(tools, plan, applied)
  }
}

const messageOf = (
  tools: ReadonlyArray<{ readonly action: string }>,
  { missing, rejected, unchanged, withdrawals }: ImportPlan,
  applied: boolean
): string => {
  const of = (action: string): number => tools.filter((tool) => tool.action === action).length
  const counts = [
    [of("list"), "listed"],
    [of("draft"), "stored as drafts"],
    [of("change"), "changed"],
    [of("restore"), "listed again"],
    [withdrawals.length, "withdrawn"],
    [missing.length, "missing on the server"],
    [unchanged.length, "unchanged"],
    [rejected.length, "rejected"]
  ] as const
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const summary = parts.length === 0 ? "no tools" : parts.join(", ")
  return applied ? `Imported: ${summary}.` : `Preview: ${summary}. Nothing was changed.`
}

const syncView = ({ records, state }: SyncHistory, provider: Provider) => ({
  enabled: state?.enabled ?? false,
  listed: state?.listed ?? false,
  default_price_microcents: state?.defaultPrice ?? null,
  account_price_microcents: effectivePrice(undefined, provider),
  next_sync_at: state?.enabled === true ? format(state.nextAt) : null,
  checked_at: state?.checkedAt === undefined ? null : format(state.checkedAt),
  problem: state?.problem ?? null,
  history: records.map(recordView)
})

const recordView = ({ importedAt, result, source }: ImportRecord) => ({
  imported_at: format(importedAt),
  source,
  listed: result.created,
  drafts: result.drafts,
  changed: result.changed.map(({ fields, toolName }) => ({ tool_name: toolName, fields: fields.map(wireName) })),
  ...fieldsOf(result, "restored", "missing", "withdrawn", "removedDrafts"),
  held: result.held.map((one) => fieldsOf(one, "toolName", "reason")),
  rejected: result.rejected.map(rejectedView)
})

const rejectedView = ({ reason, toolName }: { readonly reason: string; readonly toolName: string }) => ({
  tool_name: toolName,
  error: reason
})

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
