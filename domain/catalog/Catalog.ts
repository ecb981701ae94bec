/**
 * The catalog: providers add tools and prices, anyone can search them.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { HandleStore, qualifiedName } from "../accounts/Handle.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { type ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { GUESSES_MAX, nearestNames } from "../shared/NearestName.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import {
  type CatalogEntry,
  type CatalogSort,
  CatalogStore,
  entryAt,
  isOffered,
  TOOL_VERSIONS_KEPT_MAX,
  type ToolState,
  type ToolVersion
} from "./CatalogStore.ts"
import { JsonSchemas, type SchemaBudgetSpent, type SchemaChecksLimited } from "./JsonSchemas.ts"
import { tokensOfQuery, tokensOfTool } from "./SearchTokens.ts"
import type { PriceVersion } from "./Terms.ts"
import { declarationOf, type Tool, type ToolChange } from "./Tool.ts"
import { makeSchemaChecks, makeToolUpsert, type UpsertMode, type UpsertResult } from "./ToolUpserts.ts"

// Names of listed tools that are close to a misspelled one. The cost is bounded: a few hundred names from an index, whatever
// the size of the catalog.

/** Tools of one name. */
export const CANDIDATES_MAX = 20
/** Names on either side that a misspelled one is compared with. */
const NEIGHBORS_MAX = 200

export const makeNearestTools = Effect.gen(function* () {
  const store = yield* CatalogStore
  const handles = yield* HandleStore

  const ofNames = (toolName: string, providerId: ProviderId | undefined) =>
    Effect.map(store.similarNames(toolName, providerId, NEIGHBORS_MAX), (names) =>
      nearestNames(toolName, names, GUESSES_MAX)
    )

  /**
   * Finds tools of the provider, if it exists; else tools of this name, whose providers' handles are close. Without a
   * handle: the oldest tools of this name.
   */
  const nearestQualified = Effect.fn("Catalog.nearestQualified")(function* (
    handle: string | undefined,
    toolName: string
  ) {
    const owner = handle === undefined ? undefined : Option.getOrUndefined(yield* handles.resolve(handle))
    if (handle !== undefined && owner !== undefined) {
      return (yield* ofNames(toolName, owner)).map((name) => qualifiedName(handle, name))
    }
    const namesakes = yield* store.findByName(toolName, CANDIDATES_MAX)
    const listed = namesakes.filter(isOffered).map(({ provider }) => provider.handle)
    const near = handle === undefined ? listed.slice(0, GUESSES_MAX) : nearestNames(handle, listed, GUESSES_MAX)
    return near.map((one) => qualifiedName(one, toolName))
  })

  return { nearestNames: Effect.fn("Catalog.nearestNames")(ofNames), nearestQualified }
})

export const TOOLS_PER_REQUEST_MAX = 50
const PRICES_SHOWN_MAX = 100
const PROMOTED_AT_ONCE_MAX = 1_000
const RENAMED_AT_ONCE = 100

/** One page of the tools that match all given criteria. */
export interface CatalogQuery {
  readonly q?: string | undefined
  readonly category?: string | undefined
  readonly providerId?: ProviderId | undefined
  readonly maxPrice?: Microcents | undefined
  /** Default: only listed tools. */
  readonly state?: ToolState | undefined
  /** The provider reads its own tools. */
  readonly own?: boolean | undefined
  /** Default: by name. */
  readonly sort?: CatalogSort
  readonly page: PageRequest
}

/** The provider has no such tool. Tools of other providers are not found either. */
export class ToolNotYours extends Schema.TaggedError<ToolNotYours>()("ToolNotYours", { id: ToolId }) {
  override get message() {
    return `You have no tool ${this.id}.`
  }
}

/** A tool that can no longer be called, and since when. */
export interface Withdrawn {
  readonly entry: CatalogEntry
  readonly since: DateTime.Utc
}

export class Catalog extends Context.Service<
  Catalog,
  {
    /**
     * Checks schemas before `upsert`, outside of a unit of work: new ones may take long. Returns what is wrong, by the
     * name of the tool.
     */
    checkSchemas(
      providerId: ProviderId,
      changes: ReadonlyArray<ToolChange>
    ): Effect.Effect<ReadonlyMap<string, string>, SchemaChecksLimited>
    /** Returns what of a stored tool's schemas is not checked, and why. */
    unchecked(tool: Tool): Effect.Effect<ReadonlyArray<string>, SchemaBudgetSpent>
    /**
     * Tool by tool: a fault of one does not affect the others. Only the sent fields change. Terms that are worse for
     * consumers take effect after the notice period, also for a withdrawn tool. By default a draft is listed.
     */
    upsert(
      providerId: ProviderId,
      changes: ReadonlyArray<ToolChange>,
      mode?: UpsertMode
    ): Effect.Effect<UpsertResult, StoreUnavailable>
    /**
     * Unlists the tool and stops calls; its receipts stay. Repeating changes nothing. An upsert lists it again. A draft
     * stays as it is.
     */
    withdraw(
      providerId: ProviderId,
      id: ToolId,
      byServer?: boolean
    ): Effect.Effect<Withdrawn, ToolNotYours | StoreUnavailable>
    /** The catalog finds tools by the name of their provider: after it has changed, in the same unit of work. */
    renamed(providerId: ProviderId, providerName: string): Effect.Effect<void, StoreUnavailable>
    search(query: CatalogQuery): Effect.Effect<Page<CatalogEntry>, StoreUnavailable>
    /** No look-up finds a draft: see `search` with the state `draft`. */
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findQualified(handle: string, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findByName(toolName: string): Effect.Effect<ReadonlyArray<CatalogEntry>, StoreUnavailable>
    /** The listed names closest to a misspelled one, at most 3; of one provider's tools if given. */
    nearestNames(
      toolName: string,
      providerId: ProviderId | undefined
    ): Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Qualified names of listed tools that are close to this one; without a handle, of tools of this name. */
    nearestQualified(
      handle: string | undefined,
      toolName: string
    ): Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Newest first, without versions that were replaced before they took effect. */
    prices(id: ToolId): Effect.Effect<ReadonlyArray<PriceVersion>, StoreUnavailable>
    /** Newest first. */
    versions(id: ToolId): Effect.Effect<ReadonlyArray<ToolVersion>, StoreUnavailable>
    /**
     * Updates the columns that are searched and sorted by, for announced terms that are now in effect; returns the
     * number of tools.
     */
    readonly promote: Effect.Effect<number, StoreUnavailable>
    readonly categories: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    readonly count: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/Catalog") {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const feed = yield* ChangeFeed
      const schemas = yield* JsonSchemas
      const checkSchemas = yield* makeSchemaChecks
      const upsert = yield* makeToolUpsert
      const nearest = yield* makeNearestTools
      const { atomically } = yield* UnitOfWork

      const inEffectNow = <A>(found: Effect.Effect<A, StoreUnavailable>, resolve: (found: A, at: EntryAt) => A) =>
        Effect.flatMap(found, (value) =>
          Effect.map(DateTime.now, (now) => resolve(value, (entry) => entryAt(entry, now.epochMilliseconds)))
        )
      const one = (found: Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>) =>
        inEffectNow(found, (entry, at) =>
          Option.map(
            Option.filter(entry, ({ tool }) => !tool.draft),
            at
          )
        )

      const withdraw = Effect.fn("Catalog.withdraw")(function* (providerId: ProviderId, id: ToolId, byServer = false) {
        // Locks the provider's tools against concurrent changes.
        yield* store.countOf(providerId)
        const since = yield* store.withdraw(providerId, id, yield* DateTime.now, byServer)
        if (Option.isNone(since)) return yield* new ToolNotYours({ id })
        yield* feed.publish({ topic: "catalog", id })
        const entry = yield* inEffectNow(Effect.map(store.find(id), Option.getOrThrow), (found, at) => at(found))
        return { entry, since: since.value }
      }, atomically)

      const renamed = Effect.fn("Catalog.renamed")(function* (providerId: ProviderId, providerName: string) {
        yield* store.countOf(providerId)
        const filter = { category: undefined, providerId, maxPrice: undefined, tokens: [], state: "any" as const }
        let after: PageRequest["after"]
        do {
          const page = yield* store.search(filter, "name", { limit: RENAMED_AT_ONCE, offset: 0, after })
          // A draft or withdrawn tool gets its words when it is listed.
          const listed = page.items.filter(({ tool }) => !tool.draft && tool.withdrawnAt === undefined)
          yield* store.upsert(
            listed.map(({ prices, tool }) => ({
              id: tool.id,
              providerId,
              declaration: declarationOf(tool),
              prices,
              searchTokens: tokensOfTool(tool, providerName),
              at: tool.updatedAt
            }))
          )
          after = page.next
        } while (after !== undefined)
      }, atomically)

      const search = Effect.fn("Catalog.search")(({ page, q, sort = "name", ...filter }: CatalogQuery) =>
        inEffectNow(
          store.search({ ...filter, tokens: q === undefined ? [] : tokensOfQuery(q) }, sort, page),
          (found, at) => ({ ...found, items: found.items.map(at) })
        )
      )

      const prices = Effect.fn("Catalog.prices")((id: ToolId) =>
        Effect.map(store.prices(id, PRICES_SHOWN_MAX), (versions) =>
          versions.filter((version) => version.replacedAt === undefined)
        )
      )

      const promote = Effect.flatMap(DateTime.now, (now) => store.promote(now, PROMOTED_AT_ONCE_MAX)).pipe(
        Effect.withSpan("Catalog.promote")
      )

      const unchecked = Effect.fn("Catalog.unchecked")((tool: Tool) =>
        Effect.map(
          Effect.forEach(
            Object.entries({ input_schema: tool.inputSchema, output_schema: tool.outputSchema }),
            (one) => {
              const [name, schema] = one
              if (schema === undefined) return Effect.succeed([])
              return Effect.map(schemas.unchecked(schema, tool.providerId), (reasons) =>
                reasons.map((reason) => `${name}: ${reason}`)
              )
            }
          ),
          (found) => found.flat()
        )
      )

      return Catalog.of({
        checkSchemas,
        unchecked,
        upsert,
        withdraw,
        renamed,
        search,
        find: (id) => one(store.find(id)),
        findOf: (providerId, toolName) => one(store.findOf(providerId, toolName)),
        findQualified: (handle, toolName) => one(store.findQualified(handle, toolName)),
        findByName: (toolName) =>
          inEffectNow(store.findByName(toolName, CANDIDATES_MAX), (entries, at) => entries.map(at)),
        ...nearest,
        prices,
        versions: (id) => store.versions(id, TOOL_VERSIONS_KEPT_MAX),
        promote,
        categories: store.categories,
        count: store.count
      })
    })
  )
}

type EntryAt = (entry: CatalogEntry) => CatalogEntry
