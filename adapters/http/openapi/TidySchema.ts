/**
 * Simplifies Effect's JSON Schema for readers and code generators without changing its meaning, and closes the bodies of
 * requests: unknown fields are rejected there, while responses may get new fields.
 */
import { SchemaAST } from "effect"
import { allEndpoints } from "./Api.ts"
import { otherFieldsOf, wireOf } from "../contract/OtherFields.ts"
import type { JsonSchema } from "./OpenApiModel.ts"

/** The only response with exactly the listed fields. */
const CLOSED_ANSWER = "Receipt"

export const tidyComponent = (name: string, schema: JsonSchema): JsonSchema => {
  const { properties = {}, ...rest } = tidy(schema, name === CLOSED_ANSWER || closedBodies().has(name))
  if (name !== CLOSED_ANSWER) return Object.keys(properties).length === 0 ? rest : { ...rest, properties }
  return { ...rest, properties: mapValues(properties, withoutMaximum) }
}

/** The receipt's schema is that of every issuer. */
const withoutMaximum = ({ anyOf, maximum: _, ...rest }: JsonSchema): JsonSchema => ({
  ...rest,
  ...(anyOf === undefined ? {} : { anyOf: anyOf.map(withoutMaximum) })
})

let known: ReadonlySet<string> | undefined

/** Request bodies and their parts, except those that take other fields. */
const closedBodies = (): ReadonlySet<string> =>
  (known ??= new Set(allEndpoints().flatMap(({ payload }) => (payload === undefined ? [] : closedNames(payload.ast)))))

const closedNames = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const wire = wireOf(ast)
  if (SchemaAST.isUnion(wire)) return wire.types.flatMap(closedNames)
  if (SchemaAST.isArrays(wire)) return wire.rest.flatMap(closedNames)
  if (!SchemaAST.isObjects(wire)) return []
  const name = SchemaAST.resolveIdentifier(ast)
  const inner = wire.propertySignatures.flatMap(({ type }) => closedNames(type))
  return name === undefined || otherFieldsOf(ast) !== undefined ? inner : [name, ...inner]
}

export const tidy = (schema: JsonSchema, closed: boolean): JsonSchema => {
  const { additionalProperties, properties, items, anyOf, allOf, ...rest } = schema as Annotated
  const inner = (child: JsonSchema) => tidy(child, closed)
  const own: JsonSchema = {
    ...rest,
    ...(properties === undefined ? {} : { properties: mapValues(properties, inner) }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(inner) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: inner(additionalProperties) } : {}),
    ...(additionalProperties === false && closed
      ? { additionalProperties }
      : isFreeForm(schema)
        ? { additionalProperties: true }
        : {})
  }
  return integerOfQuery(withoutSafeBounds(onlyChoice(absorb(own, (allOf ?? []).map(inner)))))
}

/** Explicit, because client generators read an object without listed fields as empty. */
const isFreeForm = ({ additionalProperties, properties, type }: JsonSchema): boolean =>
  type === "object" && properties === undefined && typeof additionalProperties !== "object"

/** Annotated in `InputSchemas.ts`: digits in a query are an integer to a client. */
interface Annotated extends JsonSchema {
  readonly "x-integer"?: { readonly minimum: number; readonly maximum?: number; readonly default?: number }
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, f: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))

/** Merges the parts of `allOf`, unless they contradict. A field's description and example replace those of its type. */
const absorb = (schema: JsonSchema, parts: ReadonlyArray<JsonSchema>): JsonSchema =>
  parts.reduce<JsonSchema>(
    (whole, part) =>
      isAnnotation(part) ||
      Object.keys(part).every((key) => !Object.hasOwn(whole, key) && (key !== "$ref" || isAnnotation(whole)))
        ? { ...whole, ...part }
        : { ...whole, allOf: [...(whole.allOf ?? []), part] },
    schema
  )

const isAnnotation = (schema: JsonSchema): boolean =>
  Object.keys(schema).every((key) => key === "description" || key === "examples")

const onlyChoice = (schema: JsonSchema): JsonSchema => {
  const { anyOf, ...rest } = schema
  return anyOf?.length === 1 ? absorb(rest, [anyOf[0]!]) : schema
}

/** The bounds of every JSON integer. */
const withoutSafeBounds = (schema: JsonSchema): JsonSchema => {
  const { minimum, maximum, ...rest } = schema
  return minimum === Number.MIN_SAFE_INTEGER && maximum === Number.MAX_SAFE_INTEGER ? rest : schema
}

const integerOfQuery = (schema: Annotated): JsonSchema => {
  const { "x-integer": integer, type: _type, pattern: _pattern, examples, ...rest } = schema
  if (integer === undefined || schema.type === undefined) return schema
  return { type: "integer", ...integer, ...rest, ...(examples && { examples: examples.map(Number) }) }
}
