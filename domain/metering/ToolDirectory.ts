/**
 * Tools and prices for the hot path: a bounded cache in front of the catalogue, forgotten tool by tool when one
 * changes, on every node.
 */
import { Clock, Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Catalog } from "../catalog/Catalog.ts"
import { type CatalogEntry, entryAt } from "../catalog/CatalogStore.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { format } from "../shared/Timestamp.ts"

export const DIRECTORY_ENTRIES_MAX = 50_000
export const DIRECTORY_TTL_MS = 30_000

export class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", { tool: Schema.String }) {
  override get message() {
    return `There is no tool ${this.tool}. GET /api/market/catalog lists what there is.`
  }
}

export class ToolWithdrawn extends Schema.TaggedError<ToolWithdrawn>()("ToolWithdrawn", {
  tool: Schema.String,
  toolId: Schema.String,
  since: Schema.String
}) {
  override get message() {
    return `Its provider withdrew the tool ${this.tool} on ${this.since.slice(0, 10)}. Nothing was charged.`
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

type Entries = ReadonlyArray<CatalogEntry>

/** Names that do not exist are not kept: strangers could fill the cache with them. */
const exists = (entries: Entries): boolean => entries.length > 0

export class ToolDirectory extends Context.Service<
  ToolDirectory,
  {
    /**
     * With the terms in effect now: an announced change applies from its very time on, however old the cached entry is.
     * `calledAt`: of a call that has been made; one from before the tool was withdrawn is a call of it all the same.
     */
    find(
      reference: ToolReference,
      calledAt?: DateTime.Utc
    ): Effect.Effect<CatalogEntry, ToolNotFound | ToolWithdrawn | ToolAmbiguous>
  }
>()("agent-tool-billing/domain/metering/ToolDirectory") {
  static readonly layer = Layer.effect(
    ToolDirectory,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const feed = yield* ChangeFeed
      const clock = yield* Clock.Clock
      const byId = yield* makeFreshCache<Entries>({ entriesMax: DIRECTORY_ENTRIES_MAX, ttlMs: DIRECTORY_TTL_MS })
      const byName = yield* makeFreshCache<Entries>({ entriesMax: DIRECTORY_ENTRIES_MAX, ttlMs: DIRECTORY_TTL_MS })

      yield* onEachChange(feed, (change) => {
        if (change.topic === "key") return
        // A new tool may share a name with known ones: names are few and cheap to ask for again.
        byName.forgetAll()
        if (change.topic === "catalog") byId.forget(change.id)
        else byId.forgetAll()
      })

      const offered = (entry: CatalogEntry, calledAt: DateTime.Utc | undefined) =>
        offeredAt(clock.currentTimeMillisUnsafe(), entry, calledAt)

      const loadById = (id: ToolId) => Effect.suspend(() => Effect.map(catalog.find(id), Option.toArray))

      const findById = (id: ToolId, calledAt: DateTime.Utc | undefined) =>
        Effect.flatMapEager(
          byId.readThrough(id, loadById(id), exists),
          ([entry]): Effect.Effect<CatalogEntry, ToolNotFound | ToolWithdrawn> =>
            entry === undefined ? Effect.fail(new ToolNotFound({ tool: id })) : offered(entry, calledAt)
        )

      const findByName = Effect.fnUntraced(function* (
        toolName: string,
        providerId: ProviderId | undefined,
        calledAt: DateTime.Utc | undefined
      ) {
        const entries =
          providerId === undefined
            ? yield* byName.readThrough(
                toolName,
                Effect.suspend(() => catalog.findByName(toolName)),
                exists
              )
            : yield* byName.readThrough(
                `${providerId} ${toolName}`,
                Effect.suspend(() => Effect.map(catalog.findOf(providerId, toolName), Option.toArray)),
                exists
              )
        const [first] = entries
        if (first === undefined) return yield* new ToolNotFound({ tool: toolName })
        if (entries.length === 1 || first.tool.withdrawnAt !== undefined) return yield* offered(first, calledAt)
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
        find: ({ toolId, toolName, providerId }, calledAt) =>
          Effect.suspend(() =>
            toolId !== undefined
              ? findById(toolId, calledAt)
              : toolName !== undefined
                ? findByName(toolName, providerId, calledAt)
                : Effect.fail(new ToolNotFound({ tool: "without a name" }))
          )
      })
    })
  )
}

const offeredAt = (
  nowMs: number,
  entry: CatalogEntry,
  calledAt: DateTime.Utc | undefined
): Effect.Effect<CatalogEntry, ToolWithdrawn> => {
  const { id, toolName, withdrawnAt } = entry.tool
  return withdrawnAt === undefined || (calledAt !== undefined && DateTime.isLessThan(calledAt, withdrawnAt))
    ? Effect.succeed(entryAt(entry, nowMs))
    : Effect.fail(new ToolWithdrawn({ tool: toolName, toolId: id, since: format(withdrawnAt) }))
}
