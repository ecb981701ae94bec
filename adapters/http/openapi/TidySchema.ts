/**
 * JSON Schema as Effect writes it, made plainer for readers and code generators without meaning anything else, and said
 * as the service behaves: fields that the contract does not know are rejected on the way in, and may be added on the way out.
 */
import { SchemaAST } from "effect"
import { allEndpoints } from "../api/Endpoints.ts"
import { otherFieldsOf, wireOf } from "../api/OtherFields.ts"
import type { JsonSchema } from "./OpenApiModel.ts"

/** Of what is answered the only one that carries exactly the fields listed. */
const CLOSED_ANSWER = "Receipt"

export const tidyComponent = (name: string, schema: JsonSchema): JsonSchema =>
  tidy(schema, name === CLOSED_ANSWER || closedBodies().has(name))

let known: ReadonlySet<string> | undefined

/** Bodies that are sent, and what they are made of, but where other fields are taken. */
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

/** Said, and not left out: generators of typed clients take an object that names no fields for one that has none. */
const isFreeForm = ({ additionalProperties, properties, type }: JsonSchema): boolean =>
  type === "object" && properties === undefined && typeof additionalProperties !== "object"

/** As `Fields.ts` notes it down: digits in a query are an integer to a client. */
interface Annotated extends JsonSchema {
  readonly "x-integer"?: { readonly minimum: number; readonly maximum?: number; readonly default?: number }
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, f: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))

/** Takes in what `allOf` adds, where it says nothing twice. */
const absorb = (schema: JsonSchema, parts: ReadonlyArray<JsonSchema>): JsonSchema => {
  const merged = parts.reduce<Record<string, unknown>>(
    (whole, part) =>
      Object.keys(part).some((key) => Object.hasOwn(whole, key) || key === "$ref")
        ? { ...whole, allOf: [...((whole["allOf"] as ReadonlyArray<JsonSchema> | undefined) ?? []), part] }
        : { ...whole, ...part },
    { ...schema }
  )
  return merged as JsonSchema
}

const onlyChoice = (schema: JsonSchema): JsonSchema => {
  const { anyOf, ...rest } = schema
  return anyOf?.length === 1 ? absorb(rest, [anyOf[0]!]) : schema
}

/** Both bounds of every integer in JSON: they tell nothing. */
const withoutSafeBounds = (schema: JsonSchema): JsonSchema => {
  const { minimum, maximum, ...rest } = schema
  return minimum === Number.MIN_SAFE_INTEGER && maximum === Number.MAX_SAFE_INTEGER ? rest : schema
}

const integerOfQuery = (schema: Annotated): JsonSchema => {
  const { "x-integer": integer, type: _type, pattern: _pattern, ...rest } = schema
  return integer === undefined || schema.type === undefined ? schema : { type: "integer", ...integer, ...rest }
}
