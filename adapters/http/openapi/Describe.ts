/**
 * Puts the vocabulary's descriptions where the contract gives none.
 */
import type { JsonSchema } from "./OpenApiModel.ts"
import { descriptionFor, meaningOf } from "./Vocabulary.ts"

export const describeComponent = (name: string, schema: JsonSchema): JsonSchema => {
  const description = schema.description ?? meaningOf(name)
  return { ...(description === undefined ? {} : { description }), ...describeFields(schema, name) }
}

const describeFields = (schema: JsonSchema, owner: string): JsonSchema => ({
  ...schema,
  ...(schema.properties === undefined
    ? {}
    : {
        properties: Object.fromEntries(
          Object.entries(schema.properties).map(([name, property]) => {
            const description = property.description ?? descriptionFor(owner, name)
            return [name, { ...describeFields(property, owner), ...(description === undefined ? {} : { description }) }]
          })
        )
      }),
  ...(schema.items === undefined ? {} : { items: describeFields(schema.items, owner) }),
  ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map((choice) => describeFields(choice, owner)) })
})
