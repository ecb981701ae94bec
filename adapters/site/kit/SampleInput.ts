/**
 * Sample arguments from a tool's input schema: its required properties with suggested or placeholder values.
 */
import type { Json } from "../../http/openapi/OpenApiModel.ts"

type JsonObject = Readonly<Record<string, unknown>>

const DEPTH_MAX = 4

export const sampleInput = (schema: JsonObject | null): Readonly<Record<string, Json>> => {
  const sample = schema === null ? {} : sampleOf(schema, 0)
  return isObject(sample) ? (sample as Readonly<Record<string, Json>>) : {}
}

const sampleOf = (schema: unknown, depth: number): Json => {
  if (!isObject(schema)) return {}
  const { const: constant, default: byDefault, enum: choices, examples, items, type } = schema
  const suggested = [constant, byDefault, first(examples), first(choices)].find((value) => value !== undefined)
  if (suggested !== undefined) return suggested as Json
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "…"
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return typeof schema["minItems"] === "number" && schema["minItems"] > 0 && depth < DEPTH_MAX
        ? [sampleOf(items, depth + 1)]
        : []
    default:
      return depth < DEPTH_MAX ? requiredProperties(schema, depth) : {}
  }
}

const requiredProperties = ({ properties, required }: JsonObject, depth: number): Json => {
  if (!isObject(properties) || !Array.isArray(required)) return {}
  return Object.fromEntries(
    required
      .filter((name): name is string => typeof name === "string" && Object.hasOwn(properties, name))
      .map((name) => [name, sampleOf(properties[name], depth + 1)])
  )
}

const first = (values: unknown): unknown => (Array.isArray(values) ? values[0] : undefined)

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
