/**
 * Versions of tools' definitions in PostgreSQL: part of the catalog's store.
 */
import { Effect } from "effect"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import {
  type ChangeSource,
  type DefinitionField,
  definitionOf,
  type ToolDefinition,
  type ToolVersion
} from "../../../domain/catalog/ToolVersions.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

type VersionStore = Pick<CatalogStore["Service"], "addVersion" | "removeVersions" | "versions">

export const toolVersions = (sql: StoreSql): VersionStore => ({
  addVersion: Effect.fn("PostgresCatalogStore.addVersion")(function* (id, version, { bytesMax, versionsMax }) {
    yield* sql`
      INSERT INTO tool_versions (tool_id, version, changed_at, source, changed, definition)
      VALUES (${id}, ${version.version}, ${toDate(version.changedAt)}, ${version.source}, ${version.changed}::text[],
        ${JSON.stringify(version.definition)}::json)`
    if (version.version === 1) return
    yield* sql`
      DELETE FROM tool_versions v USING (
        SELECT version, row_number() OVER newest AS place, sum(octet_length(definition::text)) OVER newest AS bytes
        FROM tool_versions WHERE tool_id = ${id} WINDOW newest AS (ORDER BY version DESC)
      ) o
      WHERE v.tool_id = ${id} AND v.version = o.version AND o.place > 1
        AND (o.place > ${versionsMax}::int8 OR o.bytes > ${bytesMax}::int8)`
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
