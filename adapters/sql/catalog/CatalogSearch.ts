/**
 * One page of the catalog. Every sort order walks an index, so a deep page costs the same as the first.
 */
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import {
  type CatalogFilter,
  type CatalogSort,
  isPosition,
  positionOf,
  type ToolState
} from "../../../domain/catalog/CatalogStore.ts"
import { pageOf, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import { isStorable } from "../shared/StorableText.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import { ENTRY_COLUMNS, type EntryRow, toEntry } from "./CatalogRows.ts"
import { type CatalogTotals, ofNoFrozenProvider } from "./CatalogTotals.ts"
import { prefixQueryOf } from "./SearchLexemes.ts"

export const catalogSearch = (sql: StoreSql, totals: CatalogTotals) => {
  const columns = sql.literal(ENTRY_COLUMNS)

  const conditions = ({ category, maxPrice, providerId, tokens }: CatalogFilter): ReadonlyArray<Statement.Fragment> => [
    ...(category === undefined ? [] : [isStorable(category) ? sql`t.category = ${category}` : sql`false`]),
    ...(providerId === undefined ? [] : [sql`t.provider_id = ${providerId}`]),
    ...(maxPrice === undefined ? [] : [sql`t.effective_max_cost_microcents <= ${maxPrice}`]),
    ...(tokens.length === 0 ? [] : [sql`t.search @@ ${prefixQueryOf(tokens)}::tsquery`])
  ]

  const ofState: Readonly<Record<ToolState, ReadonlyArray<Statement.Fragment>>> = {
    listed: [sql`t.withdrawn_at IS NULL`],
    withdrawn: [sql`t.withdrawn_at IS NOT NULL AND NOT t.draft`],
    draft: [sql`t.draft`],
    any: []
  }

  const beyond = (after: Position | undefined, sort: CatalogSort): ReadonlyArray<Statement.Fragment> => {
    if (after === undefined) return []
    if (!isPosition(after, sort)) return [sql`false`]
    switch (sort) {
      case "name":
        return [sql`(t.tool_name, t.id) > (${after.key}, ${after.id}::uuid)`]
      case "price":
        return [sql`(t.effective_max_cost_microcents, t.id) > (${BigInt(after.key)}, ${after.id}::uuid)`]
      case "price_desc":
        return [sql`(t.effective_max_cost_microcents, t.id) < (${BigInt(after.key)}, ${after.id}::uuid)`]
      case "newest":
        return [sql`t.id < ${after.id}::uuid`]
    }
  }

  return Effect.fn("PostgresCatalogStore.search")(function* (
    filter: CatalogFilter,
    sort: CatalogSort,
    { after, limit, offset }: PageRequest
  ) {
    const state = filter.state ?? "listed"
    const isOffered = state === "listed" && filter.own !== true
    const narrowed = conditions(filter)
    const tally = yield* totals.tally
    // Without a frozen provider, positions are found in indexes alone, which do not have the provider.
    const notFrozen = isOffered && tally.frozen !== null ? [ofNoFrozenProvider(sql)] : []
    const asked = [...ofState[state], ...notFrozen, ...narrowed]
    const total =
      narrowed.length === 0 && isOffered
        ? yield* totals.everything(tally)
        : yield* totals.matching(tally, keyOf(filter), asked)
    // Planned for these values: the best plan depends on how many tools match a word. The position is found on ids
    // alone, so that a deep page does not read all rows before it.
    const order = sql.literal(ORDERS[sort])
    const entries = yield* sql<EntryRow>`
      SELECT ${columns} FROM (
        SELECT t.id FROM tools t WHERE ${sql.and([...asked, ...beyond(after, sort)])}
        ORDER BY ${order} LIMIT ${limit + 1} OFFSET ${offset}
      ) page JOIN tools t ON t.id = page.id JOIN providers p ON p.id = t.provider_id
      ORDER BY ${order}`.unprepared.all(toEntry)
    return pageOf(entries, limit, total, (last) => positionOf(last, sort))
  })
}

const keyOf = ({ category, maxPrice, own = false, providerId, state = "listed", tokens }: CatalogFilter): string =>
  JSON.stringify([
    state,
    own,
    category ?? null,
    providerId ?? null,
    maxPrice === undefined ? null : String(maxPrice),
    tokens
  ])

const ORDERS: Readonly<Record<CatalogSort, string>> = {
  name: "t.tool_name, t.id",
  price: "t.effective_max_cost_microcents, t.id",
  price_desc: "t.effective_max_cost_microcents DESC, t.id DESC",
  newest: "t.id DESC"
}
