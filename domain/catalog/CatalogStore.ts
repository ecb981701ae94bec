/**
 * Port to tools, prices and search.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Provider } from "../accounts/Account.ts"
import type { ProviderFee } from "../ledger/PlatformFee.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { sameJson } from "../shared/JsonText.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest, Position } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { pricesAt, type PriceVersion, type Terms, termsOf, type ToolPrices } from "./Terms.ts"
import type { StoredTool, Tool, ToolDeclaration } from "./Tool.ts"

// Versions of what a tool says of itself: names, description, schemas and hints. A change by the provider or by its
// server adds one, so that a consumer sees what changed and when. Terms have price versions of their own.

/** Older ones are removed. */
export const TOOL_VERSIONS_KEPT_MAX = 50
/** The limit of all versions of a tool, as JSON: each sync may add one. The newest version always stays. */
export const TOOL_VERSION_BYTES_KEPT_MAX = 262_144

/** A change of any member makes a new version of the tool. */
export type ToolDefinition = Pick<
  ToolDeclaration,
  "annotations" | "description" | "displayName" | "inputSchema" | "outputSchema"
>

export type DefinitionField = keyof ToolDefinition

/** `server`: by the sync with the provider's MCP server. */
export type ChangeSource = "provider" | "server"

/** One state of a tool's definition, and who changed it. */
export interface ToolVersion {
  readonly version: number
  readonly changedAt: DateTime.Utc
  readonly source: ChangeSource
  /** The fields that differ from the version before; all of them in the first version. */
  readonly changed: ReadonlyArray<DefinitionField>
  readonly definition: ToolDefinition
}

export const DEFINITION_FIELDS: ReadonlyArray<DefinitionField> = [
  "displayName",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations"
]

export const definitionOf = ({
  annotations,
  description,
  displayName,
  inputSchema,
  outputSchema
}: ToolDefinition): ToolDefinition => ({ displayName, description, inputSchema, outputSchema, annotations })

export const changedFields = (before: ToolDefinition, after: ToolDefinition): ReadonlyArray<DefinitionField> =>
  DEFINITION_FIELDS.filter((field) => !sameJson(before[field], after[field]))

/** Older versions are deleted; the newest always stays. */
export interface VersionsKept {
  readonly versionsMax: number
  readonly bytesMax: number
}

/** The next version, or undefined if the definition is the same. `last`: undefined for a tool without versions. */
export const nextVersion = (
  last: ToolVersion | undefined,
  definition: ToolDefinition,
  source: ChangeSource,
  changedAt: DateTime.Utc
): ToolVersion | undefined => {
  const changed = last === undefined ? DEFINITION_FIELDS : changedFields(last.definition, definition)
  if (changed.length === 0) return undefined
  return { version: (last?.version ?? 0) + 1, changedAt, source, changed, definition: definitionOf(definition) }
}

/** The order of search results. Equal tools are ordered by id, so that pages never overlap. */
export type CatalogSort = "name" | "price" | "price_desc" | "newest"

/** Criteria of a search; a tool is found if it meets all of them. */
export interface CatalogFilter {
  readonly category?: string | undefined
  readonly providerId?: ProviderId | undefined
  /** The most that a call may cost. */
  readonly maxPrice?: Microcents | undefined
  /** The tokens of `SearchTokens.tokensOfQuery`. Empty: no search. */
  readonly tokens: ReadonlyArray<string>
  /** Default: only listed tools. */
  readonly state?: ToolState | undefined
  /** The provider reads its own tools: those of a frozen provider count as listed too. */
  readonly own?: boolean | undefined
}

/** A `withdrawn` tool cannot be called any more, a `draft` not yet. No `listed` tool is of a frozen provider. */
export type ToolState = "listed" | "withdrawn" | "draft" | "any"

/** A listed tool: with the terms in effect, announced terms, and its provider. */
export interface CatalogEntry extends Terms {
  readonly tool: Tool
  /** Number of the terms; receipts refer to it. */
  readonly priceVersion: number
  readonly prices: ToolPrices
  readonly provider: Pick<Provider, "id" | "handle" | "name" | "endpointUrl" | "pricingModel" | "frozen"> & {
    readonly fee: ProviderFee
  }
}

/** A declaration with what the catalog computed from it: prices with their dates, and the words to search. */
export interface ToolUpsert {
  /** Used if the tool is new. */
  readonly id: ToolId
  readonly providerId: ProviderId
  readonly declaration: ToolDeclaration
  readonly prices: ToolPrices
  readonly searchTokens: ReadonlyArray<string>
  readonly at: DateTime.Utc
  /** A new tool, or a draft, is stored as a draft: its prices are not added to the history. */
  readonly draft?: boolean
}

/** The effect of storing a declaration on the tool. */
export interface ToolOutcome {
  readonly id: ToolId
  readonly toolName: string
  readonly action: "created" | "updated"
  /** The one in effect. */
  readonly priceVersion: number
}

export const entryOf = (tool: StoredTool, prices: ToolPrices, provider: CatalogEntry["provider"]): CatalogEntry => {
  const { billingPolicy, outputSchema } = prices.inEffect
  return {
    ...termsOf(prices.inEffect),
    tool: { ...tool, outputSchema: billingPolicy === "valid_output" ? outputSchema : tool.declared.outputSchema },
    priceVersion: prices.inEffect.version,
    prices,
    provider
  }
}

/** Returns the entry with the terms that a call was opened by. */
export const entryOn = (entry: CatalogEntry, terms: Terms & Pick<CatalogEntry, "priceVersion">): CatalogEntry => ({
  ...entry,
  ...termsOf(terms),
  priceVersion: terms.priceVersion,
  ...(terms.outputSchema === undefined ? {} : { tool: { ...entry.tool, outputSchema: terms.outputSchema } })
})

/** A tool can be called unless it was withdrawn or its provider is frozen. */
export const isOffered = ({ provider, tool }: CatalogEntry): boolean => !tool.withdrawnAt && !provider.frozen

/** Returns the entry with the terms in effect at that time. */
export const entryAt = (entry: CatalogEntry, nowMs: number): CatalogEntry => {
  const prices = pricesAt(entry.prices, nowMs)
  return prices === entry.prices ? entry : entryOf(entry.tool, prices, entry.provider)
}

export class CatalogStore extends Context.Service<
  CatalogStore,
  {
    /**
     * Stores tools by provider and name, with the versions from `planPrices`: new ones are added to the history, and an
     * announced one that is no longer among them is replaced. A withdrawn tool is listed again. Each tool is given
     * once; the outcomes are in their order.
     */
    upsert(tools: ReadonlyArray<ToolUpsert>): Effect.Effect<ReadonlyArray<ToolOutcome>, StoreUnavailable>
    /**
     * Returns since when it is withdrawn: now, or the first time. None if the provider has no such tool. Announced
     * terms that are not in effect are replaced. `byServer`: by the sync; a withdrawal by the provider takes precedence. A
     * draft stays as it is.
     */
    withdraw(
      providerId: ProviderId,
      id: ToolId,
      at: DateTime.Utc,
      byServer?: boolean
    ): Effect.Effect<Option.Option<DateTime.Utc>, StoreUnavailable>
    /**
     * Includes withdrawn ones. In a unit of work the provider's row is locked until its end, so no tools are added
     * concurrently.
     */
    countOf(providerId: ProviderId): Effect.Effect<number, StoreUnavailable>
    /** Finds a listed or withdrawn tool, or a draft. */
    find(id: ToolId): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    findOf(providerId: ProviderId, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    /** Those of the provider's tools that have one of these names. */
    findAllOf(
      providerId: ProviderId,
      toolNames: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<CatalogEntry>, StoreUnavailable>
    /** Finds it by the current or a former handle of its provider, except a retired one. */
    findQualified(handle: string, toolName: string): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
    /**
     * Tools of that name of all providers, at most `limit`, oldest first, without drafts; withdrawn ones and those of frozen
     * providers only if none is listed, in any order.
     */
    findByName(toolName: string, limit: number): Effect.Effect<ReadonlyArray<CatalogEntry>, StoreUnavailable>
    /** Removes a draft; false if the provider has no such draft. */
    removeDraft(providerId: ProviderId, id: ToolId): Effect.Effect<boolean, StoreUnavailable>
    /** Names of listed tools adjacent to this one in their order, each once: at most `limit` on either side. */
    similarNames(
      toolName: string,
      providerId: ProviderId | undefined,
      limit: number
    ): Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    search(
      filter: CatalogFilter,
      sort: CatalogSort,
      page: PageRequest
    ): Effect.Effect<Page<CatalogEntry>, StoreUnavailable>
    /** Categories of listed tools, sorted, without the empty one. */
    readonly categories: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    readonly count: Effect.Effect<number, StoreUnavailable>
    /**
     * Copies announced versions that are now in effect to the columns that are searched and sorted by; returns the
     * number of tools.
     */
    promote(now: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
    /** One of each tool. Keeps the newest versions of a tool within these limits, at least the added one. */
    addVersions(
      versions: ReadonlyArray<readonly [ToolId, ToolVersion]>,
      kept: VersionsKept
    ): Effect.Effect<void, StoreUnavailable>
    /** The newest version of each tool that has one. */
    lastVersions(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, ToolVersion>, StoreUnavailable>
    /** Newest first, at most `limit`. */
    versions(id: ToolId, limit: number): Effect.Effect<ReadonlyArray<ToolVersion>, StoreUnavailable>
    /** Removes the contents of an erased provider's versions. */
    removeVersions(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
    /** Newest first, at most `limit`; replaced ones too. */
    prices(id: ToolId, limit: number): Effect.Effect<ReadonlyArray<PriceVersion>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/CatalogStore") {}

// The orders of the catalog and the positions in them: one rule for every adapter and for cursors. Names are ordered by
// code point, newest by id (version 7 UUIDs are ordered by time).

/** Padded to the digits of the largest amount, prices sort as text. */
const PRICE_DIGITS = 16
const NAME_CHARS_MAX = 256

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
const PRICE = /^\d{16}$/u

export const positionOf = (entry: CatalogEntry, sort: CatalogSort): Position => {
  const id = entry.tool.id
  switch (sort) {
    case "name":
      return { key: entry.tool.toolName, id }
    case "price":
    case "price_desc":
      return { key: String(entry.maximum).padStart(PRICE_DIGITS, "0"), id }
    case "newest":
      return { key: id, id }
  }
}

/** Tells whether `positionOf` can produce it. A cursor is untrusted: an impossible position yields an empty page. */
export const isPosition = ({ key, id }: Position, sort: CatalogSort): boolean => {
  if (!UUID.test(id)) return false
  switch (sort) {
    case "name":
      return key.length <= NAME_CHARS_MAX && key.isWellFormed() && !key.includes("\0")
    case "price":
    case "price_desc":
      return PRICE.test(key)
    case "newest":
      return key === id
  }
}

export const comparePositions = (a: Position, b: Position, sort: CatalogSort): number => {
  const ascending = compareCodePoints(a.key, b.key) || compareCodePoints(a.id, b.id)
  return sort === "price_desc" || sort === "newest" ? -ascending : ascending
}

/** The operator `<` would compare UTF-16 units, which differ in order beyond the first plane. */
export const compareCodePoints = (a: string, b: string): number => {
  if (a === b) return 0
  let i = 0
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === a.length || i === b.length) return a.length - b.length
  // Inside a pair both are low surrogates of the same high one, and have the order of the code points.
  return a.codePointAt(i)! - b.codePointAt(i)!
}

/** Figures of one tool. Rates count only calls that went through the proxy. */
export interface ToolFigures {
  readonly totalCalls: number
  readonly reportedCalls: number
  /** Undefined without proxied calls. */
  readonly avgLatencyMs: number | undefined
  readonly uptimePct: number | undefined
}

/** Figures of all calls since the market began. A provider's calls of its own tools do not count. */
export interface MarketTotals {
  readonly invocations: number
  readonly successful: number
  readonly successPct: number | undefined
  readonly reported: number
  /** Consumers of the counted proxied calls, and the called tools. */
  readonly uniqueAgents: number
  readonly uniqueTools: number
  readonly revenueMicrocents: bigint
  readonly avgLatencyMs: number | undefined
  /** Invocations that a free tier covered. */
  readonly freeCalls: number
  /** Start of the newest invocation. */
  readonly lastInvocation: string | undefined
}

/**
 * Port to figures of past calls: per tool and for the whole catalog. Totals only, no usage of single consumers.
 *
 * Rates and numbers of calls count proxied calls, because anyone can report a call that did not happen. They exclude
 * calls between a provider and a consumer of the same email address, and cancellations that were passed on. Reported
 * calls are counted separately. Revenue includes everything billed.
 */
export class MarketFigures extends Context.Service<
  MarketFigures,
  {
    /**
     * Returns only tools that were called. If more calls are queued for the sequencer than one reading covers, the
     * figures lag like the sequencer, about a second.
     */
    ofTools(ids: ReadonlyArray<ToolId>): Effect.Effect<ReadonlyMap<ToolId, ToolFigures>, StoreUnavailable>
    readonly totals: Effect.Effect<MarketTotals, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/MarketFigures") {}
