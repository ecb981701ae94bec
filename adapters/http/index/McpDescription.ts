/**
 * What programs read of the MCP endpoints: in the indexes, and as `server.json` in the format of the MCP registry.
 */
import { LEGACY_VERSIONS, MODERN_VERSION } from "../../../domain/upstream/Protocol.ts"
import { API_VERSION } from "../contract/Versions.ts"
import { MARKET_DOOR_TOOLS } from "../catalog/McpDoors.ts"
import { PRODUCT_DESCRIPTION, PRODUCT_NAME } from "../contract/SampleValues.ts"
import type { Route } from "../pipeline/Route.ts"

export const MCP_VERSIONS = [MODERN_VERSION, ...LEGACY_VERSIONS]

/** Of these, only those that the service has. */
const DOORS = [
  ["/mcp", "/mcp", MARKET_DOOR_TOOLS],
  ["/mcp/:provider", "/mcp/{handle}", "The tools of one provider, under their own names."]
] as const

const doorsOf = (routes: ReadonlyArray<Route>) =>
  DOORS.filter(([route]) => routes.some(({ method, path }) => method === "POST" && path === route))

export const mcpDescription = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
  transport: "streamable-http" as const,
  protocol_versions: MCP_VERSIONS,
  authentication: {
    type: "bearer" as const,
    header: "Authorization: Bearer <key>",
    alternative_header: "X-API-Key: <key>",
    register: `${baseUrl}/api/market/register-consumer`
  },
  servers: doorsOf(routes).map(([, path, tools]) => ({ url: `${baseUrl}${path}`, tools }))
})

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

/** https://github.com/modelcontextprotocol/registry, docs/reference/server-json */
export const serverJson = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
  $schema: SCHEMA,
  name: `${reversed(new URL(baseUrl).hostname)}/agent-tool-billing`,
  title: PRODUCT_NAME,
  description: PRODUCT_DESCRIPTION,
  version: API_VERSION,
  websiteUrl: baseUrl,
  remotes: doorsOf(routes).map(([, path]) => ({
    type: "streamable-http",
    url: `${baseUrl}${path}`,
    headers: [KEY_HEADER],
    ...(path.includes("{handle}") ? { variables: { handle: HANDLE } } : {})
  }))
})

const KEY_HEADER = {
  name: "Authorization",
  description: "The API key of a consumer.",
  value: "Bearer {api_key}",
  isRequired: true,
  isSecret: true,
  variables: { api_key: { description: "API key, such as atb_c_…", isRequired: true, isSecret: true } }
}

const HANDLE = { description: "Handle of the provider.", isRequired: true }

/** The registry's names begin with a domain in reverse order; an address stays as it is. */
const reversed = (hostname: string): string =>
  /^[\d.]+$|:/u.test(hostname) ? hostname.replaceAll(/[^\w.-]/gu, "") : hostname.split(".").toReversed().join(".")

/** The part of llms.txt about MCP. */
export const mcpLines = (routes: ReadonlyArray<Route>, baseUrl: string): ReadonlyArray<string> => [
  "## MCP",
  "",
  ...doorsOf(routes).map(([, path, tools]) => `- \`${baseUrl}${path}\`: ${tools}`),
  "- Streamable HTTP. Send your key as `Authorization: Bearer <key>` or `X-API-Key: <key>`.",
  ""
]
