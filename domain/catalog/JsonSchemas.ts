/**
 * Port to JSON Schema: whether a schema is valid, and whether a value matches it. Schemas are untrusted, so an adapter
 * bounds their size and depth, follows no remote reference, and bounds the time of a check.
 */
import { Context, type Effect, Schema } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import { inSeconds } from "../shared/Time.ts"
import type { JsonSchemaObject } from "./Tool.ts"

export const JSON_SCHEMA_BYTES_MAX = 65_536
export const JSON_SCHEMA_DEPTH_MAX = 64
/** JSON values in a schema: they determine the cost of compiling more than bytes do. */
export const JSON_SCHEMA_PARTS_MAX = 4_000

/** CPU time for checking registered schemas, before more is available only as a share of the time. */
export const SCHEMA_CHECKS_CPU_MS_MAX = { provider: 5_000, process: 10_000 } as const

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
    return `The CPU budget for the schemas ${whose} is used up on this node. Nothing was charged. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

/** A request brings more schemas than can be checked now. */
export class SchemaChecksLimited extends Schema.TaggedError<SchemaChecksLimited>()("SchemaChecksLimited", {
  of: Schema.Literals(["provider", "process"]),
  waitMs: Schema.Number
}) {
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.waitMs / 1_000))
  }
  override get message() {
    const whose = this.of === "provider" ? "your account's" : "all accounts'"
    return `The CPU budget for checking ${whose} schemas is used up on this node. Nothing was changed. Send the same request again in ${inSeconds(this.retryAfterSeconds)}: schemas that were checked are not checked again.`
  }
}

/** The owner of the budget that pays for the work, and the sender of the value: a consumer or the provider. */
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
    /** Checks a schema that is registered. Its compilation may take long, but blocks no other work. */
    check(schema: JsonSchemaObject, providerId: ProviderId): Effect.Effect<void, InvalidJsonSchema | SchemaBudgetSpent>
    /**
     * Returns what is not checked of a stored schema that `check` would reject now, and why: a sentence for each.
     * Patterns are checked only if they run in linear time.
     */
    unchecked(schema: JsonSchemaObject, providerId: ProviderId): Effect.Effect<ReadonlyArray<string>, SchemaBudgetSpent>
    /** Empty if the value matches. The schema passed `check` once; it is compiled and cached, bounded. */
    violations(
      schema: JsonSchemaObject,
      value: unknown,
      use: SchemaUse
    ): Effect.Effect<ReadonlyArray<SchemaViolation>, SchemaBudgetSpent>
  }
>()("agent-tool-billing/domain/catalog/JsonSchemas") {}
