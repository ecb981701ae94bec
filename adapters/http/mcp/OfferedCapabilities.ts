/**
 * What a modern client is told of a server of the legacy era. What needs messages of the server outside of a request's own
 * stream is not offered: no subscription and no announced change crosses eras.
 */
import type { McpEra } from "../../../domain/upstream/Protocol.ts"
import { memberOf, objectWith } from "../../../domain/shared/JsonText.ts"
import { withoutLegacyTasks, withoutTasks } from "../../../domain/upstream/TaskSupport.ts"
import type { ServerProfile } from "../../../domain/upstream/ProviderServers.ts"

const OFFERED = ["tools", "resources", "prompts", "completions"] as const

/** This service announces changes of the list, and of prices, whatever the server does. */
export const announcingTools = (capabilities: string): string => {
  const tools = memberOf(capabilities, 0, "tools")
  return tools === undefined || memberOf(tools, 0, "listChanged") === "true"
    ? capabilities
    : objectWith(capabilities, "tools", objectWith(tools, "listChanged", "true"))
}

/** What a client may subscribe to at a server of the modern era with these capabilities. */
export const announcedBy = (capabilities: string): ReadonlyArray<string> =>
  ANNOUNCED.flatMap(([feature, member, name]) => {
    const declared = memberOf(capabilities, 0, feature)
    return declared !== undefined && memberOf(declared, 0, member) === "true" ? [name] : []
  })

/** Capabilities of a server that announces all of it. */
export const ANNOUNCES_ALL =
  '{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}'

const ANNOUNCED = [
  ["tools", "listChanged", "toolsListChanged"],
  ["prompts", "listChanged", "promptsListChanged"],
  ["resources", "listChanged", "resourcesListChanged"],
  ["resources", "subscribe", "resourceSubscriptions"]
] as const

export const offeredCapabilities = ({ capabilities, era }: ServerProfile, client: McpEra): string => {
  if (era === client) return client === "modern" ? withoutLegacyTasks(capabilities) : withoutTasks(capabilities)
  const declared = JSON.parse(capabilities) as Readonly<Record<string, unknown>>
  return JSON.stringify(Object.fromEntries(OFFERED.filter((name) => name in declared).map((name) => [name, {}])))
}
