/**
 * An example of a body: the one that its schema carries, else one composed from the vocabulary.
 */
import { Result, Schema } from "effect"
import { type Json, type JsonSchema, nameOfRef } from "./OpenApiModel.ts"
import { exampleFor, scopedExample } from "./Vocabulary.ts"

type Components = Readonly<Record<string, JsonSchema>>

/** Stands where nothing better is known; a test sees to it that it never does. */
export const PLACEHOLDER = "(example)"

/** Annotated examples are values as the code holds them; here they take the form that they have on the wire. */
export const annotatedExample = (schema: Schema.Top): Json | undefined => {
  const examples = Schema.resolveAnnotations(schema)?.["examples"]
  if (!Array.isArray(examples) || examples.length === 0) return undefined
  const encoded = Schema.encodeUnknownResult(schema as Schema.Top & { readonly EncodingServices: never })(examples[0])
  // Some are written as they are on the wire.
  return (Result.isSuccess(encoded) ? encoded.success : examples[0]) as Json
}

export const composedExample = (schema: JsonSchema, components: Components, owner: string, name = ""): Json => {
  const given = schema.examples === undefined ? exampleFor(owner, name) : schema.examples[0]
  if (given !== undefined && fits(given, schema)) return given
  if (schema.enum !== undefined) return schema.enum[0]!
  if (schema.$ref !== undefined) {
    const target = nameOfRef(schema.$ref)
    return composedExample(components[target]!, components, target)
  }
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice !== undefined) return composedExample(choice, components, owner, name)
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => schema.required?.includes(key) === true || scopedExample(owner, key) !== undefined)
          .map(([key, property]) => [key, composedExample(property, components, owner, key)])
      )
    case "array":
      return schema.items === undefined ? [] : [composedExample(schema.items, components, owner, name)]
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, 1)
    case "boolean":
      return true
    case "null":
      return null
    default:
      return someText(schema)
  }
}

const UUID = "0193fa02-3b4c-7d5e-8f60-718293a4b5c6"
const LIKELY = [UUID, "2026-11-20T09:30:00.000Z", "0"]

/** The shape is enough for an id or an instant; any other text needs a word of its own. */
const someText = ({ format, pattern }: JsonSchema): string => {
  if (format === "date-time") return LIKELY[1]!
  if (pattern === undefined) return PLACEHOLDER
  const shape = new RegExp(pattern, "u")
  return LIKELY.find((text) => shape.test(text)) ?? PLACEHOLDER
}

/** Of the right kind at the top: what lies deeper is checked by validating the whole example. */
const fits = (value: Json, schema: JsonSchema): boolean => {
  if (schema.anyOf !== undefined) return schema.anyOf.some((choice) => fits(value, choice))
  if (schema.enum !== undefined) return schema.enum.includes(value)
  if (schema.$ref !== undefined) return typeof value === "object" && value !== null
  switch (schema.type) {
    case undefined:
      return true
    case "integer":
      return Number.isInteger(value)
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return (
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        (schema.required ?? []).every((key) => Object.hasOwn(value, key))
      )
    case "string":
      return typeof value === "string" && (schema.pattern === undefined || new RegExp(schema.pattern, "u").test(value))
    default:
      return typeof value === schema.type
  }
}
