/**
 * Imports of providers' servers in PostgreSQL.
 */
import { Effect } from "effect"
import { definitionOf, type ToolDefinition } from "../../../domain/catalog/CatalogStore.ts"
import {
  type ImportedTool,
  type ImportRecord,
  ImportStore,
  type SyncState
} from "../../../domain/catalog/ImportStore.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { columnsOf } from "../shared/Columns.ts"
import { rowReader, toDate, toDateOrNull, toInstantOrUndefined } from "../shared/Rows.ts"
import { storeLayer } from "../shared/StoreSql.ts"

interface ImportedRow {
  readonly tool_name: string
  readonly definition: ToolDefinition
  readonly missing_since: Date | null
  readonly dismissed: boolean
}

const toSync = rowReader<SyncState>({ default_price_microcents: "defaultPrice" })
const toRecord = rowReader<ImportRecord>()

export const layer = storeLayer(ImportStore, (sql) => ({
  sync: (providerId) =>
    sql`
      SELECT enabled, listed, default_price_microcents, next_at, checked_at, problem FROM tool_syncs
      WHERE provider_id = ${providerId}`.first(toSync),

  configure: (providerId, { defaultPrice, enabled, listed }, nextAt) =>
    sql`
      INSERT INTO tool_syncs AS s (provider_id, enabled, listed, default_price_microcents, next_at)
      VALUES (${providerId}, ${enabled}, ${listed}, ${defaultPrice ?? null}::int8, ${toDate(nextAt)})
      ON CONFLICT (provider_id) DO UPDATE SET enabled = excluded.enabled, listed = excluded.listed,
        default_price_microcents = excluded.default_price_microcents, next_at = LEAST(s.next_at, excluded.next_at)`
      .done,

  claimDue: (now, nextAt, limit) =>
    sql<{ readonly provider_id: string }>`
      WITH due AS (
        SELECT provider_id FROM tool_syncs WHERE enabled AND next_at <= ${toDate(now)}
        ORDER BY next_at, provider_id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE tool_syncs s SET next_at = ${toDate(nextAt)} FROM due WHERE s.provider_id = due.provider_id
      RETURNING s.provider_id`.all((row) => ProviderId.make(row.provider_id)),

  hasten: (providerId, now, afterMs) =>
    sql`
      UPDATE tool_syncs SET next_at = LEAST(next_at, GREATEST(${toDate(now)}, checked_at + ${afterMs} * interval '1 ms'))
      WHERE provider_id = ${providerId} AND enabled`.done,

  checked: (providerId, at, problem) =>
    sql`
      UPDATE tool_syncs SET checked_at = ${toDate(at)}, problem = ${problem ?? null}
      WHERE provider_id = ${providerId}`.done,

  imported: (providerId) =>
    sql<ImportedRow>`
      SELECT tool_name, definition, missing_since, dismissed FROM server_tools WHERE provider_id = ${providerId}`.all(
      ({ definition, dismissed, missing_since, tool_name }): ImportedTool => ({
        toolName: tool_name,
        // Absent members become undefined ones.
        definition: definitionOf(definition),
        missingSince: toInstantOrUndefined(missing_since),
        ...(dismissed ? { dismissed } : {})
      })
    ),

  putImported: Effect.fnUntraced(function* (providerId, tools: ReadonlyArray<ImportedTool>) {
    if (tools.length === 0) return
    const { bool, text, timestamptz } = columnsOf(tools)
    yield* sql`
      INSERT INTO server_tools (provider_id, tool_name, definition, missing_since, dismissed)
      SELECT ${providerId}::uuid, tool_name, definition::json, missing_since, dismissed
      FROM unnest(${text((tool) => tool.toolName)}, ${text((tool) => JSON.stringify(tool.definition))},
        ${timestamptz((tool) => toDateOrNull(tool.missingSince))}, ${bool((tool) => tool.dismissed === true)})
        AS t (tool_name, definition, missing_since, dismissed)
      ON CONFLICT (provider_id, tool_name) DO UPDATE SET definition = excluded.definition,
        missing_since = excluded.missing_since, dismissed = excluded.dismissed`
  }),

  forgetImported: (providerId, toolNames) =>
    sql`
      DELETE FROM server_tools WHERE provider_id = ${providerId} AND tool_name = ANY (${toolNames}::text[])`.done,

  addRecord: Effect.fnUntraced(function* (providerId, record, keptMax) {
    const { id, importedAt, result, source } = record
    yield* sql`
      INSERT INTO tool_imports (provider_id, id, imported_at, source, result)
      VALUES (${providerId}, ${id}, ${toDate(importedAt)}, ${source}, ${JSON.stringify(result)}::json)`
    yield* sql`
      DELETE FROM tool_imports WHERE provider_id = ${providerId} AND id <= (
        SELECT id FROM tool_imports WHERE provider_id = ${providerId} ORDER BY id DESC OFFSET ${keptMax} LIMIT 1)`
  }),

  records: (providerId, limit) =>
    sql`
      SELECT id, imported_at, source, result FROM tool_imports
      WHERE provider_id = ${providerId} ORDER BY id DESC LIMIT ${limit}`.all(toRecord),

  remove: Effect.fnUntraced(function* (providerId) {
    yield* sql`DELETE FROM tool_syncs WHERE provider_id = ${providerId}`
    yield* sql`DELETE FROM server_tools WHERE provider_id = ${providerId}`
    yield* sql`DELETE FROM tool_imports WHERE provider_id = ${providerId}`
  })
}))
