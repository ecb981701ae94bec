/**
 * Tables of fields and parameters. Nested fields are listed by path.
 */
import { type JsonSchema, nameOfRef, type OpenApiDocument, type Parameter } from "../../http/openapi/OpenApiModel.ts"
import { responsiveTable } from "../kit/Elements.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { limitsOf, typeOf } from "./TypeLabel.ts"

interface Field {
  readonly name: string
  readonly required: boolean
  readonly note?: string
  readonly schema: JsonSchema
  readonly description: string
}

type Components = OpenApiDocument["components"]["schemas"]

const DEPTH_MAX = 4

/** One table, or one per variant of the body. */
export const fieldTables = (
  caption: string,
  schema: JsonSchema,
  components: Components,
  showRequired: boolean
): ReadonlyArray<Html> => {
  const variants = schema.anyOf ?? [schema]
  return variants.map((variant, index) => {
    const fields = fieldsOf(variant, components, "", 0)
    const meaning = resolve(variant, components).description ?? ""
    const title = variants.length === 1 ? caption : `${caption}, ${index === 0 ? "either" : "or"}: ${meaning}`
    return fields.length === 0
      ? html`<p class="whatever"><strong>${title}</strong> ${typeOf(variant, components)}</p>`
      : table(title, fields, components, showRequired)
  })
}

export const parameterTable = (parameters: ReadonlyArray<Parameter>, components: Components): Html =>
  table(
    "Parameters",
    parameters.map(({ name, required, schema, description, in: place }) => ({
      name,
      required,
      schema,
      description,
      note: place
    })),
    components,
    true
  )

const fieldsOf = (given: JsonSchema, components: Components, prefix: string, depth: number): ReadonlyArray<Field> => {
  const schema = resolve(given, components)
  if (depth > DEPTH_MAX) return []
  if (schema.type === "array" && schema.items !== undefined)
    return fieldsOf(schema.items, components, `${prefix}[]`, depth)
  const choices = schema.anyOf?.filter((choice) => choice.type !== "null")
  if (choices !== undefined) return distinct(choices.flatMap((choice) => fieldsOf(choice, components, prefix, depth)))
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`
    const field: Field = {
      name,
      required: schema.required?.includes(key) === true,
      schema: property,
      description: property.description ?? resolve(property, components).description ?? ""
    }
    return [field, ...fieldsOf(property, components, name, depth + 1)]
  })
}

const distinct = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> =>
  fields.filter((field, index) => fields.findIndex((other) => other.name === field.name) === index)

const resolve = (schema: JsonSchema, components: Components): JsonSchema =>
  schema.$ref === undefined ? schema : (components[nameOfRef(schema.$ref)] ?? {})

const table = (caption: string, fields: ReadonlyArray<Field>, components: Components, showRequired: boolean): Html =>
  responsiveTable(
    "fields",
    caption,
    ["Field", "Description"],
    fields.map((field) => ({
      header: html`<code>${breakable(field.name)}</code>${
          showRequired && field.required ? html` <span class="required">required</span>` : ""
        } <span class="type">${prose(kindOf(field, components))}</span>`,
      cell: prose(field.description)
    }))
  )

const kindOf = ({ note, schema }: Field, components: Components): string =>
  [...(note === undefined ? [] : [note]), typeOf(schema, components), ...limitsOf(schema, components)].join(" · ")
