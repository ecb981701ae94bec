/**
 * JSON Schema by Ajv, for schemas and values from strangers. A check whose cost is known to be small runs as it is; any
 * other one is watched and ended when its time is up, and a schema that runs out of time again and again is not tried
 * any more for a while: nobody can keep the service busy with a regular expression.
 */
import { Clock, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { InvalidJsonSchema, JsonSchemas, type SchemaViolation } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import { boundedCache } from "./BoundedCache.ts"
import { compile, type CompiledSchema, compileProblem, draftProblem } from "./CompiledSchema.ts"
import { compileBudget } from "./CompileBudget.ts"
import { stepsOfCheck } from "./SchemaCost.ts"
import { schemaProblem } from "./SchemaText.ts"
import { isStackOverflow, runWatched } from "./Watchdog.ts"

const KEPT = { entriesMax: 5_000, weightMax: 16 * 1024 * 1024 }
const COMPILE_MS_MAX = 2_000
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
  const budget = compileBudget()
  const kept = boundedCache<Kept>(KEPT)
  // The same object comes again with every call of its tool: then its text need not be made.
  const keys = new WeakMap<JsonSchemaObject, string>()

  const find = (schema: JsonSchemaObject): Kept | undefined => {
    const key = keys.get(schema)
    return key === undefined ? undefined : kept.get(key)
  }

  const load = Effect.fnUntraced(function* (schema: JsonSchemaObject) {
    const text = JSON.stringify(schema)
    const key = hash("sha256", text, "hex")
    keys.set(schema, key)
    const known = kept.get(key)
    if (known !== undefined) return known
    const startedAt = performance.now()
    const made = yield* Effect.try({
      try: () => runWatched(() => draftProblem(schema) ?? compile(schema), COMPILE_MS_MAX),
      catch: (cause) => new InvalidJsonSchema({ problem: compileProblem(cause) })
    })
    budget.spend(performance.now() - startedAt)
    if (made._tag === "OutOfTime") return yield* new InvalidJsonSchema({ problem: "it takes too long to compile" })
    if (typeof made.value === "string") return yield* new InvalidJsonSchema({ problem: made.value })
    const fresh: Kept = { compiled: made.value, outOfTime: 0, outOfTimeSinceMs: 0 }
    kept.set(key, fresh, text.length)
    return fresh
  })

  const now = Effect.map(Clock.Clock, (clock) => clock.currentTimeMillisUnsafe())

  return JsonSchemas.of({
    check: Effect.fn("AjvJsonSchemas.check")(function* (schema) {
      const problem = schemaProblem(schema)
      if (problem !== undefined) return yield* new InvalidJsonSchema({ problem })
      if (budget.isSpent(yield* now)) {
        return yield* new InvalidJsonSchema({
          problem: "too many schemas are being compiled; send it again in a while"
        })
      }
      yield* load(schema)
    }),

    violations: Effect.fnUntraced(function* (schema, value) {
      const found = find(schema) ?? (yield* Effect.orDie(load(schema)))
      return checked(found, value, yield* now)
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
