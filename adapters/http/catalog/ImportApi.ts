/**
 * Imports of tools from providers' MCP servers, and the versions of tools.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { SERVER_FEATURES } from "../../../domain/accounts/Account.ts"
import { TOOLS_PER_PROVIDER_MAX } from "../../../domain/catalog/ToolUpserts.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { publicRead, readBy, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { toolIdOrName } from "../contract/InputSchemas.ts"
import { BASE_URL, INPUT_SCHEMA } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { TOOL_ANNOTATIONS, ToolAnnotations, ToolBody } from "./ToolBody.ts"

// Imports of tools from a provider's MCP server on the wire: what was found, what an import changes, and how the tools are
// kept in sync.

export const EndpointReport = Field.object("EndpointReport", "What was found at the endpoint of the provider.", {
  reachable: Field.nullable(Schema.Boolean, "Whether the MCP server answered. `null`: it was not asked.", true),
  era: Field.nullable(
    Schema.Literals(["modern", "legacy"]),
    "Era of the protocol: `modern` (2026-07-28) or `legacy` (2025-11-25 and before). `null`: unknown.",
    "modern"
  ),
  protocol_version: Field.nullableString("Protocol version. `null`: unknown.", "2026-07-28"),
  server_name: Field.nullableString("Name that the server gives itself. `null`: none.", "ada-tools"),
  server_version: Field.nullableString("Version that the server gives itself. `null`: none.", "1.4.0"),
  tools_found: Field.nullableInt("Number of tools that the server lists. `null`: they could not be read.", 3),
  problem: Field.nullableString("Why the server or its tools could not be read. `null`: they were read.")
})

const names = (description: string, ...examples: ReadonlyArray<string>) => Field.strings(description, ...examples)

const rejected = Field.list(
  Schema.Struct({
    tool_name: shared.toolName,
    error: Field.string("Reason.", "inputSchema must be an object")
  }),
  "Tools that are not imported, with the reason.",
  []
)

const held = Field.list(
  Schema.Struct({ tool_name: shared.toolName, reason: Field.string("Reason.", "the server changed the outputSchema") }),
  "Changes that only an import by you applies.",
  []
)

const ImportTools = Field.object("ImportTools", "An import of the tools that your MCP server lists.", {
  default_price_microcents: Field.of(
    MicrocentsFromInt,
    "Price of a call of each new tool, in microcents (1/10,000 of a cent)."
  ),
  overrides: Field.optional(
    Schema.Array(ToolBody).check(Schema.isMaxLength(TOOLS_PER_PROVIDER_MAX)),
    "Declarations that take precedence over what the server lists, such as prices. By `tool_name`."
  ),
  listed: Field.optional(
    Schema.Boolean,
    "`true`: new tools and drafts are listed. Default: `false`, new tools are drafts."
  ),
  apply: Field.optional(Schema.Boolean, "`true`: import. Default: `false`, a preview that changes nothing.")
}).annotate({
  identifier: "ImportTools",
  examples: [
    {
      default_price_microcents: Microcents.make(500n),
      overrides: [{ tool_name: "search", price_microcents: Microcents.make(2_000n) }],
      listed: true,
      apply: true
    }
  ]
})

const PlannedTool = Field.object("PlannedTool", "A tool of an import.", {
  tool_name: shared.toolName,
  display_name: shared.displayName,
  action: Field.of(
    Schema.Literals(["list", "draft", "change", "restore"]),
    "`list`: it is listed. `draft`: it is stored as a draft. `change`: a known tool changes. `restore`: it is listed " +
      "again, because the server lists it again."
  ),
  price_microcents: Field.of(
    Schema.NullOr(MicrocentsFromInt),
    "Price of a call in microcents. `null`: the tool keeps its price.",
    500
  ),
  changed: names("Fields that change.", "description")
})

export const ImportReport = Field.object("ImportReport", "What an import changes, or changed.", {
  applied: Field.boolean("Whether the import was applied. `false`: a preview.", false),
  tools_found: Field.int("Number of tools that the server lists.", 3),
  truncated: Field.boolean("Whether the server may list more tools than were read. No tool is withdrawn then.", false),
  tools: Field.list(PlannedTool, "Tools that are listed, stored as drafts, changed or restored."),
  unchanged: Field.int("Number of tools that do not change.", 1),
  missing: Field.list(
    Schema.Struct({
      tool_name: shared.toolName,
      missing_since: Field.timestamp("Time from which the server did not list the tool.", "2026-11-20T09:29:58.412Z"),
      withdrawn_from: Field.timestamp("Time from which it is withdrawn.", "2026-11-21T09:29:58.412Z")
    }),
    "Tools that the server does not list anymore. They are withdrawn after the grace period.",
    []
  ),
  withdrawn: names("Tools that are withdrawn: the server has not listed them for the grace period.", "old_search"),
  removed_drafts: names("Drafts that are removed for the same reason."),
  dismissed: names("Tools whose drafts you have dismissed, and that the server has not changed since."),
  held,
  rejected,
  message: shared.message("Preview: 1 listed, 1 stored as drafts. Nothing was changed.")
})

const recorded = (description: string) => names(description, "search")

const ImportRecord = Field.object("ImportRecord", "What one import or sync changed. Each list has at most 100 names.", {
  imported_at: Field.timestamp("Time of the import."),
  source: Field.of(
    Schema.Literals(["provider", "server"]),
    "`provider`: an import by you. `server`: a sync in the background."
  ),
  listed: recorded("Tools that were listed."),
  drafts: recorded("Tools that were stored as drafts."),
  changed: Field.list(
    Schema.Struct({ tool_name: shared.toolName, fields: names("Changed fields.", "description") }),
    "Tools that changed."
  ),
  restored: recorded("Tools that were listed again."),
  missing: recorded("Tools that the server did not list."),
  withdrawn: recorded("Tools that were withdrawn."),
  removed_drafts: recorded("Drafts that were removed."),
  held,
  rejected
})

const SyncSettings = Field.object("SyncSettings", "How your tools are kept in sync with your MCP server.", {
  enabled: Field.boolean("Whether the tools follow the server in the background, at least every hour."),
  listed: Field.boolean("Whether new tools are listed. `false`: they are stored as drafts.", false),
  default_price_microcents: Field.of(
    Schema.NullOr(MicrocentsFromInt),
    "Price of a call of new tools, in microcents. `null`: the default price of your account.",
    500
  )
})

const ToolSyncState = Field.object("ToolSync", "Sync settings and the history of imports.", {
  ...SyncSettings.fields,
  account_price_microcents: Field.of(
    MicrocentsFromInt,
    "Default price of your account, in microcents, as you registered it. New tools have it if `default_price_microcents` is `null`.",
    1_000
  ),
  next_sync_at: Field.nullableTimestamp("Time of the next sync. `null`: none.", "2026-11-20T10:24:58.412Z"),
  checked_at: Field.nullableTimestamp("Time of the last attempt to read the server. `null`: never."),
  problem: Field.nullableString("Why the server could not be read. `null`: it was read."),
  history: Field.list(ImportRecord, "Newest first, at most 50: imports, and syncs that changed something.")
})

const featuresOff = Field.of(
  Schema.Array(Schema.Literals(SERVER_FEATURES)),
  "Features of your MCP server that are turned off at its endpoint here. Empty: all that the server declares are offered.",
  ["resources"]
)

const TurnOffFeatures = Field.object("TurnOffFeatures", "The features that are not offered.", {
  features_off: Field.of(
    Schema.Array(Schema.Literals(SERVER_FEATURES)).check(Schema.isMaxLength(SERVER_FEATURES.length)),
    "Features of your MCP server to turn off. All others are turned on."
  )
}).annotate({ examples: [{ features_off: ["resources", "prompts"] }] })

const McpFeatures = Field.object("McpFeatures", "What your MCP server offers through this service besides tools.", {
  features_off: featuresOff,
  mcp_url: Field.string("URL of your server's endpoint here.", `${BASE_URL}/mcp/ada-tools`)
})

const changedFields = names("Fields that differ from the version before.", "description")
const source = Field.of(
  Schema.Literals(["provider", "server"]),
  "`provider`: changed by the provider. `server`: taken from its MCP server."
)

export const ToolVersionSummary = Field.object("ToolVersionSummary", "A version of a tool's definition.", {
  version: Field.int("Number of the version.", 2),
  changed: changedFields,
  source,
  changed_at: Field.timestamp("Time of the change.")
})

const JsonSchema = Schema.Record(Schema.String, Schema.Unknown)

const ToolVersion = Field.object("ToolVersion", "A version of a tool's definition, complete.", {
  ...ToolVersionSummary.fields,
  display_name: shared.displayName,
  description: shared.toolDescription,
  input_schema: Field.nullable(JsonSchema, "JSON Schema of the arguments. `null`: none.", INPUT_SCHEMA),
  output_schema: Field.nullable(JsonSchema, "JSON Schema of the result. `null`: none."),
  annotations: Field.nullable(ToolAnnotations, TOOL_ANNOTATIONS)
})

const ToolVersions = Field.object("ToolVersions", "Versions of a tool's definition.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  versions: Field.list(ToolVersion, "Newest first, at most 10.")
})

const importing = {
  access: writeBy("provider"),
  summary: "Import tools from your MCP server",
  description:
    "Reads `tools/list` of your MCP server, in either era and all pages, and compares it with your tools. Without `apply: true` " +
    "it is a preview.\n\n" +
    "New tools become drafts, or are listed with `listed: true`. Names, descriptions, schemas and annotations of known tools " +
    "follow the server, except for fields that you have changed by hand; each change is a version of the tool. Prices of " +
    "listed tools change only by your `overrides`, with the usual notice. Tools that the server no longer lists are withdrawn after a grace " +
    "period (24 hours unless the operator configures another).\n\n" +
    "After an import the tools are kept in sync: see `POST /api/v1/market/tools/sync`.",
  payload: ImportTools,
  success: ImportReport,
  problems: [502]
} as const

export class ImportApi extends HttpApiGroup.make("imports")
  .add(
    Endpoint.post("importTools", "/api/market/tools/import", importing),
    Endpoint.post("importToolsV1", "/api/v1/market/tools/import", importing),
    Endpoint.get("toolSync", "/api/v1/market/tools/sync", {
      access: readBy("provider"),
      summary: "Retrieve sync settings and import history",
      description: "Returns how your tools are kept in sync with your MCP server, and what each import changed.",
      success: ToolSyncState
    }),
    Endpoint.post("configureToolSync", "/api/v1/market/tools/sync", {
      access: writeBy("provider"),
      summary: "Change sync settings",
      description:
        "Sets whether your tools follow your MCP server in the background, and what happens to new tools. A sync never changes " +
        "a price, and never a field that you have changed by hand.",
      payload: SyncSettings,
      success: ToolSyncState
    }),
    Endpoint.get("mcpFeatures", "/api/v1/market/mcp-features", {
      access: readBy("provider"),
      summary: "Retrieve the features of your MCP endpoint",
      description: "Returns which features of your MCP server are turned off at `/mcp/{handle}`.",
      success: McpFeatures
    }),
    Endpoint.post("turnOffMcpFeatures", "/api/v1/market/mcp-features", {
      access: writeBy("provider"),
      summary: "Turn features of your MCP endpoint off or on",
      description:
        "A feature that is turned off is not declared at `/mcp/{handle}`, its requests are rejected with `-32601`, and its " +
        "notifications are not passed on. Tools stay. Takes effect on every node within a second.",
      payload: TurnOffFeatures,
      success: McpFeatures
    }),
    Endpoint.get("toolVersions", "/api/v1/market/tools/:id/versions", {
      access: publicRead,
      summary: "List the versions of a tool",
      description:
        "Returns the versions of the tool's names, description, schemas and annotations, whether the provider or its MCP server " +
        "changed them. Prices have versions of their own.",
      params: { id: toolIdOrName },
      success: ToolVersions
    })
  )
  .annotateMerge(
    Endpoint.about("Imports", "Tools that come from MCP servers, their versions, and what else of a server is offered.")
  ) {}
