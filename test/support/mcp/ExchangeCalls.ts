/**
 * Calls of callers that speak MCP, for tests of the MCP client.
 */
import type { McpExchange, UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import { upstreamCall } from "./UpstreamCalls.ts"

/** The exchange of a modern caller without capabilities. */
export const exchange = (over: Partial<McpExchange> = {}): McpExchange => ({
  arguments: "{}",
  meta: undefined,
  otherParams: undefined,
  capabilities: undefined,
  clientInfo: undefined,
  inSession: false,
  session: undefined,
  requestId: "1",
  progressToken: undefined,
  onMessage: () => {},
  ...over
})

export const exchangeCall = (endpointUrl: string, mcp: McpExchange, call: Partial<UpstreamCall> = {}): UpstreamCall =>
  upstreamCall(endpointUrl, { exchange: mcp, arguments: JSON.parse(mcp.arguments), ...call })
