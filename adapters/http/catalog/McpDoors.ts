/**
 * The MCP endpoints of the service on the wire: where they are, what they offer, and how a client authenticates.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import { BASE_URL } from "../contract/SampleValues.ts"

/** What `/mcp` lists. */
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
    protocol_versions: Field.strings("Versions of MCP, newest first.", "2026-07-28", "2025-11-25"),
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
