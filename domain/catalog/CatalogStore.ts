/**
 * Where tools and their prices are kept, and how they are found.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Provider } from "../accounts/Account.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { PriceVersion, Tool, ToolDeclaration } from "./Tool.ts"

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

/** A tool as it is listed: with its effective price and who offers it. */
export interface CatalogEntry {
  readonly tool: Tool
  readonly price: Microcents
  readonly freeTierCalls: number
  readonly provider: Pick<Provider, "id" | "name" | "endpointUrl" | "pricingModel">
}

export interface ToolUpsert {
  /** Taken if the tool is new. */
  readonly id: ToolId
  readonly providerId: ProviderId
  readonly declaration: ToolDeclaration
  readonly price: Microcents
  readonly freeTierCalls: number
  readonly searchTokens: ReadonlyArray<string>
  readonly at: DateTime.Utc
}

export interface ToolOutcome {
  readonly id: ToolId
  readonly toolName: string
  readonly action: "created" | "updated"
  readonly priceVersion: number
}

export class CatalogStore extends Context.Service<
  CatalogStore,
  {
    /**
     * By provider and tool name. Another price or free tier than the newest version's makes a new version; a tool that
     * was withdrawn is listed again.
     */
    upsert(tool: ToolUpsert): Effect.Effect<ToolOutcome>
    /** Since when it is withdrawn: now, or the first time if it was before. None: the provider has no such tool. */
    withdraw(providerId: ProviderId, id: ToolId, at: DateTime.Utc): Effect.Effect<Option.Option<DateTime.Utc>>
    /** Withdrawn ones too. Inside a unit of work the provider's row is locked until its end: nobody else adds tools of that provider meanwhile. */
    countOf(providerId: ProviderId): Effect.Effect<number>
    /** Whether it is listed or not. */
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>>
    /** Every provider's tool of that name, at most `limit`, oldest first; withdrawn ones only where none is listed. */
    findByName(toolName: string, limit: number): Effect.Effect<ReadonlyArray<CatalogEntry>>
    search(filter: CatalogFilter, sort: CatalogSort, page: PageRequest): Effect.Effect<Page<CatalogEntry>>
    /** Of listed tools; sorted, without the empty one. */
    readonly categories: Effect.Effect<ReadonlyArray<string>>
    /** Of listed tools. */
    readonly count: Effect.Effect<number>
    /** Newest first, at most `limit`. */
    prices(id: ToolId, limit: number): Effect.Effect<ReadonlyArray<PriceVersion>>
  }
>()("agent-tool-billing/domain/catalog/CatalogStore") {}
