/**
 * Versions of tools' definitions in PostgreSQL: part of the catalog's store.
 */
import { Effect } from "effect"
import {
  type CatalogStore,
  type ChangeSource,
  type DefinitionField,
  definitionOf,
  type ToolDefinition,
  type ToolVersion
} from "../../../domain/catalog/CatalogStore.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { columnsOf } from "../shared/Columns.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

type VersionStore = Pick<CatalogStore["Service"], "addVersions" | "lastVersions" | "removeVersions" | "versions">

export const toolVersions = (sql: StoreSql): VersionStore => ({
  addVersions: Effect.fn("PostgresCatalogStore.addVersions")(function* (versions, { bytesMax, versionsMax }) {
    if (versions.length === 0) return
    const { int4, text, timestamptz, uuid } = columnsOf(versions)
    yield* sql`
      INSERT INTO tool_versions (tool_id, version, changed_at, source, changed, definition)
      SELECT tool_id, version, changed_at, source, string_to_array(changed, ','), definition::json
      FROM unnest(${uuid(([id]) => id)}, ${int4(([, one]) => one.version)},
        ${timestamptz(([, one]) => toDate(one.changedAt))}, ${text(([, one]) => one.source)},
        ${text(([, one]) => one.changed.join(","))}, ${text(([, one]) => JSON.stringify(one.definition))})
        AS v (tool_id, version, changed_at, source, changed, definition)`
    const later = versions.flatMap(([id, { version }]) => (version === 1 ? [] : [id]))
    if (later.length === 0) return
    yield* sql`
      DELETE FROM tool_versions v USING (
        SELECT tool_id, version, row_number() OVER newest AS place,
          sum(octet_length(definition::text)) OVER newest AS bytes
        FROM tool_versions WHERE tool_id = ANY (${later}::uuid[])
        WINDOW newest AS (PARTITION BY tool_id ORDER BY version DESC)
      ) o
      WHERE v.tool_id = o.tool_id AND v.version = o.version AND o.place > 1
        AND (o.place > ${versionsMax}::int8 OR o.bytes > ${bytesMax}::int8)`
  }),

  lastVersions: Effect.fn("PostgresCatalogStore.lastVersions")(function* (ids) {
    if (ids.length === 0) return new Map()
    const rows = yield* sql<VersionRow & { readonly tool_id: string }>`
      SELECT tool.id AS tool_id, v.version, v.changed_at, v.source, v.changed, v.definition
      FROM unnest(${ids}::uuid[]) AS tool (id) CROSS JOIN LATERAL (
        SELECT * FROM tool_versions WHERE tool_id = tool.id ORDER BY version DESC LIMIT 1) v`
    return new Map(rows.map((row) => [ToolId.make(row.tool_id), toVersion(row)]))
  }),

  versions: Effect.fn("PostgresCatalogStore.versions")((id, limit) =>
    sql<VersionRow>`
      SELECT version, changed_at, source, changed, definition FROM tool_versions
      WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`.all(toVersion)
  ),

  removeVersions: Effect.fn("PostgresCatalogStore.removeVersions")(
    (providerId) => sql`
      DELETE FROM tool_versions v USING tools t WHERE t.id = v.tool_id AND t.provider_id = ${providerId}`,
    Effect.asVoid
  )
})

interface VersionRow {
  readonly version: number
  readonly changed_at: Date
  readonly source: ChangeSource
  readonly changed: ReadonlyArray<DefinitionField>
  readonly definition: ToolDefinition
}

const toVersion = ({ changed, changed_at, definition, source, version }: VersionRow): ToolVersion => ({
  version,
  changedAt: toInstant(changed_at),
  source,
  changed,
  // Absent members become undefined ones.
  definition: definitionOf(definition)
})
