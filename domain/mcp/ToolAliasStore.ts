/**
 * Port to aliases of tools. Rows are never removed, so no alias is given to a second tool.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export class ToolAliasStore extends Context.Service<
  ToolAliasStore,
  {
    /** Those of the tools that have one. */
    ofTools(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, string>, StoreUnavailable>
    toolOf(alias: string): Effect.Effect<Option.Option<ToolId>, StoreUnavailable>
    /** False if the alias is or was given to another tool, or the tool has an alias. Durable when it returns. */
    claim(alias: string, toolId: ToolId, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /** The aliases of the provider's tools are replaced by hashes: they do not resolve, and no other tool gets them. */
    erase(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/ToolAliasStore") {}
