/**
 * What can be said of a schema before it is compiled: which draft it is written in, how large and how deep it is.
 */
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"

/** Values of JSON in a schema: what it costs to compile depends on them more than on bytes. */
export const JSON_SCHEMA_PARTS_MAX = 4_000

export type Draft = "2020-12" | "draft-07"

const DRAFTS: ReadonlyMap<string, Draft> = new Map([
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
  ["json-schema.org/draft-07/schema", "draft-07"]
])

/** Undefined for any other draft. */
export const draftOf = ({ $schema }: JsonSchemaObject): Draft | undefined => {
  if ($schema === undefined) return "2020-12"
  if (typeof $schema !== "string") return undefined
  return DRAFTS.get($schema.replace(/^https?:\/\//u, "").replace(/#$/u, ""))
}

/** Undefined if nothing is wrong with it so far. */
export const schemaProblem = (schema: JsonSchemaObject): string | undefined => {
  const { levels, parts } = sizeOf(schema)
  if (levels > JSON_SCHEMA_DEPTH_MAX) return `it is nested more than ${JSON_SCHEMA_DEPTH_MAX} levels deep`
  if (parts > JSON_SCHEMA_PARTS_MAX) return `it has more than ${JSON_SCHEMA_PARTS_MAX} parts`
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > JSON_SCHEMA_BYTES_MAX)
    return `it has ${bytes} bytes of JSON, and at most ${JSON_SCHEMA_BYTES_MAX} are taken`
  if (draftOf(schema) === undefined) return "its $schema is neither draft 2020-12 nor draft-07"
  // Ajv would make a function of it that answers later.
  return "$async" in schema ? "$async is no keyword of JSON Schema" : undefined
}

/** Level by level, and no further than the bounds: the schema may be nested deeper than the stack. */
const sizeOf = (schema: JsonSchemaObject): { readonly levels: number; readonly parts: number } => {
  let level: Array<unknown> = [schema]
  let levels = 0
  let parts = 1
  while (levels <= JSON_SCHEMA_DEPTH_MAX && parts <= JSON_SCHEMA_PARTS_MAX) {
    const containers = level.filter((part) => typeof part === "object" && part !== null)
    if (containers.length === 0) break
    level = containers.flatMap((container) => Object.values(container as object))
    levels++
    parts += level.length
  }
  return { levels, parts }
}
