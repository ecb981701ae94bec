/**
 * Which call pins a bare tool name.
 */
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { ToolReference } from "./ToolDirectory.ts"

/** The pin that a success of the call makes: undefined unless the tool was identified by its bare name alone. */
export const pinOf = ({ account, providerId, toolId, toolName }: ToolReference, { tool }: CatalogEntry) =>
  account === undefined || toolId !== undefined || providerId !== undefined || toolName !== tool.toolName
    ? undefined
    : { consumerId: account, toolName, toolId: tool.id }
