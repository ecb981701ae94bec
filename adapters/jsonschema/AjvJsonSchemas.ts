/**
 * JSON Schema by Ajv, for schemas and values from strangers. A check whose cost is known to be small runs as it is; any
 * other one is watched and ended when its time is up, and a schema that runs out of time again and again is not tried
 * any more for a while: nobody can keep the service busy with a regular expression.
 */
import { Clock, Effect, Layer, Option } from "effect"
import { hash } from "node:crypto"
import { InvalidJsonSchema, JsonSchemas, type SchemaViolation } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import { compile, type CompiledSchema, compileProblem, draftProblem } from "./CompiledSchema.ts"
import { stepsOfCheck } from "./SchemaCost.ts"
import { draftOf, sizeProblem } from "./SchemaText.ts"
import { isStackOverflow, runWatched } from "./Watchdog.ts"

const COMPILED_KEPT_MAX = 500
const COMPILE_MS_MAX = 1_000
/** Steps of a few nanoseconds: a few milliseconds. */
const UNWATCHED_STEPS_MAX = 1_000_000
const CHECK_MS_MAX = 100
const OUT_OF_TIME_MAX = 3
const OUT_OF_TIME_WINDOW_MS = 60_000

interface Kept {
  readonly compiled: CompiledSchema
  outOfTime: number
  outOfTimeSinceMs: number
}

export const layer = Layer.sync(JsonSchemas, () => {
  const kept = new Map<string, Kept>()
  // The same object comes again with every call of its tool: then its text need not be made.
  const keys = new WeakMap<JsonSchemaObject, string>()

  const keyOf = (schema: JsonSchemaObject): string => {
    const known = keys.get(schema)
    if (known !== undefined) return known
    const key = hash("sha256", JSON.stringify(schema), "hex")
    keys.set(schema, key)
    return key
  }

  const lookUp = (key: string): Kept | undefined => {
    const found = kept.get(key)
    if (found === undefined) return undefined
    kept.delete(key)
    kept.set(key, found)
    return found
  }

  const load = Effect.fnUntraced(function* (schema: JsonSchemaObject) {
    const key = keyOf(schema)
    const found = lookUp(key)
    if (found !== undefined) return found
    const draft = draftOf(schema)
    if (Option.isNone(draft)) {
      return yield* new InvalidJsonSchema({ problem: "its $schema is neither draft 2020-12 nor draft-07" })
    }
    const made = yield* Effect.try({
      try: () => runWatched(() => draftProblem(schema, draft.value) ?? compile(schema, draft.value), COMPILE_MS_MAX),
      catch: (cause) => new InvalidJsonSchema({ problem: compileProblem(cause) })
    })
    if (made._tag === "OutOfTime") return yield* new InvalidJsonSchema({ problem: "it takes too long to compile" })
    if (typeof made.value === "string") return yield* new InvalidJsonSchema({ problem: made.value })
    if (kept.size >= COMPILED_KEPT_MAX) kept.delete(kept.keys().next().value!)
    const fresh: Kept = { compiled: made.value, outOfTime: 0, outOfTimeSinceMs: 0 }
    kept.set(key, fresh)
    return fresh
  })

  return JsonSchemas.of({
    check: Effect.fn("AjvJsonSchemas.check")(function* (schema) {
      const problem = sizeProblem(schema)
      if (problem !== undefined) return yield* new InvalidJsonSchema({ problem })
      if ("$async" in schema) return yield* new InvalidJsonSchema({ problem: "$async is no keyword of JSON Schema" })
      yield* load(schema)
    }),

    violations: Effect.fnUntraced(function* (schema, value) {
      const found = yield* Effect.orDie(load(schema))
      return checked(found, value, (yield* Clock.Clock).currentTimeMillisUnsafe())
    })
  })
})

const checked = (schema: Kept, value: unknown, nowMs: number): ReadonlyArray<SchemaViolation> => {
  const { cost, violations } = schema.compiled
  if (stepsOfCheck(cost, value, UNWATCHED_STEPS_MAX) <= UNWATCHED_STEPS_MAX) return violations(value)
  if (nowMs - schema.outOfTimeSinceMs >= OUT_OF_TIME_WINDOW_MS) schema.outOfTime = 0
  if (schema.outOfTime >= OUT_OF_TIME_MAX) return tooCostly
  const watched = runOrOverflow(() => violations(value))
  if (watched._tag === "Done") return watched.value
  if (schema.outOfTime++ === 0) schema.outOfTimeSinceMs = nowMs
  return tooCostly
}

/** A value nested too deeply for a schema that contains itself ends in an overflow of the stack: as good as no answer. */
const runOrOverflow = <A>(task: () => A) => {
  try {
    return runWatched(task, CHECK_MS_MAX)
  } catch (cause) {
    if (isStackOverflow(cause)) return { _tag: "OutOfTime" } as const
    throw cause
  }
}

const tooCostly: ReadonlyArray<SchemaViolation> = [
  { path: [], message: `could not be checked against the tool's schema within ${CHECK_MS_MAX} ms` }
]
