/**
 * Stores tools and their price versions in PostgreSQL, many in one statement: part of the catalog's store.
 */
import type { DateTime } from "effect"
import { Effect } from "effect"
import type { CatalogStore, ToolUpsert } from "../../../domain/catalog/CatalogStore.ts"
import type { JsonSchemaObject, ToolAnnotations } from "../../../domain/catalog/Tool.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { sameJson } from "../../../domain/shared/SameJson.ts"
import { columnsOf } from "../shared/Columns.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import { lexemesOf } from "./SearchLexemes.ts"

export const toolUpserts = (sql: StoreSql) => {
  // `countOf` has locked the provider's row, so the versions that the prices were planned from are still the latest.
  const putTools = (tools: ReadonlyArray<ToolUpsert>) => {
    const { bool, int4, int8, text, timestamptz, uuid } = columnsOf(tools)
    return sql<{ readonly id: string; readonly provider_id: string; readonly tool_name: string }>`
      INSERT INTO tools AS t
        (id, provider_id, tool_name, category, display_name, description, price_microcents, free_tier_calls,
         effective_price_microcents, effective_max_cost_microcents, effective_free_tier_calls,
         effective_billing_policy, effective_leaving, price_version, price_versions, price_announced_at, price_since,
         upcoming_version, upcoming_from, input_schema, output_schema, effective_output_schema, annotations, billing_policy,
         max_cost_microcents, timeout_ms, idempotent, on_cancel, canceled_call_costs, search, created_at, updated_at,
         withdrawn_at, draft)
      SELECT id, provider_id, tool_name, category, display_name, description, price, free_tier, effective_price,
        effective_max_cost, effective_free_tier, effective_policy, effective_leaving, price_version, price_versions,
        announced_at, since, upcoming_version, upcoming_from, input_schema::json, output_schema::json,
        effective_schema::json, annotations::json, billing_policy, max_cost, timeout_ms, idempotent, on_cancel, canceled_call_costs,
        array_to_tsvector(string_to_array(lexemes, ' ')), at, at, CASE WHEN draft THEN at END, draft
      FROM unnest(
        ${uuid((one) => one.id)}, ${uuid((one) => one.providerId)}, ${text((one) => one.declaration.toolName)},
        ${text((one) => one.declaration.category)}, ${text((one) => one.declaration.displayName)},
        ${text((one) => one.declaration.description)}, ${int8((one) => one.declaration.price ?? null)},
        ${int4((one) => one.declaration.freeTierCalls ?? null)}, ${int8((one) => one.prices.inEffect.price)},
        ${int8((one) => one.prices.inEffect.maximum)}, ${int4((one) => one.prices.inEffect.freeTierCalls)},
        ${text((one) => one.prices.inEffect.billingPolicy)}, ${text((one) => one.prices.inEffect.leaving)},
        ${int4((one) => one.prices.inEffect.version)}, ${int4((one) => one.prices.lastVersion)},
        ${timestamptz((one) => toDate(one.prices.inEffect.announcedAt))},
        ${timestamptz((one) => toDate(one.prices.inEffect.effectiveFrom))},
        ${int4((one) => one.prices.upcoming?.version ?? null)},
        ${timestamptz((one) => toDateOrNull(one.prices.upcoming?.effectiveFrom))},
        ${text((one) => jsonOrNull(one.declaration.inputSchema))},
        ${text((one) => jsonOrNull(one.declaration.outputSchema))}, ${text((one) => jsonOrNull(earlierSchema(one)))},
        ${text((one) => jsonOrNull(one.declaration.annotations))}, ${text((one) => one.declaration.billingPolicy)},
        ${int8((one) => one.declaration.maxCost ?? null)}, ${int4((one) => one.declaration.timeoutMs ?? null)},
        ${bool((one) => one.declaration.idempotent)}, ${text((one) => one.declaration.onCancel)},
        ${text((one) => one.declaration.canceledCallCosts)}, ${text((one) => lexemesOf(one.searchTokens).join(" "))},
        ${timestamptz((one) => toDate(one.at))}, ${bool((one) => one.draft ?? false)}
      ) AS given (id, provider_id, tool_name, category, display_name, description, price, free_tier, effective_price,
        effective_max_cost, effective_free_tier, effective_policy, effective_leaving, price_version, price_versions,
        announced_at, since, upcoming_version, upcoming_from, input_schema, output_schema, effective_schema,
        annotations, billing_policy, max_cost, timeout_ms, idempotent, on_cancel, canceled_call_costs, lexemes, at, draft)
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
        output_schema = excluded.output_schema, effective_output_schema = excluded.effective_output_schema,
        annotations = excluded.annotations,
        billing_policy = excluded.billing_policy, max_cost_microcents = excluded.max_cost_microcents,
        timeout_ms = excluded.timeout_ms, idempotent = excluded.idempotent, on_cancel = excluded.on_cancel,
        canceled_call_costs = excluded.canceled_call_costs, search = excluded.search,
        updated_at = GREATEST(t.updated_at, excluded.updated_at), withdrawn_at = excluded.withdrawn_at,
        draft = excluded.draft, withdrawn_by_server = false
      RETURNING id, provider_id, tool_name`
  }

  /** Versions that a tool's row no longer names will never take effect. */
  const replaceUpcoming = (tools: ReadonlyArray<{ readonly id: string; readonly at: DateTime.Utc }>) => {
    const { timestamptz, uuid } = columnsOf(tools)
    return sql`
      UPDATE tool_prices p SET replaced_at = given.at
      FROM unnest(${uuid((tool) => tool.id)}, ${timestamptz((tool) => toDate(tool.at))}) AS given (id, at)
      JOIN tools t ON t.id = given.id
      WHERE p.tool_id = t.id AND p.effective_from > given.at AND p.effective_from > p.announced_at
        AND p.replaced_at IS NULL AND p.version <> t.price_version
        AND p.version IS DISTINCT FROM t.upcoming_version`
  }

  const addPrices = (tools: ReadonlyArray<Pick<ToolUpsert, "id" | "prices">>) => {
    const { int4, int8, text, timestamptz, uuid } = columnsOf(
      tools.flatMap(({ id, prices: { inEffect, upcoming } }) =>
        (upcoming === undefined ? [inEffect] : [inEffect, upcoming]).map((price) => ({ ...price, toolId: id }))
      )
    )
    return sql`
      INSERT INTO tool_prices
        (tool_id, version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
         announced_at, effective_from)
      SELECT * FROM unnest(${uuid((one) => one.toolId)}, ${int4((one) => one.version)}, ${int8((one) => one.price)},
        ${int8((one) => one.maximum)}, ${int4((one) => one.freeTierCalls)}, ${text((one) => one.billingPolicy)},
        ${text((one) => one.leaving)}, ${timestamptz((one) => toDate(one.announcedAt))},
        ${timestamptz((one) => toDate(one.effectiveFrom))})
      ON CONFLICT (tool_id, version) DO NOTHING`
  }

  const upsert: CatalogStore["Service"]["upsert"] = Effect.fn("PostgresCatalogStore.upsert")(function* (tools) {
    if (tools.length === 0) return []
    const rows = yield* putTools(tools)
    const ids = new Map(rows.map((row) => [`${row.provider_id} ${row.tool_name}`, ToolId.make(row.id)]))
    const stored = tools.map((tool) => {
      const id = ids.get(`${tool.providerId} ${tool.declaration.toolName}`)!
      return { ...tool, id, isNew: id === tool.id }
    })
    const priced = stored.filter(({ draft }) => draft !== true)
    const known = priced.filter(({ isNew }) => !isNew)
    if (known.length > 0) yield* replaceUpcoming(known)
    if (priced.length > 0) yield* addPrices(priced)
    return stored.map(({ declaration, id, isNew, prices }) => ({
      id,
      toolName: declaration.toolName,
      action: isNew ? "created" : "updated",
      priceVersion: prices.inEffect.version
    }))
  })

  return { replaceUpcoming, upsert }
}

/** The output schema of the terms in effect, where another one is announced. */
const earlierSchema = ({ declaration, prices }: ToolUpsert): JsonSchemaObject | undefined => {
  const { outputSchema } = prices.inEffect
  return outputSchema === undefined || sameJson(outputSchema, declaration.outputSchema) ? undefined : outputSchema
}

const jsonOrNull = (schema: JsonSchemaObject | ToolAnnotations | undefined): string | null =>
  schema === undefined ? null : JSON.stringify(schema)
