/**
 * What a GET answers at an endpoint that takes a POST: how to use it, with the JSON Schema of the body.
 */
import { Schema } from "effect"

export const SelfDescription = Schema.Struct({
  endpoint: Schema.String,
  method: Schema.String,
  description: Schema.String,
  schema: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "SelfDescription" })
