/**
 * `agent-tool-billing/mcp`: the `ToolUpstream` that calls tools on MCP servers, the `ProviderServers` that passes on other
 * requests to them, and which addresses they may connect to.
 */
export { hmacOf } from "../../adapters/crypto/Hmac.ts"
export {
  type AddressRange,
  type EgressPolicy,
  parsePolicy,
  PolicyUnreadable,
  publicAndLoopback,
  publicOnly
} from "../../adapters/mcp/egress/AddressGuard.ts"
export { layer as mcpUpstream } from "../../adapters/mcp/McpUpstream.ts"
export type { McpUpstreamOptions, McpUpstreamSettings } from "../../adapters/mcp/client/McpUpstreamOptions.ts"
export { derivedSecrets, type Signer } from "../../adapters/mcp/client/ProviderSignature.ts"
