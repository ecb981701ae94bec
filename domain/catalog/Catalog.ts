/**
 * The catalog: providers add tools and prices, anyone can search them.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { Provider } from "../accounts/Account.ts"
import { AccountStore } from "../accounts/AccountStore.ts"
import { qualifiedName, splitQualified } from "../accounts/Handle.ts"
import { HandleStore } from "../accounts/HandleStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { nearestName } from "../shared/NearestName.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import {
  type CatalogEntry,
  type CatalogSort,
  CatalogStore,
  entryAt,
  type ToolOutcome,
  type ToolState
} from "./CatalogStore.ts"
import { type InvalidJsonSchema, JsonSchemas, type SchemaBudgetSpent } from "./JsonSchemas.ts"
import { planPrices, PriceNotice } from "./PriceNotice.ts"
import { DefaultFreeTierCalls, wantedTerms } from "./Pricing.ts"
import { tokensOfQuery, tokensOfTool } from "./SearchTokens.ts"
import type { PriceVersion } from "./Terms.ts"
import { applyChange, declarationOf, type ToolChange, type ToolDeclaration } from "./Tool.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const TOOLS_PER_REQUEST_MAX = 50
export const TOOLS_PER_PROVIDER_MAX = 1_000
/** Each version is kept permanently: receipts refer to it. */
export const PRICE_CHANGES_PER_DAY_MAX = 100
const CANDIDATES_MAX = 20
/** Names on either side that a misspelled one is compared with. */
const NEIGHBORS_MAX = 200
const PRICES_SHOWN_MAX = 100
const PROMOTED_AT_ONCE_MAX = 1_000

export interface CatalogQuery {
  readonly q: string | undefined
  readonly category: string | undefined
  readonly providerId: ProviderId | undefined
  readonly maxPrice?: Microcents | undefined
  /** Default: only listed tools. */
  readonly state?: ToolState | undefined
  readonly sort: CatalogSort
  readonly page: PageRequest
}

export interface RefusedTool {
  /** Index in the request. */
  readonly index: number
  readonly tool_name: string
  readonly error: string
}

export interface UpsertResult {
  readonly stored: ReadonlyArray<ToolOutcome>
  readonly refused: ReadonlyArray<RefusedTool>
}

class ToolRefused extends Schema.TaggedError<ToolRefused>()("ToolRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export class ToolNotYours extends Schema.TaggedError<ToolNotYours>()("ToolNotYours", { id: ToolId }) {
  override get message() {
    return `You have no tool ${this.id}.`
  }
}

export interface Withdrawn {
  readonly entry: CatalogEntry
  readonly since: DateTime.Utc
}

export class Catalog extends Context.Service<
  Catalog,
  {
    /**
     * Tool by tool: a fault of one does not affect the others. Only the sent fields change. Terms that are worse for
     * consumers take effect after the notice period, also for a withdrawn tool.
     */
    upsert(providerId: ProviderId, changes: ReadonlyArray<ToolChange>): Effect.Effect<UpsertResult, StoreUnavailable>
    /** Unlists the tool and stops calls; its receipts stay. Repeating changes nothing. An upsert lists it again. */
    withdraw(providerId: ProviderId, id: ToolId): Effect.Effect<Withdrawn, ToolNotYours | StoreUnavailable>
    search(query: CatalogQuery): Effect.Effect<Page<CatalogEntry>, StoreUnavailable>
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findQualified(handle: string, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findByName(toolName: string): Effect.Effect<ReadonlyArray<CatalogEntry>, StoreUnavailable>
    /** The listed name closest to a misspelled one; of one provider's tools if given. */
    nearestName(
      toolName: string,
      providerId: ProviderId | undefined
    ): Effect.Effect<string | undefined, StoreUnavailable>
    /** Newest first, without versions that were replaced before they took effect. */
    prices(id: ToolId): Effect.Effect<ReadonlyArray<PriceVersion>, StoreUnavailable>
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
      const accounts = yield* AccountStore
      const handles = yield* HandleStore
      const schemas = yield* JsonSchemas
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const defaultFreeTier = yield* DefaultFreeTierCalls
      const notice = yield* PriceNotice
      const { atomically } = yield* UnitOfWork

      const checkSchema = (name: string, schema: ToolDeclaration["inputSchema"], providerId: ProviderId) =>
        schema === undefined
          ? Effect.void
          : Effect.mapError(
              schemas.check(schema, providerId),
              (error) => new ToolRefused({ reason: reasonOf(name, error) })
            )

      /** A tool named `acme/echo` would be mistaken for the tool `echo` of the provider with the handle `acme`. */
      const checkName = Effect.fnUntraced(function* (provider: Provider, toolName: string) {
        // Calls of its own tool `acme/echo` would go to the new `echo`, at another price and without notice.
        const qualified = qualifiedName(provider.handle, toolName)
        if (Option.isSome(yield* store.findOf(provider.id, qualified))) {
          const reason = `calls of your tool \`${qualified}\` would go to this one. Choose another tool_name`
          return yield* new ToolRefused({ reason })
        }
        const handle = splitQualified(toolName)?.handle
        const owner = handle === undefined ? undefined : Option.getOrUndefined(yield* handles.ownerOf(handle))
        if (owner === undefined || owner === provider.id) return
        const reason = `a tool_name cannot begin with \`${handle}/\`: \`${handle}\` is the handle of another provider`
        return yield* new ToolRefused({ reason })
      })

      /** Including the change that is being made. */
      const changedTooOften = Effect.fnUntraced(function* (id: ToolId, at: DateTime.Utc) {
        const first = (yield* store.prices(id, PRICE_CHANGES_PER_DAY_MAX + 1)).at(PRICE_CHANGES_PER_DAY_MAX)
        return first !== undefined && DateTime.isGreaterThan(first.announcedAt, DateTime.subtract(at, { days: 1 }))
      })

      const inEffectNow = <A>(found: Effect.Effect<A, StoreUnavailable>, resolve: (found: A, at: EntryAt) => A) =>
        Effect.flatMap(found, (value) =>
          Effect.map(DateTime.now, (now) => resolve(value, (entry) => entryAt(entry, now.epochMilliseconds)))
        )
      const find = (id: ToolId) => one(store.find(id))
      const one = (found: Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>) =>
        inEffectNow(found, (entry, at) => Option.map(entry, at))

      const upsert = Effect.fn("Catalog.upsert")(function* (
        providerId: ProviderId,
        changes: ReadonlyArray<ToolChange>
      ) {
        const stored: Array<ToolOutcome> = []
        const refused: Array<RefusedTool> = []
        if (changes.length === 0) return { stored, refused }
        const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
        const at = yield* DateTime.now
        let room = TOOLS_PER_PROVIDER_MAX - (yield* store.countOf(providerId))
        const twice = namesTwice(changes)
        const upsertOne = Effect.fnUntraced(function* (change: ToolChange) {
          if (twice.has(change.toolName)) {
            return yield* new ToolRefused({ reason: "this tool_name is in the request more than once" })
          }
          const known = Option.getOrUndefined(yield* store.findOf(providerId, change.toolName))
          if (known === undefined) yield* checkName(provider, change.toolName)
          const declaration = applyChange(known === undefined ? undefined : declarationOf(known.tool), change)
          if (declaration.outputSchema === undefined && declaration.billingPolicy === "valid_output") {
            return yield* new ToolRefused({ reason: "billing_policy `valid_output` requires an output_schema" })
          }
          yield* checkSchema("input_schema", declaration.inputSchema, providerId)
          yield* checkSchema("output_schema", declaration.outputSchema, providerId)
          const wanted = wantedTerms(declaration, provider, defaultFreeTier)
          const prices = planPrices(known?.prices, wanted, at, notice)
          const outcome = yield* store.upsert({
            id: ToolId.make(yield* entropy.uuid),
            providerId,
            declaration,
            prices,
            searchTokens: tokensOfTool(declaration, provider.name),
            at
          })
          if (outcome.action === "created" && room-- <= 0) {
            return yield* new ToolRefused({ reason: `a provider has at most ${TOOLS_PER_PROVIDER_MAX} tools` })
          }
          if (prices.lastVersion > PRICE_CHANGES_PER_DAY_MAX && (yield* changedTooOften(outcome.id, at))) {
            const reason = `the price of a tool changes at most ${PRICE_CHANGES_PER_DAY_MAX} times in 24 hours`
            return yield* new ToolRefused({ reason })
          }
          return outcome
        }, atomically)

        for (const [index, change] of changes.entries()) {
          const outcome = yield* upsertOne(change).pipe(Effect.catchTag("ToolRefused", Effect.succeed))
          if (outcome instanceof ToolRefused) {
            refused.push({ index, tool_name: change.toolName, error: outcome.message })
          } else {
            stored.push(outcome)
            yield* feed.publish({ topic: "catalog", id: outcome.id })
          }
        }
        return { stored, refused }
      }, atomically)

      const withdraw = Effect.fn("Catalog.withdraw")(function* (providerId: ProviderId, id: ToolId) {
        // Locks the provider's tools against concurrent changes.
        yield* store.countOf(providerId)
        const since = yield* store.withdraw(providerId, id, yield* DateTime.now)
        if (Option.isNone(since)) return yield* new ToolNotYours({ id })
        yield* feed.publish({ topic: "catalog", id })
        const entry = Option.getOrThrow(yield* find(id))
        return { entry, since: since.value }
      }, atomically)

      const search = Effect.fn("Catalog.search")((query: CatalogQuery) =>
        inEffectNow(
          store.search(
            {
              category: query.category,
              providerId: query.providerId,
              maxPrice: query.maxPrice,
              state: query.state,
              tokens: query.q === undefined ? [] : tokensOfQuery(query.q)
            },
            query.sort,
            query.page
          ),
          (page, at) => ({ ...page, items: page.items.map(at) })
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

      return Catalog.of({
        upsert,
        withdraw,
        search,
        find,
        findOf: (providerId, toolName) => one(store.findOf(providerId, toolName)),
        findQualified: (handle, toolName) => one(store.findQualified(handle, toolName)),
        findByName: (toolName) =>
          inEffectNow(store.findByName(toolName, CANDIDATES_MAX), (entries, at) => entries.map(at)),
        nearestName: (toolName, providerId) =>
          Effect.map(store.namesNear(toolName, providerId, NEIGHBORS_MAX), (names) => nearestName(toolName, names)),
        prices,
        promote,
        categories: store.categories,
        count: store.count
      })
    })
  )
}

const reasonOf = (name: string, error: InvalidJsonSchema | SchemaBudgetSpent): string =>
  error._tag === "InvalidJsonSchema"
    ? `${name} ${error.message}`
    : `${name} was not checked: ${
        error.of === "provider" ? "your schemas have" : "the schemas of all providers have"
      } used up their processing time for now. Send this tool again in ${error.retryAfterSeconds} s`

type EntryAt = (entry: CatalogEntry) => CatalogEntry

const namesTwice = (changes: ReadonlyArray<ToolChange>): ReadonlySet<string> => {
  const seen = new Set<string>()
  return new Set(changes.map((one) => one.toolName).filter((name) => seen.has(name) || (seen.add(name), false)))
}
