/**
 * The port to JSON Schema: is this a schema at all, and does a value fit it. Schemas come from strangers, so an adapter
 * bounds their size and depth, follows no remote reference, and bounds the time of a check.
 */
import { Context, type Effect, Schema } from "effect"
import type { JsonSchemaObject } from "./Tool.ts"

export const JSON_SCHEMA_BYTES_MAX = 65_536
export const JSON_SCHEMA_DEPTH_MAX = 64

export class InvalidJsonSchema extends Schema.TaggedError<InvalidJsonSchema>()("InvalidJsonSchema", {
  problem: Schema.String
}) {
  override get message() {
    return `is not a usable JSON Schema: ${this.problem}`
  }
}

export interface SchemaViolation {
  /** Path into the value, outermost first. */
  readonly path: ReadonlyArray<string>
  readonly message: string
}

export class JsonSchemas extends Context.Service<
  JsonSchemas,
  {
    check(schema: JsonSchemaObject): Effect.Effect<void, InvalidJsonSchema>
    /** Empty if the value fits. The schema has passed `check`; it is compiled once and kept, bounded. */
    violations(schema: JsonSchemaObject, value: unknown): Effect.Effect<ReadonlyArray<SchemaViolation>>
  }
>()("agent-tool-billing/domain/catalog/JsonSchemas") {}
