/**
 * Every object of a request body in the OpenAPI document: its path and the names of its fields.
 */
import { type JsonSchema, nameOfRef, type OpenApiDocument } from "../../../adapters/http/openapi/OpenApiModel.ts"

type Path = ReadonlyArray<string | 0>

export interface BodyObject {
  /** `0` is the first item of an array. */
  readonly path: Path
  readonly fields: ReadonlyArray<string>
  readonly isClosed: boolean
}

export const objectsOfBody = (document: OpenApiDocument, path: string, method: string): ReadonlyArray<BodyObject> => {
  const operation = document.paths[path.replaceAll(/:(\w+)/gu, "{$1}")]?.[method.toLowerCase()]
  const schema = operation?.requestBody?.content["application/json"]?.schema
  return schema === undefined ? [] : objectsIn(document, schema, [])
}

const objectsIn = (document: OpenApiDocument, schema: JsonSchema, path: Path): ReadonlyArray<BodyObject> => {
  if (schema.$ref !== undefined) {
    return objectsIn(document, document.components.schemas[nameOfRef(schema.$ref)]!, path)
  }
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const fields = Object.entries(schema.properties ?? {})
  const own =
    schema.type === "object"
      ? [{ path, fields: fields.map(([name]) => name), isClosed: schema.additionalProperties === false }]
      : []
  return [
    ...own,
    ...choices.flatMap((choice) => objectsIn(document, choice, path)),
    ...fields.flatMap(([name, inner]) => objectsIn(document, inner, [...path, name])),
    ...(schema.items === undefined ? [] : objectsIn(document, schema.items, [...path, 0]))
  ]
}

/** A body with this value at that path and nothing else. */
export const bodyWith = (path: Path, value: unknown): unknown => {
  const [first, ...others] = path
  if (first === undefined) return value
  return first === 0 ? [bodyWith(others, value)] : { [first]: bodyWith(others, value) }
}
