/**
 * What a GET answers at an endpoint that takes a POST: how to use it, with the JSON Schema of the body.
 */
import { Schema } from "effect"
import { publicRead } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Field from "./Field.ts"

export const SelfDescription = Field.object("SelfDescription", "How to use an endpoint, with the schema of its body.", {
  endpoint: Field.string("Path of the endpoint.", "/api/market/register-consumer"),
  method: Field.string("HTTP method of the endpoint.", "POST"),
  description: Field.string("What the endpoint does.", "Register a consumer"),
  schema: Field.of(Schema.Record(Schema.String, Schema.Unknown), "JSON Schema of the request body.", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { email: { type: "string" } },
    required: ["email"]
  })
})

export const describing = <const I extends string>(identifier: I, path: `/${string}`) =>
  Endpoint.get(identifier, path, {
    access: publicRead,
    summary: `Describe POST ${path}`,
    description: `Returns what POST ${path} does and the JSON Schema of its request body.`,
    success: SelfDescription
  })
