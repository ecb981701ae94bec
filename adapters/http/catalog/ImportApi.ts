/**
 * Imports of tools from providers' MCP servers, and the versions of tools.
 */
import { HttpApiGroup } from "effect/http-api"
import { publicRead, readBy, writeBy } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import {
  ImportReport,
  ImportTools,
  McpFeatures,
  SyncSettings,
  ToolSyncState,
  ToolVersions,
  TurnOffFeatures
} from "./ImportBodies.ts"
import { toolIdOrName } from "../contract/InputSchemas.ts"

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
