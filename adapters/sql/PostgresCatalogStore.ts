/**
 * The catalogue in PostgreSQL.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CatalogStore, type ToolUpsert } from "../../domain/catalog/CatalogStore.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import { ToolId } from "../../domain/shared/Ids.ts"
import { ENTRY_COLUMNS, type EntryRow, type PriceRow, toEntry, toPriceVersion } from "./CatalogRows.ts"
import { catalogSearch, isStorable } from "./CatalogSearch.ts"
import { catalogTotals } from "./CatalogTotals.ts"
import { toDate, toInstant } from "./Instants.ts"
import { lexemesOf } from "./SearchLexemes.ts"

export const layer = Layer.effect(
  CatalogStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(ENTRY_COLUMNS)
    const totals = catalogTotals(sql)

    // The row that is there stays locked until the end of the transaction, so its versions have no gap and no double:
    // a version that is new gets its row in the history in the same statement.
    const upsert = ({ at, declaration, freeTierCalls, id, price, providerId, searchTokens }: ToolUpsert) =>
      sql<{ readonly id: string; readonly price_version: number }>`
        WITH stored AS (
          INSERT INTO tools AS t
            (id, provider_id, tool_name, category, display_name, description, price_microcents, free_tier_calls,
             effective_price_microcents, effective_free_tier_calls, price_version, input_schema, output_schema,
             billing_policy, max_cost_microcents, timeout_ms, idempotent, on_cancel, canceled_call_costs, search, created_at,
             updated_at)
          VALUES (${id}, ${providerId}, ${declaration.toolName}, ${declaration.category}, ${declaration.displayName},
            ${declaration.description}, ${declaration.price ?? null}::int8, ${declaration.freeTierCalls ?? null}::int4,
            ${price}, ${freeTierCalls}, 1, ${jsonOrNull(declaration.inputSchema)}::json,
            ${jsonOrNull(declaration.outputSchema)}::json, ${declaration.billingPolicy},
            ${declaration.maxCost ?? null}::int8, ${declaration.timeoutMs ?? null}::int4, ${declaration.idempotent},
            ${declaration.onCancel}, ${declaration.canceledCallCosts},
            array_to_tsvector(${lexemesOf(searchTokens)}::text[]), ${toDate(at)}, ${toDate(at)})
          ON CONFLICT (provider_id, tool_name) DO UPDATE SET
            category = excluded.category, display_name = excluded.display_name, description = excluded.description,
            price_microcents = excluded.price_microcents, free_tier_calls = excluded.free_tier_calls,
            effective_price_microcents = excluded.effective_price_microcents,
            effective_free_tier_calls = excluded.effective_free_tier_calls,
            price_version = t.price_version + CASE
              WHEN (t.effective_price_microcents, t.effective_free_tier_calls)
                = (excluded.effective_price_microcents, excluded.effective_free_tier_calls) THEN 0 ELSE 1 END,
            input_schema = excluded.input_schema, output_schema = excluded.output_schema,
            billing_policy = excluded.billing_policy, max_cost_microcents = excluded.max_cost_microcents,
            timeout_ms = excluded.timeout_ms, idempotent = excluded.idempotent,
            on_cancel = excluded.on_cancel, canceled_call_costs = excluded.canceled_call_costs, search = excluded.search,
            updated_at = GREATEST(t.updated_at, excluded.updated_at), withdrawn_at = NULL
          RETURNING id, price_version, effective_price_microcents, effective_free_tier_calls, updated_at
        ), priced AS (
          INSERT INTO tool_prices (tool_id, version, price_microcents, free_tier_calls, effective_from)
          SELECT id, price_version, effective_price_microcents, effective_free_tier_calls, updated_at FROM stored
          ON CONFLICT (tool_id, version) DO NOTHING
        )
        SELECT id, price_version FROM stored`

    const inTransaction = Effect.map(Effect.serviceOption(sql.transactionService), Option.isSome)

    return CatalogStore.of({
      upsert: Effect.fn("PostgresCatalogStore.upsert")(function* (tool) {
        const [stored] = yield* upsert(tool)
        return {
          id: ToolId.make(stored!.id),
          toolName: tool.declaration.toolName,
          action: stored!.id === tool.id ? "created" : "updated",
          priceVersion: stored!.price_version
        } as const
      }, Effect.orDie),

      withdraw: Effect.fn("PostgresCatalogStore.withdraw")(
        (providerId, id, at) => sql<{ readonly withdrawn_at: Date }>`
          UPDATE tools SET withdrawn_at = coalesce(withdrawn_at, ${toDate(at)})
          WHERE id = ${id} AND provider_id = ${providerId} RETURNING withdrawn_at`,
        Effect.map((rows) => Option.map(Arr.head(rows), (row) => toInstant(row.withdrawn_at))),
        Effect.orDie
      ),

      countOf: Effect.fn("PostgresCatalogStore.countOf")(function* (providerId) {
        if (yield* inTransaction) yield* sql`SELECT 1 FROM providers WHERE id = ${providerId} FOR NO KEY UPDATE`
        const [row] = yield* sql<{ readonly count: bigint }>`
          SELECT count(*) AS count FROM tools WHERE provider_id = ${providerId}`
        return Number(row!.count)
      }, Effect.orDie),

      find: Effect.fn("PostgresCatalogStore.find")(
        (id) => sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id WHERE t.id = ${id}`,
        Effect.map((rows) => Option.map(Arr.head(rows), toEntry)),
        Effect.orDie
      ),

      findOf: Effect.fn("PostgresCatalogStore.findOf")(function* (providerId, toolName) {
        if (!isStorable(toolName)) return Option.none()
        const rows = yield* sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
          WHERE t.provider_id = ${providerId} AND t.tool_name = ${toolName}`
        return Option.map(Arr.head(rows), toEntry)
      }, Effect.orDie),

      findByName: Effect.fn("PostgresCatalogStore.findByName")(function* (toolName, limit) {
        if (!isStorable(toolName)) return []
        const named = (state: Statement.Fragment) => sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
          WHERE t.tool_name = ${toolName} AND ${state} ORDER BY t.id LIMIT ${limit}`
        const listed = yield* named(sql`t.withdrawn_at IS NULL`)
        const rows = listed.length > 0 ? listed : yield* named(sql`t.withdrawn_at IS NOT NULL`)
        return rows.map(toEntry)
      }, Effect.orDie),

      search: catalogSearch(sql, totals),

      // One step through the index per category instead of one per tool.
      categories: sql<{ readonly category: string }>`
        WITH RECURSIVE seen AS (
          SELECT min(category) AS category FROM tools WHERE category > '' AND withdrawn_at IS NULL
          UNION ALL
          SELECT (SELECT min(t.category) FROM tools t WHERE t.category > seen.category AND t.withdrawn_at IS NULL)
          FROM seen WHERE seen.category IS NOT NULL
        )
        SELECT category FROM seen WHERE category IS NOT NULL`.pipe(
        Effect.map((rows) => rows.map((row) => row.category)),
        Effect.orDie
      ),

      count: Effect.orDie(totals.everything),

      prices: Effect.fn("PostgresCatalogStore.prices")(
        (id, limit) => sql<PriceRow>`
          SELECT version, price_microcents, free_tier_calls, effective_from FROM tool_prices
          WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`,
        Effect.map((rows) => rows.map(toPriceVersion)),
        Effect.orDie
      )
    })
  })
)

const jsonOrNull = (schema: JsonSchemaObject | undefined): string | null =>
  schema === undefined ? null : JSON.stringify(schema)
