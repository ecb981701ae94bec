/**
 * Versions of what a tool says of itself: names, description, schemas and hints. A change by the provider or by its
 * server adds one, so that a consumer sees what changed and when. Terms have price versions of their own.
 */
import type { DateTime } from "effect"
import { sameJson } from "../shared/SameJson.ts"
import type { ToolDeclaration } from "./Tool.ts"

/** Older ones are removed. */
export const TOOL_VERSIONS_KEPT_MAX = 50
/** Of all versions of a tool, as JSON: a server may change its tools in every sync. The newest version always stays. */
export const TOOL_VERSION_BYTES_KEPT_MAX = 262_144

/** What callers see of a tool, without its terms. A change of it makes a new version. */
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

/** How much of a tool's history is stored. Older versions are deleted; the newest always stays. */
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
