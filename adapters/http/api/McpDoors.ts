/**
 * The MCP endpoints of the service on the wire: where they are, what they offer, and how a client authenticates.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { BASE_URL } from "./SampleValues.ts"

const McpServer = Field.object("McpServer", "An MCP endpoint.", {
  url: Field.string("URL, with `{handle}` for the handle of a provider.", `${BASE_URL}/mcp`),
  tools: Field.string("Tools of this endpoint.", "The tools of all providers, as `{provider}__{tool}`.")
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
