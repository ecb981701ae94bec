/**
 * Tools and prices for the hot path: a bounded cache in front of the catalogue, forgotten tool by tool when one
 * changes, on every node.
 */
import { Clock, Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { Catalog } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"

export const DIRECTORY_ENTRIES_MAX = 50_000
export const DIRECTORY_TTL_MS = 30_000

export class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", { tool: Schema.String }) {
  override get message() {
    return `There is no tool ${this.tool}. GET /api/market/catalog lists what there is.`
  }
}

export class ToolAmbiguous extends Schema.TaggedError<ToolAmbiguous>()("ToolAmbiguous", {
  toolName: Schema.String,
  candidates: Schema.Array(
    Schema.Struct({ tool_id: Schema.String, provider_id: Schema.String, provider: Schema.String })
  )
}) {
  override get message() {
    return `Several providers offer a tool named ${this.toolName}: say which, with provider_id or tool_id.`
  }
}

export interface ToolReference {
  /** Wins over the name. */
  readonly toolId: ToolId | undefined
  readonly toolName: string | undefined
  readonly providerId: ProviderId | undefined
}

interface Cached {
  readonly entries: ReadonlyArray<CatalogEntry>
  readonly loadedAtMs: number
}

export class ToolDirectory extends Context.Service<
  ToolDirectory,
  {
    find(reference: ToolReference): Effect.Effect<CatalogEntry, ToolNotFound | ToolAmbiguous>
  }
>()("agent-tool-billing/domain/metering/ToolDirectory") {
  static readonly layer = Layer.effect(
    ToolDirectory,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const feed = yield* ChangeFeed
      const byId = new Map<string, Cached>()
      const byName = new Map<string, Cached>()
      let generation = 0

      yield* feed.changes.pipe(
        Stream.runForEach((change) =>
          Effect.sync(() => {
            if (change.topic === "key") return
            generation++
            // A new tool may share a name with known ones: names are few and cheap to ask for again.
            byName.clear()
            if (change.topic === "catalog") byId.delete(change.id)
            else byId.clear()
          })
        ),
        Effect.forkScoped
      )

      const cached = (
        cache: Map<string, Cached>,
        key: string,
        load: Effect.Effect<ReadonlyArray<CatalogEntry>>
      ): Effect.Effect<ReadonlyArray<CatalogEntry>> =>
        Effect.withFiber((fiber) => {
          const nowMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
          const known = cache.get(key)
          if (known !== undefined && nowMs - known.loadedAtMs < DIRECTORY_TTL_MS) return Effect.succeed(known.entries)
          const generationBefore = generation
          return Effect.tap(load, (entries) =>
            Effect.sync(() => {
              // Names that do not exist are not kept: strangers could fill the cache with them.
              if (generation !== generationBefore || entries.length === 0) return
              if (cache.size >= DIRECTORY_ENTRIES_MAX) cache.delete(cache.keys().next().value!)
              cache.set(key, { entries, loadedAtMs: nowMs })
            })
          )
        })

      const findById = (id: ToolId) =>
        Effect.flatMap(cached(byId, id, Effect.map(catalog.find(id), Option.toArray)), ([entry]) =>
          entry === undefined ? Effect.fail(new ToolNotFound({ tool: id })) : Effect.succeed(entry)
        )

      const findByName = Effect.fnUntraced(function* (toolName: string, providerId: ProviderId | undefined) {
        const entries =
          providerId === undefined
            ? yield* cached(byName, toolName, catalog.findByName(toolName))
            : yield* cached(
                byName,
                `${providerId} ${toolName}`,
                Effect.map(catalog.findOf(providerId, toolName), Option.toArray)
              )
        if (entries.length === 0) return yield* new ToolNotFound({ tool: toolName })
        if (entries.length === 1) return entries[0]!
        return yield* new ToolAmbiguous({
          toolName,
          candidates: entries.map((entry) => ({
            tool_id: entry.tool.id,
            provider_id: entry.provider.id,
            provider: entry.provider.name
          }))
        })
      })

      return ToolDirectory.of({
        find: ({ toolId, toolName, providerId }) =>
          toolId !== undefined
            ? findById(toolId)
            : toolName !== undefined
              ? findByName(toolName, providerId)
              : Effect.fail(new ToolNotFound({ tool: "without a name" }))
      })
    })
  )
}
