/**
 * Checks of a schema before it is compiled: its draft, size and depth.
 */
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"

/** JSON values in a schema: they determine the cost of compiling more than bytes do. */
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

/** Undefined if nothing is wrong so far. */
export const schemaProblem = (schema: JsonSchemaObject): string | undefined => {
  const { levels, parts } = sizeOf(schema)
  if (levels > JSON_SCHEMA_DEPTH_MAX) return `it is nested more than ${JSON_SCHEMA_DEPTH_MAX} levels deep`
  if (parts > JSON_SCHEMA_PARTS_MAX) return `it has more than ${JSON_SCHEMA_PARTS_MAX} parts`
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > JSON_SCHEMA_BYTES_MAX) return `it has ${bytes} bytes of JSON; the limit is ${JSON_SCHEMA_BYTES_MAX}`
  if (draftOf(schema) === undefined) return "its $schema is neither draft 2020-12 nor draft-07"
  // Ajv would compile it to an asynchronous function.
  return "$async" in schema ? "$async is not a keyword of JSON Schema" : undefined
}

/** Level by level within the bounds, because the schema may be nested deeper than the stack. */
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
