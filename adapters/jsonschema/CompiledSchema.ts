/**
 * A schema compiled to a function by Ajv, and an upper bound for the cost of a check.
 */
import { Ajv, type AnySchema, type ErrorObject, type Options } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import type { SchemaViolation } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import { costOf } from "./PatternCost.ts"
import { engineOf, LINEAR_ENGINE_BYTES, type PatternEngine } from "./PatternEngine.ts"
import { costOfSchema, type SchemaCost } from "./SchemaCost.ts"
import { type Draft, draftOf } from "./SchemaText.ts"
import { isStackOverflow } from "./Watchdog.ts"

const VIOLATIONS_MAX = 100
const PROBLEM_CHARS_MAX = 500

/** Measured memory of a compiled schema per character, in addition to a minimum. */
const BYTES_PER_CHAR = 32
const BYTES_MIN = 16_384

export interface CompiledSchema {
  readonly cost: SchemaCost
  /** Approximate memory. */
  readonly bytes: number
  violations(value: unknown): ReadonlyArray<SchemaViolation>
}

/** `format` is only an annotation, as in draft 2020-12; unknown keywords are ignored; only own properties count. */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  unicodeRegExp: true,
  logger: false
}

/** Takes several times as long as compiling. */
const UNOPTIMIZED = { optimize: false } as const

const DRAFTS: Readonly<Record<Draft, new (options: Options) => Ajv | Ajv2020>> = { "2020-12": Ajv2020, "draft-07": Ajv }

const RULES: Partial<Record<Draft, Ajv | Ajv2020>> = {}

/** Whether the schema follows the rules of its draft. Undefined if it does. */
export const draftProblem = (schema: JsonSchemaObject): string | undefined => {
  const draft = draftOf(schema)!
  const ajv = (RULES[draft] ??= new DRAFTS[draft]({ ...OPTIONS, allErrors: false, code: UNOPTIMIZED }))
  const { $schema: _, ...unnamed } = schema
  return ajv.validateSchema(unnamed) === true ? undefined : shortened(ajv.errorsText(ajv.errors, { dataVar: "schema" }))
}

/**
 * Throws if Ajv cannot compile it. Each schema has its own Ajv: references must stay inside the schema, two schemas
 * cannot collide, and all of it is released together.
 */
export const compile = (schema: JsonSchemaObject, textLength: number): CompiledSchema => {
  const engines = new Map<string, PatternEngine>()
  const engine = (pattern: string): PatternEngine => {
    const known = engines.get(pattern)
    if (known !== undefined) return known
    const made = engineOf(pattern)
    engines.set(pattern, made)
    return made
  }
  const regExp = Object.assign(
    (pattern: string) => ({ test: engine(pattern).test, toString: () => `/${pattern}/u` }),
    // Only for schemas that are written to a file as code.
    { code: "" }
  )
  const ajv = new DRAFTS[draftOf(schema)!]({
    ...OPTIONS,
    meta: false,
    validateSchema: false,
    code: { ...UNOPTIMIZED, regExp }
  })
  const validate = ajv.compile(schema as AnySchema)
  const linear = [...engines.values()].filter(({ kind }) => kind === "linear").length
  return {
    cost: costOfSchema(schema, (pattern) => engines.get(pattern)?.cost ?? costOf(pattern)),
    bytes: BYTES_MIN + BYTES_PER_CHAR * textLength + 2 * LINEAR_ENGINE_BYTES * linear,
    violations: (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, VIOLATIONS_MAX).map(toViolation))
  }
}

/** Ajv's message about a schema that it cannot compile, for its author. */
export const compileProblem = (cause: unknown): string => {
  if (isStackOverflow(cause)) return "it refers to itself endlessly"
  if (cause instanceof Error && "missingRef" in cause && typeof cause.missingRef === "string") {
    return `${shortened(cause.missingRef)} is not inside the schema, and external references are not supported`
  }
  return cause instanceof Error ? shortened(cause.message) : "it cannot be compiled"
}

const toViolation = ({ instancePath, message, params }: ErrorObject): SchemaViolation => {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  // Report the field that is missing or unexpected, not the object around it.
  const field: unknown = params["missingProperty"] ?? params["additionalProperty"] ?? params["unevaluatedProperty"]
  return { path: typeof field === "string" ? [...path, field] : path, message: message ?? "does not match the schema" }
}

const shortened = (text: string): string =>
  text.length <= PROBLEM_CHARS_MAX ? text : `${text.slice(0, PROBLEM_CHARS_MAX)}…`
