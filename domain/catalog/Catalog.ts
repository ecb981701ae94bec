/**
 * The catalogue: providers put tools and prices in, everybody finds them.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { type CatalogEntry, type CatalogSort, CatalogStore, type ToolOutcome, type ToolState } from "./CatalogStore.ts"
import { JsonSchemas } from "./JsonSchemas.ts"
import { DefaultFreeTierCalls, effectiveFreeTier, effectivePrice } from "./Pricing.ts"
import { tokensOfQuery, tokensOfTool } from "./SearchTokens.ts"
import type { PriceVersion, ToolDeclaration } from "./Tool.ts"

export const TOOLS_PER_REQUEST_MAX = 50
export const TOOLS_PER_PROVIDER_MAX = 1_000
/** Each is kept for good: receipts name the version that they were priced by. */
export const PRICE_CHANGES_PER_DAY_MAX = 100
const CANDIDATES_MAX = 20
const PRICES_SHOWN_MAX = 100

export interface CatalogQuery {
  readonly q: string | undefined
  readonly category: string | undefined
  readonly providerId: ProviderId | undefined
  readonly maxPrice?: Microcents | undefined
  /** Absent: only what is listed. */
  readonly state?: ToolState | undefined
  readonly sort: CatalogSort
  readonly page: PageRequest
}

export interface RefusedTool {
  /** Place in the request. */
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
    return `You have no tool ${this.id}. GET /api/v1/market/tools lists yours.`
  }
}

export interface Withdrawn {
  readonly entry: CatalogEntry
  readonly since: DateTime.Utc
}

export class Catalog extends Context.Service<
  Catalog,
  {
    /** Tool by tool: what is wrong with one does not stop the others. */
    upsert(providerId: ProviderId, declarations: ReadonlyArray<ToolDeclaration>): Effect.Effect<UpsertResult>
    /**
     * Out of the list, and called no more; whatever came of it stays. Again: nothing changes. An upsert lists it again.
     */
    withdraw(providerId: ProviderId, id: ToolId): Effect.Effect<Withdrawn, ToolNotYours>
    search(query: CatalogQuery): Effect.Effect<Page<CatalogEntry>>
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>>
    findByName(toolName: string): Effect.Effect<ReadonlyArray<CatalogEntry>>
    prices(id: ToolId): Effect.Effect<ReadonlyArray<PriceVersion>>
    readonly categories: Effect.Effect<ReadonlyArray<string>>
    readonly count: Effect.Effect<number>
  }
>()("agent-tool-billing/domain/catalog/Catalog") {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const accounts = yield* AccountStore
      const schemas = yield* JsonSchemas
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const defaultFreeTier = yield* DefaultFreeTierCalls
      const { atomically } = yield* UnitOfWork

      const checkSchema = (name: string, schema: ToolDeclaration["inputSchema"]) =>
        schema === undefined
          ? Effect.void
          : Effect.mapError(schemas.check(schema), (error) => new ToolRefused({ reason: `${name} ${error.message}` }))

      /** With the change that is being made. */
      const changedTooOften = Effect.fnUntraced(function* (id: ToolId, at: DateTime.Utc) {
        const first = (yield* store.prices(id, PRICE_CHANGES_PER_DAY_MAX + 1)).at(PRICE_CHANGES_PER_DAY_MAX)
        return first !== undefined && DateTime.isGreaterThan(first.effectiveFrom, DateTime.subtract(at, { days: 1 }))
      })

      const upsert = Effect.fn("Catalog.upsert")(function* (
        providerId: ProviderId,
        declarations: ReadonlyArray<ToolDeclaration>
      ) {
        const stored: Array<ToolOutcome> = []
        const refused: Array<RefusedTool> = []
        if (declarations.length === 0) return { stored, refused }
        const provider = yield* Effect.flatMap(accounts.findProvider(providerId), Effect.fromOption).pipe(Effect.orDie)
        const at = yield* DateTime.now
        let room = TOOLS_PER_PROVIDER_MAX - (yield* store.countOf(providerId))
        const twice = namesTwice(declarations)
        const one = Effect.fnUntraced(function* (declaration: ToolDeclaration) {
          if (twice.has(declaration.toolName)) {
            return yield* new ToolRefused({ reason: "this tool_name stands more than once in the request" })
          }
          if (declaration.outputSchema === undefined && declaration.billingPolicy === "valid_output") {
            return yield* new ToolRefused({ reason: "billing_policy valid_output needs an output_schema" })
          }
          yield* checkSchema("input_schema", declaration.inputSchema)
          yield* checkSchema("output_schema", declaration.outputSchema)
          const outcome = yield* store.upsert({
            id: ToolId.make(yield* entropy.uuid),
            providerId,
            declaration,
            price: effectivePrice(declaration.price, provider),
            freeTierCalls: effectiveFreeTier(declaration.freeTierCalls, defaultFreeTier),
            searchTokens: tokensOfTool(declaration, provider.name),
            at
          })
          if (outcome.action === "created" && room-- <= 0) {
            return yield* new ToolRefused({ reason: `a provider has at most ${TOOLS_PER_PROVIDER_MAX} tools` })
          }
          if (outcome.priceVersion > PRICE_CHANGES_PER_DAY_MAX && (yield* changedTooOften(outcome.id, at))) {
            const reason = `the price of a tool changes at most ${PRICE_CHANGES_PER_DAY_MAX} times in 24 hours`
            return yield* new ToolRefused({ reason })
          }
          return outcome
        }, atomically)

        for (const [index, declaration] of declarations.entries()) {
          const result = yield* Effect.result(one(declaration))
          if (Result.isSuccess(result)) {
            stored.push(result.success)
            yield* feed.publish({ topic: "catalog", id: result.success.id })
          } else {
            refused.push({ index, tool_name: declaration.toolName, error: result.failure.message })
          }
        }
        return { stored, refused }
      }, atomically)

      const withdraw = Effect.fn("Catalog.withdraw")(function* (providerId: ProviderId, id: ToolId) {
        const since = yield* store.withdraw(providerId, id, yield* DateTime.now)
        if (Option.isNone(since)) return yield* new ToolNotYours({ id })
        yield* feed.publish({ topic: "catalog", id })
        const entry = Option.getOrThrow(yield* store.find(id))
        return { entry, since: since.value }
      }, atomically)

      const search = Effect.fn("Catalog.search")((query: CatalogQuery) =>
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
        )
      )

      return Catalog.of({
        upsert,
        withdraw,
        search,
        find: (id) => store.find(id),
        findOf: (providerId, toolName) => store.findOf(providerId, toolName),
        findByName: (toolName) => store.findByName(toolName, CANDIDATES_MAX),
        prices: (id) => store.prices(id, PRICES_SHOWN_MAX),
        categories: store.categories,
        count: store.count
      })
    })
  )
}

const namesTwice = (declarations: ReadonlyArray<ToolDeclaration>): ReadonlySet<string> => {
  const seen = new Set<string>()
  return new Set(declarations.map((one) => one.toolName).filter((name) => seen.has(name) || (seen.add(name), false)))
}
