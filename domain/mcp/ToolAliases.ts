/**
 * Gives tools their aliases at the market door. A tool gets its alias when it is first listed, and keeps it: neither
 * another handle of its provider nor a withdrawal changes it, and no other tool ever gets it. So a client that was
 * permitted to call an alias calls the same tool. Aliases never change, so a cached one is right on every node.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Digest.ts"
import type { ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { aliasCandidates, isAlias } from "./ToolAlias.ts"
import { ToolAliasStore } from "./ToolAliasStore.ts"

export const ALIASES_CACHED_MAX = 50_000

export class ToolAliases extends Context.Service<
  ToolAliases,
  {
    /**
     * Gives an alias to tools that have none, except to those of an erased provider. Not for a unit of work: an alias is
     * cached as soon as it is given.
     */
    ofTools(entries: ReadonlyArray<CatalogEntry>): Effect.Effect<ReadonlyMap<ToolId, string>, StoreUnavailable>
    /** Undefined: no tool has this alias. */
    toolOf(alias: string): Effect.Effect<ToolId | undefined, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/ToolAliases") {
  static readonly layer = Layer.effect(
    ToolAliases,
    Effect.gen(function* () {
      const store = yield* ToolAliasStore
      const feed = yield* ChangeFeed
      const { sha256Hex } = yield* Digest
      const aliasOf = new Map<ToolId, string>()
      const toolOfAlias = new Map<string, ToolId>()

      const forgetAll = (): void => {
        aliasOf.clear()
        toolOfAlias.clear()
      }
      yield* onEachChange(feed, (change) => {
        // A provider and its aliases may have been erased.
        if (change.topic === "everything") forgetAll()
      })

      const keep = (alias: string, toolId: ToolId): void => {
        if (aliasOf.size >= ALIASES_CACHED_MAX || toolOfAlias.size >= ALIASES_CACHED_MAX) forgetAll()
        aliasOf.set(toolId, alias)
        toolOfAlias.set(alias, toolId)
      }

      const assign = Effect.fnUntraced(function* ({ provider, tool }: CatalogEntry) {
        const at = yield* DateTime.now
        for (const alias of aliasCandidates(provider.handle, tool.toolName, sha256Hex)) {
          if (yield* store.claim(alias, tool.id, at)) return alias
          // Another node may have given the tool its alias at the same time.
          const known = (yield* store.ofTools([tool.id])).get(tool.id)
          if (known !== undefined) return known
        }
        yield* Effect.logWarning("No alias is free for tool", tool.id)
        return undefined
      })

      const ofTools = Effect.fn("ToolAliases.ofTools")(function* (entries: ReadonlyArray<CatalogEntry>) {
        const found = new Map<ToolId, string>()
        const without: Array<CatalogEntry> = []
        for (const entry of entries) {
          const known = aliasOf.get(entry.tool.id)
          if (known === undefined) without.push(entry)
          else found.set(entry.tool.id, known)
        }
        if (without.length === 0) return found
        const stored = yield* store.ofTools(without.map(({ tool }) => tool.id))
        for (const entry of without) {
          const alias = stored.get(entry.tool.id) ?? (yield* assign(entry))
          if (alias === undefined) continue
          keep(alias, entry.tool.id)
          found.set(entry.tool.id, alias)
        }
        return found
      })

      const read = Effect.fn("ToolAliases.toolOf")(function* (alias: string) {
        const found = Option.getOrUndefined(yield* store.toolOf(alias))
        if (found !== undefined) keep(alias, found)
        return found
      })

      return ToolAliases.of({
        ofTools,
        toolOf: (alias) =>
          Effect.suspend(() => {
            const known = toolOfAlias.get(alias)
            return known !== undefined || !isAlias(alias) ? Effect.succeed(known) : read(alias)
          })
      })
    })
  )
}
