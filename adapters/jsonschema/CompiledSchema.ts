/**
 * A schema made into a function by Ajv, and the bound on what a check by it can cost.
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

/** Measured: what a compiled schema takes for each character of its text, beside what each takes at least. */
const BYTES_PER_CHAR = 32
const BYTES_MIN = 16_384

export interface CompiledSchema {
  readonly cost: SchemaCost
  /** Of memory, about. */
  readonly bytes: number
  violations(value: unknown): ReadonlyArray<SchemaViolation>
}

/** `format` only describes, as draft 2020-12 has it; unknown keywords are ignored; only own properties count. */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  unicodeRegExp: true,
  logger: false
}

/** Takes several times as long as compiling itself. */
const UNOPTIMIZED = { optimize: false } as const

const DRAFTS: Readonly<Record<Draft, new (options: Options) => Ajv | Ajv2020>> = { "2020-12": Ajv2020, "draft-07": Ajv }

const RULES: Partial<Record<Draft, Ajv | Ajv2020>> = {}

/** Does it fit the rules of its draft? Undefined if so. */
export const draftProblem = (schema: JsonSchemaObject): string | undefined => {
  const draft = draftOf(schema)!
  const ajv = (RULES[draft] ??= new DRAFTS[draft]({ ...OPTIONS, allErrors: false, code: UNOPTIMIZED }))
  const { $schema: _, ...unnamed } = schema
  return ajv.validateSchema(unnamed) === true ? undefined : shortened(ajv.errorsText(ajv.errors, { dataVar: "schema" }))
}

/**
 * Throws where Ajv cannot make sense of it. In an Ajv of its own, which knows nothing else: what the schema refers to must
 * stand in it, two strangers' schemas cannot meet, and all of it is forgotten together.
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
    // Only for schemas that are written to a file as code, which these are not.
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

/** What Ajv says of a schema that it cannot compile, for the person who wrote it. */
export const compileProblem = (cause: unknown): string => {
  if (isStackOverflow(cause)) return "it refers to itself without end"
  if (cause instanceof Error && "missingRef" in cause && typeof cause.missingRef === "string") {
    return `${shortened(cause.missingRef)} is not inside the schema, and references to the outside are not followed`
  }
  return cause instanceof Error ? shortened(cause.message) : "it cannot be compiled"
}

const toViolation = ({ instancePath, message, params }: ErrorObject): SchemaViolation => {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  // The field at fault is the one that is missing or too much, not the object around it.
  const field: unknown = params["missingProperty"] ?? params["additionalProperty"] ?? params["unevaluatedProperty"]
  return { path: typeof field === "string" ? [...path, field] : path, message: message ?? "does not fit the schema" }
}

const shortened = (text: string): string =>
  text.length <= PROBLEM_CHARS_MAX ? text : `${text.slice(0, PROBLEM_CHARS_MAX)}…`
