/**
 * A value that a JSON Schema of the OpenAPI document describes; sometimes a boundary value. Values of earlier
 * responses are preferred for fields of the same name.
 */
import { type JsonSchema, nameOfRef, type OpenApiDocument } from "../../../adapters/http/openapi/OpenApiModel.ts"
import type { Chance } from "./Chance.ts"
import { textMatching } from "./PatternText.ts"
import type { Pool } from "./Pool.ts"

export interface Making {
  readonly document: OpenApiDocument
  readonly chance: Chance
  readonly pool: Pool
  /** Addresses where providers may listen: no other address is called. */
  readonly urls: ReadonlyArray<string>
}

const KNOWN_PERCENT = 75
const OPTIONAL_PERCENT = 40
const EXAMPLE_PERCENT = 20
const DEPTH_MAX = 5

export const valueOf = (schema: JsonSchema, name: string, making: Making, depth = 0): unknown => {
  const { chance, document } = making
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[nameOfRef(schema.$ref)]!
    return valueOf({ ...named, ...withoutRef(schema) }, name, making, depth)
  }
  const one = schema.anyOf ?? schema.oneOf
  if (one !== undefined) return valueOf(chance.pick(one), name, making, depth)
  if (schema.enum !== undefined) return chance.pick(schema.enum)
  // An example may name an address that must not be called.
  if (schema.examples !== undefined && schema.format !== "uri" && chance.percent(EXAMPLE_PERCENT)) {
    return chance.pick(schema.examples)
  }
  switch (schema.type) {
    case "object":
      return objectOf(schema, making, depth)
    case "array":
      return arrayOf(schema, name, making, depth)
    case "string":
      return stringOf(schema, name, making)
    case "integer":
    case "number":
      return numberOf(schema, name, making)
    case "boolean":
      return chance.percent(50)
    case "null":
      return null
    default:
      return depth > DEPTH_MAX ? null : chance.pick(ANYTHING)
  }
}

const withoutRef = ({ $ref: _, ...rest }: JsonSchema): JsonSchema => rest

const ANYTHING: ReadonlyArray<unknown> = [
  {},
  { message: "hello" },
  { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  [1, "two", null],
  "text",
  7,
  true,
  null
]

const objectOf = (schema: JsonSchema, making: Making, depth: number): object => {
  const { chance } = making
  const required = new Set(schema.required ?? [])
  const entries = Object.entries(schema.properties ?? {})
    .filter(([key]) => required.has(key) || (depth <= DEPTH_MAX && chance.percent(OPTIONAL_PERCENT)))
    .map(([key, property]) => [key, valueOf(property, key, making, depth + 1)] as const)
  const open = schema.properties === undefined || typeof schema.additionalProperties === "object"
  const extra = open && chance.percent(50) ? [[chance.pick(WORDS), chance.pick(ANYTHING)] as const] : []
  return Object.fromEntries([...entries, ...extra])
}

const arrayOf = (schema: JsonSchema, name: string, making: Making, depth: number): ReadonlyArray<unknown> => {
  const { chance } = making
  const least = schema.minItems ?? 0
  const most = schema.maxItems ?? 4
  const length = chance.percent(3) ? most + chance.below(2) : Math.min(most, least + chance.below(3))
  const item = name.replace(/s$/u, "")
  return Array.from({ length }, () => (schema.items === undefined ? 1 : valueOf(schema.items, item, making, depth + 1)))
}

const stringOf = (schema: JsonSchema, name: string, { chance, pool, urls }: Making): string => {
  if (schema.format === "uri" || name.endsWith("_url")) return chance.pick(urls)
  const known = chance.percent(KNOWN_PERCENT) ? pool.any(name, chance) : undefined
  if (known !== undefined) return known
  if (schema.format === "email") return `${chance.pick(WORDS).trim() || "a"}${chance.below(1_000)}@fuzz.example`
  if (schema.format === "date-time") return new Date(Date.now() + (chance.next() - 0.7) * 4e9).toISOString()
  if (schema.pattern !== undefined) return textMatching(schema.pattern, chance)
  const least = schema.minLength ?? 0
  const most = schema.maxLength ?? 200
  const word = chance.pick(WORDS).padEnd(least, "x").slice(0, most)
  return chance.percent(4) ? "ä".repeat(Math.min(most + chance.below(2), 20_000)) : word
}

const WORDS = ["echo", "search", "a", "Agent", "name", "x-1", "Zürich", "😀", "quality", "constructor", "a b"]

const numberOf = ({ maximum, minimum, type }: JsonSchema, name: string, { chance, pool }: Making): number => {
  const known = chance.percent(KNOWN_PERCENT) ? pool.any(name, chance) : undefined
  if (known !== undefined) return Number(known)
  const least = minimum ?? -1_000
  const most = maximum ?? 1_000_000_000
  if (chance.percent(6)) return chance.pick([least, most, least - 1, most + 1])
  const size = 10 ** chance.below(9)
  const value = Math.min(most, Math.max(least, least + chance.next() * size))
  return type === "number" ? value : Math.floor(value)
}
