/**
 * An OpenAPI 3.1 document as this service writes it: the parts that it uses, its schemas and its examples.
 */
import { Result, Schema, SchemaAST } from "effect"
import { otherFieldsOf, wireOf } from "../contract/InputSchemas.ts"
import { allEndpoints } from "./Api.ts"

export type Json = Schema.Json

export interface JsonSchema {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: ReadonlyArray<Json>
  readonly default?: Json
  readonly examples?: ReadonlyArray<Json>
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
}

export interface Reference {
  readonly $ref: string
}

export interface Parameter {
  readonly name: string
  readonly in: "query" | "header" | "path"
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: Json
}

export interface Header {
  readonly description: string
  readonly schema: JsonSchema
}

export interface MediaType {
  readonly schema: JsonSchema
  readonly example?: Json
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Json }>>
}

export type Content = Readonly<Record<string, MediaType>>

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content: Content
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
  /** Roles whose keys are accepted. Empty: no key is required. */
  readonly "x-roles": ReadonlyArray<string>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

export type SecurityScheme = { readonly description: string } & (
  | { readonly type: "http"; readonly scheme: "bearer"; readonly bearerFormat: string }
  | { readonly type: "apiKey"; readonly in: "header"; readonly name: string }
)

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: { readonly name: string; readonly url: string }
  }
  readonly externalDocs: { readonly url: string; readonly description: string }
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly security: ReadonlyArray<never>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}

/** The last part of `#/components/…/Name`. */
export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

export const responseOf = (document: OpenApiDocument, response: Response | Reference): Response =>
  "$ref" in response ? document.components.responses[nameOfRef(response.$ref)]! : response

export interface Located {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export const operationsOf = (document: OpenApiDocument): ReadonlyArray<Located> =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
  )

// Simplifies Effect's JSON Schema for readers and code generators without changing its meaning, and closes the bodies of
// requests: unknown fields are rejected there, while responses may get new fields.

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

/** Client generators read an object without listed fields as empty, unless it is marked. */
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

// An example of a body: the one that its schema is annotated with, else one composed from the examples of its fields.

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
