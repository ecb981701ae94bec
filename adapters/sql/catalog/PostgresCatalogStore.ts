/**
 * The catalog in PostgreSQL.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { ENTRY_COLUMNS, type EntryRow, toEntry, toPriceVersion } from "./CatalogRows.ts"
import { catalogSearch } from "./CatalogSearch.ts"
import { catalogTotals, ofNoFrozenProvider } from "./CatalogTotals.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { isStorable } from "../shared/StorableText.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { toolUpserts } from "./ToolUpsertRows.ts"
import { toolVersions } from "./ToolVersionRows.ts"

export const layer = Layer.effect(
  CatalogStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(ENTRY_COLUMNS)
    const totals = catalogTotals(sql)
    const offered = sql`t.withdrawn_at IS NULL AND ${ofNoFrozenProvider(sql)}`

    const { replaceUpcoming, upsert } = toolUpserts(sql)

    return CatalogStore.of({
      upsert,

      withdraw: Effect.fn("PostgresCatalogStore.withdraw")(function* (providerId, id, at, byServer = false) {
        const rows = yield* sql<{ readonly withdrawn_at: Date }>`
          UPDATE tools SET withdrawn_at = coalesce(withdrawn_at, ${toDate(at)}),
            withdrawn_by_server = ${byServer} AND NOT draft AND (withdrawn_at IS NULL OR withdrawn_by_server),
            upcoming_version = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_version END,
            upcoming_from = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_from END
          WHERE id = ${id} AND provider_id = ${providerId} RETURNING withdrawn_at`
        if (rows.length > 0) yield* replaceUpcoming([{ id, at }])
        return Option.map(Arr.head(rows), (row) => toInstant(row.withdrawn_at))
      }),

      removeDraft: Effect.fn("PostgresCatalogStore.removeDraft")(
        (providerId, id) =>
          sql`DELETE FROM tools WHERE id = ${id} AND provider_id = ${providerId} AND draft RETURNING id`.hasRows
      ),

      ...toolVersions(sql),

      promote: Effect.fn("PostgresCatalogStore.promote")(
        (now, limit) =>
          sql`
            WITH due AS (
              SELECT id FROM tools WHERE upcoming_from <= ${toDate(now)} ORDER BY upcoming_from, id LIMIT ${limit}
              FOR NO KEY UPDATE SKIP LOCKED
            )
            UPDATE tools t SET effective_price_microcents = u.price_microcents,
              effective_max_cost_microcents = u.max_cost_microcents, effective_free_tier_calls = u.free_tier_calls,
              effective_billing_policy = u.billing_policy, effective_leaving = u.leaving, price_version = u.version,
              price_announced_at = u.announced_at, price_since = u.effective_from, upcoming_version = NULL,
              upcoming_from = NULL, effective_output_schema = NULL
            FROM due, tool_prices u WHERE t.id = due.id AND u.tool_id = t.id AND u.version = t.upcoming_version
            RETURNING t.id`.count
      ),

      countOf: Effect.fn("PostgresCatalogStore.countOf")(function* (providerId) {
        if (yield* sql.isInTransaction) yield* sql`SELECT 1 FROM providers WHERE id = ${providerId} FOR NO KEY UPDATE`
        return yield* sql<{ readonly count: bigint }>`
          SELECT count(*) AS count FROM tools WHERE provider_id = ${providerId}`.one(({ count }) => Number(count))
      }),

      find: Effect.fn("PostgresCatalogStore.find")((id) =>
        sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id WHERE t.id = ${id}`.first(toEntry)
      ),

      findOf: Effect.fn("PostgresCatalogStore.findOf")(function* (providerId, toolName) {
        if (!isStorable(toolName)) return Option.none()
        return yield* sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
          WHERE t.provider_id = ${providerId} AND t.tool_name = ${toolName}`.first(toEntry)
      }),

      findAllOf: Effect.fn("PostgresCatalogStore.findAllOf")(function* (providerId, toolNames) {
        const names = toolNames.filter(isStorable)
        return yield* sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
          WHERE t.provider_id = ${providerId} AND t.tool_name = ANY (${names}::text[])`.all(toEntry)
      }),

      findQualified: Effect.fn("PostgresCatalogStore.findQualified")(function* (handle, toolName) {
        if (!isStorable(handle) || !isStorable(toolName)) return Option.none()
        return yield* sql<EntryRow>`
          SELECT ${columns} FROM provider_handles h JOIN tools t ON t.provider_id = h.provider_id
          JOIN providers p ON p.id = t.provider_id
          WHERE h.handle = ${handle} AND NOT h.retired AND t.tool_name = ${toolName}`.first(toEntry)
      }),

      findByName: Effect.fn("PostgresCatalogStore.findByName")(function* (toolName, limit) {
        if (!isStorable(toolName)) return []
        const named = (state: Statement.Fragment) =>
          sql<EntryRow>`
            SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
            WHERE t.tool_name = ${toolName} AND ${state} ORDER BY t.id LIMIT ${limit}`.all(toEntry)
        const listed = yield* named(sql`t.withdrawn_at IS NULL AND p.frozen_at IS NULL`)
        if (listed.length > 0) return listed
        const frozen = yield* named(sql`t.withdrawn_at IS NULL`)
        const withdrawn = yield* named(sql`t.withdrawn_at IS NOT NULL AND NOT t.draft`)
        return [...frozen, ...withdrawn].slice(0, limit)
      }),

      // The limit applies to rows, not to names: many providers may list the same one.
      similarNames: Effect.fn("PostgresCatalogStore.similarNames")(function* (toolName, providerId, limit) {
        if (!isStorable(toolName)) return []
        const listed = sql`${offered} ${providerId === undefined ? sql`` : sql`AND t.provider_id = ${providerId}`}`
        return yield* sql<{ readonly tool_name: string }>`
          (SELECT t.tool_name FROM tools t WHERE t.tool_name >= ${toolName} AND ${listed} ORDER BY t.tool_name LIMIT ${limit})
          UNION
          (SELECT t.tool_name FROM tools t WHERE t.tool_name < ${toolName} AND ${listed} ORDER BY t.tool_name DESC LIMIT ${limit})
          ORDER BY tool_name`.all((row) => row.tool_name)
      }),

      search: catalogSearch(sql, totals),

      // One index step per category instead of one per tool.
      categories: sql<{ readonly category: string }>`
        WITH RECURSIVE seen AS (
          SELECT min(t.category) AS category FROM tools t WHERE t.category > '' AND ${offered}
          UNION ALL
          SELECT (SELECT min(t.category) FROM tools t WHERE t.category > seen.category AND ${offered})
          FROM seen WHERE seen.category IS NOT NULL
        )
        SELECT category FROM seen WHERE category IS NOT NULL`.all(({ category }) => category),

      count: Effect.flatMap(totals.tally, totals.everything),

      prices: Effect.fn("PostgresCatalogStore.prices")((id, limit) =>
        sql`
          SELECT version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
            announced_at, effective_from, replaced_at FROM tool_prices
          WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`.all(toPriceVersion)
      )
    })
  })
)
