/**
 * The response to a GET of an endpoint that takes a POST: its description.
 */
import { Effect, Schema } from "effect"
import { allEndpoints } from "../api/Endpoints.ts"

/** The input of the POST as JSON Schema, generated from the schema that decodes it. */
export const describe = (path: string) => {
  const found = allEndpoints().find((endpoint) => endpoint.method === "POST" && endpoint.path === path)
  if (found?.payload === undefined) return Effect.die(new Error(`${path} has no body to describe`))
  const document = Schema.toJsonSchemaDocument(found.payload)
  return Effect.succeed({
    status: 200,
    body: {
      endpoint: path,
      method: "POST",
      description: found.description,
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        ...document.schema,
        $defs: document.definitions
      }
    }
  })
}
