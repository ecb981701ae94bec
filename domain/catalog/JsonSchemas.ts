/**
 * Port to JSON Schema: whether a schema is valid, and whether a value matches it. Schemas are untrusted, so an adapter
 * bounds their size and depth, follows no remote reference, and bounds the time of a check.
 */
import { Context, type Effect, Schema } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { JsonSchemaObject } from "./Tool.ts"

export const JSON_SCHEMA_BYTES_MAX = 65_536
export const JSON_SCHEMA_DEPTH_MAX = 64

/** The schema of a tool is not one, refers to something outside of it, or is too large or too deep. */
export class InvalidJsonSchema extends Schema.TaggedError<InvalidJsonSchema>()("InvalidJsonSchema", {
  problem: Schema.String
}) {
  override get message() {
    return `is not a valid JSON Schema: ${this.problem}`
  }
}

/** Work on schemas takes CPU time from all calls: each provider has a budget, and so has the process. */
export class SchemaBudgetSpent extends Schema.TaggedError<SchemaBudgetSpent>()("SchemaBudgetSpent", {
  of: Schema.Literals(["provider", "process"]),
  waitMs: Schema.Number
}) {
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.waitMs / 1_000))
  }
  override get message() {
    const whose = this.of === "provider" ? "of this tool's provider" : "of all tools"
    return `The CPU budget for the schemas ${whose} is used up on this node. Nothing was charged. Retry after ${this.retryAfterSeconds} seconds.`
  }
}

/** Whose budget pays for the work, and whether a consumer or the provider sent the value. */
export interface SchemaUse {
  readonly providerId: ProviderId
  readonly of: "input" | "output"
}

/** One place where a value does not match its schema. */
export interface SchemaViolation {
  /** Path in the value, outermost first. */
  readonly path: ReadonlyArray<string>
  readonly message: string
}

export class JsonSchemas extends Context.Service<
  JsonSchemas,
  {
    check(schema: JsonSchemaObject, providerId: ProviderId): Effect.Effect<void, InvalidJsonSchema | SchemaBudgetSpent>
    /** Empty if the value matches. The schema has passed `check`; it is compiled once and cached, bounded. */
    violations(
      schema: JsonSchemaObject,
      value: unknown,
      use: SchemaUse
    ): Effect.Effect<ReadonlyArray<SchemaViolation>, SchemaBudgetSpent>
  }
>()("agent-tool-billing/domain/catalog/JsonSchemas") {}
