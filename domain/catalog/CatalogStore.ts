/**
 * Where tools and their prices are kept, and how they are found.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Provider } from "../accounts/Account.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { type PriceVersion, pricesAt, termsOf, type Terms, type ToolPrices } from "./Terms.ts"
import type { Tool, ToolDeclaration } from "./Tool.ts"

export type CatalogSort = "name" | "price" | "price_desc" | "newest"

export interface CatalogFilter {
  readonly category: string | undefined
  readonly providerId: ProviderId | undefined
  /** The most that a call may cost. */
  readonly maxPrice: Microcents | undefined
  /** From `SearchTokens.tokensOfQuery`. None: nothing is asked for. */
  readonly tokens: ReadonlyArray<string>
  /** Absent: only what is listed. */
  readonly state?: ToolState | undefined
}

export type ToolState = "listed" | "withdrawn" | "any"

/** A tool as it is listed: with the terms in effect, what is announced, and who offers it. */
export interface CatalogEntry extends Terms {
  readonly tool: Tool
  /** Counts the changes of terms; receipts keep the one that they were billed at. */
  readonly priceVersion: number
  readonly prices: ToolPrices
  readonly provider: Pick<Provider, "id" | "handle" | "name" | "endpointUrl" | "pricingModel">
}

export interface ToolUpsert {
  /** Taken if the tool is new. */
  readonly id: ToolId
  readonly providerId: ProviderId
  readonly declaration: ToolDeclaration
  readonly prices: ToolPrices
  readonly searchTokens: ReadonlyArray<string>
  readonly at: DateTime.Utc
}

export interface ToolOutcome {
  readonly id: ToolId
  readonly toolName: string
  readonly action: "created" | "updated"
  /** The one in effect. */
  readonly priceVersion: number
}

export const entryOf = (tool: Tool, prices: ToolPrices, provider: CatalogEntry["provider"]): CatalogEntry => ({
  ...termsOf(prices.inEffect),
  tool,
  priceVersion: prices.inEffect.version,
  prices,
  provider
})

/** With the terms that are in effect at that time. */
export const entryAt = (entry: CatalogEntry, nowMs: number): CatalogEntry => {
  const prices = pricesAt(entry.prices, nowMs)
  return prices === entry.prices ? entry : entryOf(entry.tool, prices, entry.provider)
}

export class CatalogStore extends Context.Service<
  CatalogStore,
  {
    /**
     * By provider and tool name, with the versions that `PriceNotice.planPrices` made of those that were there: new ones
     * go into the history, and an announced one that is no longer among them is replaced. A tool that was withdrawn is
     * listed again.
     */
    upsert(tool: ToolUpsert): Effect.Effect<ToolOutcome>
    /**
     * Since when it is withdrawn: now, or the first time if it was before. None: the provider has no such tool. What is
     * announced and not yet in effect is replaced by nothing.
     */
    withdraw(providerId: ProviderId, id: ToolId, at: DateTime.Utc): Effect.Effect<Option.Option<DateTime.Utc>>
    /** Withdrawn ones too. Inside a unit of work the provider's row is locked until its end: nobody else adds tools of that provider meanwhile. */
    countOf(providerId: ProviderId): Effect.Effect<number>
    /** Whether it is listed or not. */
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>>
    /** By the handle that its provider has, or had before; not by one that was retired. */
    findQualified(handle: string, toolName: string): Effect.Effect<Option.Option<CatalogEntry>>
    /** Every provider's tool of that name, at most `limit`, oldest first; withdrawn ones only where none is listed. */
    findByName(toolName: string, limit: number): Effect.Effect<ReadonlyArray<CatalogEntry>>
    /** Names of listed tools next to this one in their order, each once: at most `limit` on either side. */
    namesNear(toolName: string, providerId: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<string>>
    search(filter: CatalogFilter, sort: CatalogSort, page: PageRequest): Effect.Effect<Page<CatalogEntry>>
    /** Of listed tools; sorted, without the empty one. */
    readonly categories: Effect.Effect<ReadonlyArray<string>>
    /** Of listed tools. */
    readonly count: Effect.Effect<number>
    /** Puts announced versions whose time has come among the columns that are searched and sorted by; says how many. */
    promote(now: DateTime.Utc, limit: number): Effect.Effect<number>
    /** Newest first, at most `limit`; replaced ones too. */
    prices(id: ToolId, limit: number): Effect.Effect<ReadonlyArray<PriceVersion>>
  }
>()("agent-tool-billing/domain/catalog/CatalogStore") {}
