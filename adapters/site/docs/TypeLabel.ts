/**
 * Labels for a schema's type and limits.
 */
import { type JsonSchema, nameOfRef, type OpenApiDocument } from "../../http/openapi/OpenApiModel.ts"

type Components = OpenApiDocument["components"]["schemas"]

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}"
const INSTANT = "T\\d{2}:\\d{2}:\\d{2}"

export const typeOf = (schema: JsonSchema, components: Components): string => {
  if (schema.$ref !== undefined) return typeOf(components[nameOfRef(schema.$ref)] ?? {}, components)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(choice, components)))].join(" or ")
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => `\`${String(value)}\``)
    return values.length === 1 ? `always ${values[0]}` : `one of ${values.join(", ")}`
  }
  switch (schema.type) {
    case "array":
      return schema.items === undefined ? "array" : `array of ${plural(typeOf(schema.items, components))}`
    case "string":
      return named(schema) ?? "string"
    case undefined:
      return "any JSON"
    default:
      return schema.type
  }
}

export const limitsOf = (schema: JsonSchema, components: Components): ReadonlyArray<string> => {
  if (schema.$ref !== undefined) return limitsOf(components[nameOfRef(schema.$ref)] ?? {}, components)
  const choices = schema.anyOf?.filter((choice) => choice.type !== "null")
  if (choices?.length === 1) return limitsOf(choices[0]!, components)
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    pattern === undefined || named(schema) !== undefined ? "" : `matches \`${pattern}\``,
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``
  ].filter((line) => line !== "")
}

const named = ({ format, pattern }: JsonSchema): string | undefined => {
  if (format === "date-time" || pattern?.includes(INSTANT) === true) return "timestamp (ISO 8601)"
  if (format === "email") return "email address"
  if (format === "uri") return "URL"
  return pattern?.includes(UUID) === true ? "UUID" : undefined
}

const plural = (type: string): string =>
  /^(?:string|integer|number|object|boolean|UUID)$/u.test(type) ? `${type}s` : type

const range = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min === undefined && max === undefined) return ""
  if (max === undefined) return `at least ${figure(min!)}${unit}`
  return min === undefined ? `at most ${figure(max)}${unit}` : `${figure(min)} to ${figure(max)}${unit}`
}

const figure = (value: number): string =>
  value === Number.MAX_SAFE_INTEGER ? "2⁵³ − 1" : value.toLocaleString("en-US")
