/**
 * The response to a GET of an endpoint that takes a POST: its description, with its input as JSON Schema, generated from the schema
 * that decodes it.
 */
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Context, Effect, Schema } from "effect"

export const describe = (endpoint: Pick<HttpApiEndpoint.Top, "annotations" | "path" | "payload">) => {
  const payload = endpoint.payload.get("application/json")?.schemas[0]
  if (payload === undefined) return Effect.die(new Error(`${endpoint.path} has no body to describe`))
  const document = Schema.toJsonSchemaDocument(payload)
  const summary = Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => "")
  return Effect.succeed({
    endpoint: endpoint.path,
    method: "POST",
    description: Context.getOrElse(endpoint.annotations, OpenApi.Description, () => summary),
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...document.schema,
      $defs: document.definitions
    }
  })
}
