/**
 * Gives tools their aliases at the market door. A tool gets its alias when it is first listed, and keeps it: neither
 * another handle of its provider nor a withdrawal changes it, and no other tool ever gets it. So a client that was
 * permitted to call an alias calls the same tool. Aliases never change, so a cached one is right on every node.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { qualifiedName } from "../accounts/Handle.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Cryptography.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

// The form of aliases: names of tools at the market door, `{handle}__{tool_name}` in characters and lengths that every
// client accepts. No store is needed: which tool has which alias is decided in `ToolAliases`.

/** Clients put the name of the server in front and allow 60 to 64 characters for both. */
export const ALIAS_CHARS_MAX = 40
const FORM = /^[A-Za-z0-9_-]{1,40}$/u
const HASH_CHARS = 10
/** 52 bits of hash in each: one is enough unless a provider searches for collisions with its own tools. */
const HASHED_CANDIDATES = 4

export const isAlias = (text: string): boolean => FORM.test(text)

/**
 * The aliases that a tool may get, best first: the plain one if it fits, then shortened ones that end in a hash of the
 * qualified name.
 */
export const aliasCandidates = (
  handle: string,
  toolName: string,
  sha256Hex: (text: string) => string
): ReadonlyArray<string> => {
  const plain = `${handle}__${toolName}`.replaceAll(/[^A-Za-z0-9_-]/gu, "_")
  const name = qualifiedName(handle, toolName)
  const hashed = Array.from({ length: HASHED_CANDIDATES }, (_, n) =>
    ended(plain, base36(sha256Hex(n === 0 ? name : `${name} ${n}`)))
  )
  return plain.length <= ALIAS_CHARS_MAX ? [plain, ...hashed] : hashed
}

/**
 * A cut within the handle leaves a single `_`, so that the alias cannot have the form `{handle}__{tool_name}` of another
 * provider's tool.
 */
const ended = (plain: string, hash: string): string =>
  `${plain.slice(0, ALIAS_CHARS_MAX - HASH_CHARS - 1).replace(/[_-]+$/u, "")}_${hash}`

/** The last digits: the first ones are not evenly distributed. */
const base36 = (hex: string): string => BigInt(`0x${hex}`).toString(36).padStart(HASH_CHARS, "0").slice(-HASH_CHARS)

/** Port to aliases of tools. Rows are never removed, so no alias is given to a second tool. */
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

export const ALIASES_CACHED_MAX = 50_000

export class ToolAliases extends Context.Service<
  ToolAliases,
  {
    /**
     * Gives an alias to tools that have none, except to those of an erased provider. Runs outside of units of work: an
     * alias is cached as soon as it is given.
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
