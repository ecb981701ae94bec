/**
 * A schema compiled to a function by Ajv, and an upper bound for the cost of a check. Patterns that are not known to run in
 * linear time are not checked. Worker threads load this file, so it imports nothing large but Ajv.
 */
import { Ajv, type AnySchema, type ErrorObject, type Options } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { createContext, Script } from "node:vm"
import type { SchemaViolation } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import { linearPattern, PatternFault } from "./LinearPattern.ts"
import { costOfSchema, type SchemaCost } from "./SchemaCost.ts"

const VIOLATIONS_MAX = 100
const PROBLEM_CHARS_MAX = 500
const PATTERN_SHOWN_CHARS_MAX = 200

/** Steps of about 100 ns. Parsing takes 40 to 700 ns per character; V8 looks up all characters that have a property. */
const WORK_PER_CHAR = 3
const WORK_PER_PROPERTY = 300
const WORK_PER_FAULT = 1_000
const PROPERTY = /\\p/giu

/** Measured memory of a compiled schema per character, in addition to a minimum. */
const BYTES_PER_CHAR = 32
const BYTES_MIN = 16_384

export interface CompiledSchema {
  readonly cost: SchemaCost
  /** Approximate memory. */
  readonly bytes: number
  /** The reasons why patterns, or the whole schema, are not checked: a sentence for each, for the tool's provider. */
  readonly unchecked: ReadonlyArray<string>
  violations(value: unknown): ReadonlyArray<SchemaViolation>
}

type Draft = "2020-12" | "draft-07"

const DRAFTS: ReadonlyMap<string, Draft> = new Map([
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
  ["json-schema.org/draft-07/schema", "draft-07"]
])

export const draftOf = ({ $schema }: JsonSchemaObject): Draft | undefined => {
  if ($schema === undefined) return "2020-12"
  if (typeof $schema !== "string") return undefined
  return DRAFTS.get($schema.replace(/^https?:\/\//u, "").replace(/#$/u, ""))
}

const VALIDATORS: Readonly<Record<Draft, new (options: Options) => Ajv | Ajv2020>> = {
  "2020-12": Ajv2020,
  "draft-07": Ajv
}

/**
 * `format` is only an annotation, as in draft 2020-12; unknown keywords are ignored; only own properties count. What is
 * referred to is compiled once, not once per reference: the work of compiling grows with the schema. Optimizing takes several
 * times as long as compiling.
 */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  unicodeRegExp: true,
  inlineRefs: false,
  logger: false,
  code: { optimize: false }
}

const RULES = new Map<Draft, Ajv | Ajv2020>()

/** Compiles the rules of the schema's draft, once. The result says what of them the schema does not follow. */
export const draftRules = ({ $schema, ...schema }: JsonSchemaObject): (() => string | undefined) => {
  const draft = draftOf({ $schema })!
  const ajv = RULES.get(draft) ?? new VALIDATORS[draft]({ ...OPTIONS, allErrors: false })
  if (!RULES.has(draft)) ajv.validateSchema({})
  RULES.set(draft, ajv)
  return () =>
    ajv.validateSchema(schema) === true
      ? undefined
      : shortened(ajv.errorsText(ajv.errors, { dataVar: "schema" }), PROBLEM_CHARS_MAX)
}

/** The patterns take more work than allowed. */
export class WorkSpent extends Error {}

/**
 * Throws if Ajv cannot compile it, and `WorkSpent` if its patterns take more work than allowed here. Each schema has its own
 * Ajv: references must stay inside the schema, two schemas cannot collide, and all of it is released together.
 */
export const compile = (schema: JsonSchemaObject, textLength: number, patternWorkMax = Infinity): CompiledSchema => {
  const patterns = new Map<string, CompiledPattern>()
  let workLeft = patternWorkMax
  const spend = (steps: number): void => {
    workLeft -= steps
    if (workLeft < 0) throw new WorkSpent()
  }
  const compiled = (pattern: string): CompiledPattern => {
    spend(WORK_PER_CHAR * pattern.length + WORK_PER_PROPERTY * (pattern.match(PROPERTY)?.length ?? 0))
    const native = new RegExp(pattern, "u")
    try {
      const { source, steps } = linearPattern(pattern, spend)
      return { steps, engine: source === pattern ? native : new RegExp(source, "u") }
    } catch (cause) {
      if (!(cause instanceof PatternFault)) throw cause
      spend(WORK_PER_FAULT)
      const fault = `the pattern "${shortened(pattern, PATTERN_SHOWN_CHARS_MAX)}" ${cause.message}`
      return { steps: 0, engine: { test: () => true, toString: () => `/${pattern}/u` }, fault }
    }
  }
  const regExp = Object.assign(
    (pattern: string) => {
      const one = patterns.get(pattern) ?? compiled(pattern)
      patterns.set(pattern, one)
      return one.engine
    },
    // Needed only where schemas are written to a file as code.
    { code: "" }
  )
  const ajv = new VALIDATORS[draftOf(schema)!]({
    ...OPTIONS,
    meta: false,
    validateSchema: false,
    code: { ...OPTIONS.code, regExp }
  })
  const validate = ajv.compile(schema as AnySchema)
  const unchecked = [...patterns.values()].flatMap(({ fault }) => fault ?? [])
  const accepts = unchecked.length > 0 && hasReversal(schema)
  return {
    cost: costOfSchema(schema, (pattern) => patterns.get(pattern)?.steps ?? 0),
    bytes: BYTES_MIN + BYTES_PER_CHAR * textLength,
    unchecked: accepts ? [...unchecked, UNCHECKED_ENTIRELY] : unchecked,
    violations: (value) =>
      accepts || validate(value) ? [] : (validate.errors ?? []).slice(0, VIOLATIONS_MAX).map(toViolation)
  }
}

interface CompiledPattern {
  /** The steps per character of a text. */
  readonly steps: number
  readonly engine: { test(text: string): boolean; toString(): string }
  /** The reason why it is not checked. */
  readonly fault?: string
}

const UNCHECKED_ENTIRELY =
  'it combines such a pattern with "not", "if", "oneOf", "maxContains" or "patternProperties", so nothing is checked'

/** Keywords with which a pattern that matches more makes the schema match less. */
const REVERSALS = new Set(["not", "if", "oneOf", "maxContains", "patternProperties"])

const hasReversal = (part: unknown): boolean =>
  typeof part === "object" &&
  part !== null &&
  Object.entries(part).some(([key, value]) => REVERSALS.has(key) || hasReversal(value))

/** Ajv's message about a schema that it cannot compile, for its author. */
export const compileProblem = (cause: unknown): string => {
  if (isStackOverflow(cause)) return "it refers to itself endlessly"
  if (cause instanceof Error && "missingRef" in cause && typeof cause.missingRef === "string") {
    return `${shortened(cause.missingRef, PROBLEM_CHARS_MAX)} is not inside the schema, and external references are not supported`
  }
  return cause instanceof Error ? shortened(cause.message, PROBLEM_CHARS_MAX) : "it cannot be compiled"
}

export const isStackOverflow = (cause: unknown): boolean => cause instanceof Error && cause.name === "RangeError"

const toViolation = ({ instancePath, message, params }: ErrorObject): SchemaViolation => {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  // Report the field that is missing or unexpected, not the object around it.
  const field: unknown = params["missingProperty"] ?? params["additionalProperty"] ?? params["unevaluatedProperty"]
  return { path: typeof field === "string" ? [...path, field] : path, message: message ?? "does not match the schema" }
}

const shortened = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`

// Runs a synchronous task with a time limit, which also interrupts loops inside regular expressions: another thread
// tells V8 to stop. That thread costs a few tenths of a millisecond, so tasks that are known to be fast run without it.

export const COMPILE_CPU_MS_MAX = 2_000
export const CHECK_CPU_MS_MAX = 100

type Watched<A> = { readonly _tag: "Done"; readonly value: A } | { readonly _tag: "OutOfTime" }

const global: { task: (() => unknown) | undefined } = { task: undefined }
const context = createContext(global)
const script = new Script("task()")

/** `task` starts no other watched task. */
export const runWatched = <A>(task: () => A, timeMsMax: number): Watched<A> => {
  global.task = task
  try {
    return { _tag: "Done", value: script.runInContext(context, { timeout: timeMsMax }) as A }
  } catch (cause) {
    if (isOutOfTime(cause)) return { _tag: "OutOfTime" }
    throw cause
  } finally {
    global.task = undefined
  }
}

const isOutOfTime = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
