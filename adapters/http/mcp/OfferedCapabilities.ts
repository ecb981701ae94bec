/**
 * What a modern client is told of a server of the legacy era. What needs messages of the server outside of a request's own
 * stream is not offered: no subscription and no announced change crosses eras.
 */
import type { McpEra } from "../../../domain/mcp/Protocol.ts"
import { withoutTasks } from "../../../domain/mcp/Tasks.ts"
import type { ServerProfile } from "../../../domain/mcp/ProviderServers.ts"

const OFFERED = ["tools", "resources", "prompts", "completions"] as const

export const offeredCapabilities = ({ capabilities, era }: ServerProfile, client: McpEra): string => {
  if (era === client) return withoutTasks(capabilities)
  const declared = JSON.parse(capabilities) as Readonly<Record<string, unknown>>
  return JSON.stringify(Object.fromEntries(OFFERED.filter((name) => name in declared).map((name) => [name, {}])))
}
