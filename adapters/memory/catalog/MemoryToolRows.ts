/**
 * Rows of the catalog in memory: a tool with its prices and their history.
 */
import type { DateTime } from "effect"
import type { ToolUpsert } from "../../../domain/catalog/CatalogStore.ts"
import type { PriceVersion, ToolPrices } from "../../../domain/catalog/Terms.ts"
import type { ToolRow } from "../shared/MemoryTables.ts"

export const toolRowOf = (upsert: ToolUpsert, known: ToolRow | undefined): ToolRow => {
  const { at, declaration, draft = false, id, prices, providerId, searchTokens } = upsert
  const { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price, ...tool } =
    declaration
  const before = replaceUpcoming(known?.history ?? [], at, prices)
  const lastVersion = before.at(-1)?.version ?? 0
  const added = [prices.inEffect, prices.upcoming].filter((one) => one !== undefined && one.version > lastVersion)
  return {
    tool: {
      ...tool,
      declared: { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price },
      id: known?.tool.id ?? id,
      providerId,
      createdAt: known?.tool.createdAt ?? at,
      updatedAt: known === undefined ? at : later(known.tool.updatedAt, at),
      withdrawnAt: draft ? at : undefined,
      draft,
      withdrawnByServer: false
    },
    prices,
    searchTokens,
    history: draft ? [] : [...before, ...(added as ReadonlyArray<PriceVersion>).map(withoutSchema)]
  }
}

const withoutSchema = ({ outputSchema: _, ...version }: PriceVersion): PriceVersion => version

export const isAfter = (price: PriceVersion, at: DateTime.Utc): boolean =>
  price.effectiveFrom.epochMilliseconds > at.epochMilliseconds

export const replaceUpcoming = (
  history: ReadonlyArray<PriceVersion>,
  at: DateTime.Utc,
  { inEffect, upcoming }: ToolPrices
): ReadonlyArray<PriceVersion> =>
  history.map((price) =>
    isAfter(price, at) &&
    isAfter(price, price.announcedAt) &&
    price.version !== inEffect.version &&
    price.version !== upcoming?.version &&
    price.replacedAt === undefined
      ? { ...price, replacedAt: at }
      : price
  )

/** Clocks of two nodes may differ: the history never goes backwards. */
const later = (a: DateTime.Utc, b: DateTime.Utc): DateTime.Utc => (a.epochMilliseconds > b.epochMilliseconds ? a : b)
