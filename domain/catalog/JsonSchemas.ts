/**
 * The port to JSON Schema: is this a schema at all, and does a value fit it. Schemas come from strangers, so an adapter
 * bounds their size and depth, follows no remote reference, and bounds the time of a check.
 */
import { Context, type Effect, Schema } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
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

/** Work on schemas takes processor time from everybody: a provider has so much of it, and so has the process. */
export class SchemaBudgetSpent extends Schema.TaggedError<SchemaBudgetSpent>()("SchemaBudgetSpent", {
  of: Schema.Literals(["provider", "process"]),
  waitMs: Schema.Number
}) {
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.waitMs / 1_000))
  }
  override get message() {
    const whose = this.of === "provider" ? "of this tool's provider have" : "of all tools have"
    return `The schemas ${whose} used up their processing time on this node. Nothing was charged. Retry after ${this.retryAfterSeconds} s.`
  }
}

/** Who pays for the work with its budget, and whether consumers or the provider sent the value. */
export interface SchemaUse {
  readonly providerId: ProviderId
  readonly of: "input" | "output"
}

export interface SchemaViolation {
  /** Path into the value, outermost first. */
  readonly path: ReadonlyArray<string>
  readonly message: string
}

export class JsonSchemas extends Context.Service<
  JsonSchemas,
  {
    check(schema: JsonSchemaObject, providerId: ProviderId): Effect.Effect<void, InvalidJsonSchema | SchemaBudgetSpent>
    /** Empty if the value fits. The schema has passed `check`; it is compiled once and kept, bounded. */
    violations(
      schema: JsonSchemaObject,
      value: unknown,
      use: SchemaUse
    ): Effect.Effect<ReadonlyArray<SchemaViolation>, SchemaBudgetSpent>
  }
>()("agent-tool-billing/domain/catalog/JsonSchemas") {}
