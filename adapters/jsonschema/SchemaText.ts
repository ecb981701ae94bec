/**
 * What can be said of a schema before it is compiled: its size, its depth, and which draft it is written in.
 */
import { Option } from "effect"
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"

export type Draft = "2020-12" | "draft-07"

const DRAFTS: ReadonlyMap<string, Draft> = new Map([
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
  ["json-schema.org/draft-07/schema", "draft-07"]
])

export const draftOf = (schema: JsonSchemaObject): Option.Option<Draft> => {
  const { $schema } = schema
  if ($schema === undefined) return Option.some("2020-12")
  if (typeof $schema !== "string") return Option.none()
  return Option.fromNullishOr(DRAFTS.get($schema.replace(/^https?:\/\//u, "").replace(/#$/u, "")))
}

/** What is wrong with its size; undefined if nothing is. */
export const sizeProblem = (schema: JsonSchemaObject): string | undefined => {
  if (isDeeperThan(schema, JSON_SCHEMA_DEPTH_MAX)) return `it is nested more than ${JSON_SCHEMA_DEPTH_MAX} levels deep`
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > JSON_SCHEMA_BYTES_MAX
    ? `it has ${bytes} bytes of JSON, and at most ${JSON_SCHEMA_BYTES_MAX} are taken`
    : undefined
}

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1)))
