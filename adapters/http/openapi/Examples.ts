/**
 * An example of a body: the one that its schema is annotated with, else one composed from the examples of its fields.
 */
import { Result, Schema } from "effect"
import { type Json, type JsonSchema, nameOfRef } from "./OpenApiModel.ts"

type Components = Readonly<Record<string, JsonSchema>>

/** Stands for text without an example; a test rejects it. */
export const PLACEHOLDER = "(example)"

/** The annotated example in its wire form. */
export const annotatedExample = (schema: Schema.Top): Json | undefined => {
  const examples = Schema.resolveAnnotations(schema)?.["examples"]
  if (!Array.isArray(examples) || examples.length === 0) return undefined
  const encoded = Schema.encodeUnknownResult(schema as Schema.Top & { readonly EncodingServices: never })(examples[0])
  // Some are annotated in their wire form.
  return (Result.isSuccess(encoded) ? encoded.success : examples[0]) as Json
}

export const composedExample = (schema: JsonSchema, components: Components): Json => {
  if (schema.examples !== undefined) return schema.examples[0]!
  if (schema.enum !== undefined) return schema.enum[0]!
  if (schema.$ref !== undefined) return composedExample(components[nameOfRef(schema.$ref)]!, components)
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice !== undefined) return composedExample(choice, components)
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => schema.required?.includes(key))
          .map(([key, property]) => [key, composedExample(property, components)])
      )
    case "array":
      return schema.items === undefined ? [] : [composedExample(schema.items, components)]
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, 1)
    case "boolean":
      return true
    case "null":
      return null
    default:
      return PLACEHOLDER
  }
}
