/**
 * The catalog in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { CatalogStore, type ToolUpsert } from "../../../domain/catalog/CatalogStore.ts"
import type { PriceVersion } from "../../../domain/catalog/Terms.ts"
import type { JsonSchemaObject, ToolAnnotations } from "../../../domain/catalog/Tool.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { ENTRY_COLUMNS, type EntryRow, toEntry, toPriceVersion } from "./CatalogRows.ts"
import { catalogSearch, isStorable } from "./CatalogSearch.ts"
import { catalogTotals } from "./CatalogTotals.ts"
import { toDate, toDateOrNull, toInstant } from "../shared/Instants.ts"
import { lexemesOf } from "./SearchLexemes.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { toolVersions } from "./ToolVersionRows.ts"

export const layer = Layer.effect(
  CatalogStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(ENTRY_COLUMNS)
    const totals = catalogTotals(sql)

    // `countOf` has locked the provider's row, so the versions that the prices were planned from are still the latest.
    const upsert = ({ at, declaration, draft = false, id, prices, providerId, searchTokens }: ToolUpsert) => {
      const { inEffect, lastVersion, upcoming } = prices
      return sql<{ readonly id: string }>`
        INSERT INTO tools AS t
          (id, provider_id, tool_name, category, display_name, description, price_microcents, free_tier_calls,
           effective_price_microcents, effective_max_cost_microcents, effective_free_tier_calls,
           effective_billing_policy, effective_leaving, price_version, price_versions, price_announced_at, price_since,
           upcoming_version, upcoming_from, input_schema, output_schema, annotations, billing_policy, max_cost_microcents, timeout_ms,
           idempotent, on_cancel, canceled_call_costs, search, created_at, updated_at, withdrawn_at, draft)
        VALUES (${id}, ${providerId}, ${declaration.toolName}, ${declaration.category}, ${declaration.displayName},
          ${declaration.description}, ${declaration.price ?? null}::int8, ${declaration.freeTierCalls ?? null}::int4,
          ${inEffect.price}, ${inEffect.maximum}, ${inEffect.freeTierCalls}, ${inEffect.billingPolicy},
          ${inEffect.leaving}, ${inEffect.version}, ${lastVersion}, ${toDate(inEffect.announcedAt)}, ${toDate(inEffect.effectiveFrom)},
          ${upcoming?.version ?? null}::int4, ${toDateOrNull(upcoming?.effectiveFrom)}::timestamptz,
          ${jsonOrNull(declaration.inputSchema)}::json,
          ${jsonOrNull(declaration.outputSchema)}::json, ${jsonOrNull(declaration.annotations)}::json, ${declaration.billingPolicy},
          ${declaration.maxCost ?? null}::int8, ${declaration.timeoutMs ?? null}::int4, ${declaration.idempotent},
          ${declaration.onCancel}, ${declaration.canceledCallCosts},
          array_to_tsvector(${lexemesOf(searchTokens)}::text[]), ${toDate(at)}, ${toDate(at)},
          ${draft ? toDate(at) : null}::timestamptz, ${draft})
        ON CONFLICT (provider_id, tool_name) DO UPDATE SET
          category = excluded.category, display_name = excluded.display_name, description = excluded.description,
          price_microcents = excluded.price_microcents, free_tier_calls = excluded.free_tier_calls,
          effective_price_microcents = excluded.effective_price_microcents,
          effective_max_cost_microcents = excluded.effective_max_cost_microcents,
          effective_free_tier_calls = excluded.effective_free_tier_calls,
          effective_billing_policy = excluded.effective_billing_policy,
          effective_leaving = excluded.effective_leaving, price_version = excluded.price_version,
          price_versions = excluded.price_versions, price_announced_at = excluded.price_announced_at,
          price_since = excluded.price_since, upcoming_version = excluded.upcoming_version,
          upcoming_from = excluded.upcoming_from, input_schema = excluded.input_schema,
          output_schema = excluded.output_schema, annotations = excluded.annotations, billing_policy = excluded.billing_policy,
          max_cost_microcents = excluded.max_cost_microcents, timeout_ms = excluded.timeout_ms,
          idempotent = excluded.idempotent, on_cancel = excluded.on_cancel,
          canceled_call_costs = excluded.canceled_call_costs, search = excluded.search,
          updated_at = GREATEST(t.updated_at, excluded.updated_at), withdrawn_at = excluded.withdrawn_at,
          draft = excluded.draft, withdrawn_by_server = false
        RETURNING id`
    }

    // Versions that the tool's row no longer names will never take effect.
    const replaceUpcoming = (toolId: string, at: DateTime.Utc) => sql`
      UPDATE tool_prices p SET replaced_at = ${toDate(at)} FROM tools t
      WHERE t.id = ${toolId} AND p.tool_id = t.id AND p.effective_from > ${toDate(at)}
        AND p.effective_from > p.announced_at AND p.replaced_at IS NULL
        AND p.version <> t.price_version AND p.version IS DISTINCT FROM t.upcoming_version`

    const addPrice = (toolId: string, price: PriceVersion) => sql`
      INSERT INTO tool_prices
        (tool_id, version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
         announced_at, effective_from)
      VALUES (${toolId}, ${price.version}, ${price.price}, ${price.maximum}, ${price.freeTierCalls},
        ${price.billingPolicy}, ${price.leaving}, ${toDate(price.announcedAt)}, ${toDate(price.effectiveFrom)})
      ON CONFLICT (tool_id, version) DO NOTHING`

    return CatalogStore.of({
      upsert: Effect.fn("PostgresCatalogStore.upsert")(function* (tool) {
        const [stored] = yield* upsert(tool)
        const { inEffect, upcoming } = tool.prices
        if (tool.draft !== true) {
          if (stored!.id !== tool.id) yield* replaceUpcoming(stored!.id, tool.at)
          yield* addPrice(stored!.id, inEffect)
          if (upcoming !== undefined) yield* addPrice(stored!.id, upcoming)
        }
        return {
          id: ToolId.make(stored!.id),
          toolName: tool.declaration.toolName,
          action: stored!.id === tool.id ? "created" : "updated",
          priceVersion: inEffect.version
        } as const
      }),

      withdraw: Effect.fn("PostgresCatalogStore.withdraw")(function* (providerId, id, at, byServer = false) {
        const rows = yield* sql<{ readonly withdrawn_at: Date }>`
          UPDATE tools SET withdrawn_at = coalesce(withdrawn_at, ${toDate(at)}),
            withdrawn_by_server = ${byServer} AND NOT draft AND (withdrawn_at IS NULL OR withdrawn_by_server),
            upcoming_version = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_version END,
            upcoming_from = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_from END
          WHERE id = ${id} AND provider_id = ${providerId} RETURNING withdrawn_at`
        if (rows.length > 0) yield* replaceUpcoming(id, at)
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
              upcoming_from = NULL
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
        const listed = yield* named(sql`t.withdrawn_at IS NULL`)
        return listed.length > 0 ? listed : yield* named(sql`t.withdrawn_at IS NOT NULL AND NOT t.draft`)
      }),

      // The limit applies to rows, not to names: many providers may list the same one.
      similarNames: Effect.fn("PostgresCatalogStore.similarNames")(function* (toolName, providerId, limit) {
        if (!isStorable(toolName)) return []
        const listed = sql`t.withdrawn_at IS NULL ${providerId === undefined ? sql`` : sql`AND t.provider_id = ${providerId}`}`
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
          SELECT min(category) AS category FROM tools WHERE category > '' AND withdrawn_at IS NULL
          UNION ALL
          SELECT (SELECT min(t.category) FROM tools t WHERE t.category > seen.category AND t.withdrawn_at IS NULL)
          FROM seen WHERE seen.category IS NOT NULL
        )
        SELECT category FROM seen WHERE category IS NOT NULL`.all(({ category }) => category),

      count: totals.everything,

      prices: Effect.fn("PostgresCatalogStore.prices")((id, limit) =>
        sql`
          SELECT version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
            announced_at, effective_from, replaced_at FROM tool_prices
          WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`.all(toPriceVersion)
      )
    })
  })
)

const jsonOrNull = (schema: JsonSchemaObject | ToolAnnotations | undefined): string | null =>
  schema === undefined ? null : JSON.stringify(schema)
