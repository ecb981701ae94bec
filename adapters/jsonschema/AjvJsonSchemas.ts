/**
 * JSON Schema by Ajv, for untrusted schemas and values. A check with a small known cost runs directly. Any other counts
 * toward the budgets of its provider and of the process; one that may be long runs under a watchdog, and a schema that
 * keeps running out of time is not tried for a while.
 */
import { Clock, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import {
  InvalidJsonSchema,
  JsonSchemas,
  SchemaBudgetSpent,
  type SchemaUse,
  type SchemaViolation
} from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { compile, type CompiledSchema, compileProblem, draftProblem } from "./CompiledSchema.ts"
import { type Held, ownedCache } from "./OwnedCache.ts"
import { schemaBudgets, type SchemaWork } from "./SchemaBudgets.ts"
import { stepsOfCheck } from "./SchemaCost.ts"
import { schemaProblem } from "./SchemaText.ts"
import { isStackOverflow, runWatched } from "./Watchdog.ts"

/** Approximate memory of all compiled schemas together. */
export const COMPILED_BYTES_MAX = 128 * 1024 * 1024
const COMPILE_MS_MAX = 2_000
/** Steps of a few nanoseconds. Checks below this are not counted, checks above are watched. */
const UNCOUNTED_STEPS_MAX = 20_000
const UNWATCHED_STEPS_MAX = 1_000_000
const CHECK_MS_MAX = 100
const OUT_OF_TIME_MAX = 3
const OUT_OF_TIME_WINDOW_MS = 60_000

interface Kept {
  readonly compiled: CompiledSchema
  outOfTime: number
  outOfTimeSinceMs: number
}

export const layer = Layer.effect(
  JsonSchemas,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const budgets = schemaBudgets()
    const cache = ownedCache<Kept>(COMPILED_BYTES_MAX)
    // Every call of a tool brings the same object, whose text is then not needed again.
    const known = new WeakMap<JsonSchemaObject, Held<Kept>>()

    const rejected = (
      providerId: ProviderId,
      work: SchemaWork,
      bounds: "own" | "all" = "all"
    ): Effect.Effect<void, SchemaBudgetSpent> => {
      const why = budgets.rejection(providerId, work, bounds, clock.currentTimeMillisUnsafe())
      return why === undefined ? Effect.void : Effect.fail(new SchemaBudgetSpent(why))
    }

    /** CPU time: waiting of a thread on a busy machine does not count. */
    const spending = <A>(providerId: ProviderId, work: SchemaWork, task: () => A): A => {
      const before = process.threadCpuUsage()
      try {
        return task()
      } finally {
        const { system, user } = process.threadCpuUsage(before)
        budgets.spend(providerId, work, (system + user) / 1_000, clock.currentTimeMillisUnsafe())
      }
    }

    const load = Effect.fnUntraced(function* (schema: JsonSchemaObject, providerId: ProviderId) {
      const text = JSON.stringify(schema)
      const key = hash("sha256", text, "hex")
      const before = cache.get(providerId, key)
      if (before?.value !== undefined) {
        known.set(schema, before)
        return before.value
      }
      yield* rejected(providerId, "compile")
      const made = yield* Effect.try({
        try: () =>
          spending(providerId, "compile", () =>
            runWatched(() => draftProblem(schema) ?? compile(schema, text.length), COMPILE_MS_MAX)
          ),
        catch: (cause) => new InvalidJsonSchema({ problem: compileProblem(cause) })
      })
      // Yields first: one request may bring many schemas.
      yield* nextTurn
      if (made._tag === "OutOfTime") return yield* new InvalidJsonSchema({ problem: "it takes too long to compile" })
      if (typeof made.value === "string") return yield* new InvalidJsonSchema({ problem: made.value })
      const kept: Kept = { compiled: made.value, outOfTime: 0, outOfTimeSinceMs: 0 }
      known.set(schema, cache.set(providerId, key, kept, made.value.bytes))
      return kept
    })

    const checked = (
      kept: Kept,
      value: unknown,
      { of, providerId }: SchemaUse
    ): Effect.Effect<ReadonlyArray<SchemaViolation>, SchemaBudgetSpent> => {
      const { compiled } = kept
      const steps = stepsOfCheck(compiled.cost, value, UNWATCHED_STEPS_MAX)
      if (steps <= UNCOUNTED_STEPS_MAX) return Effect.succeed(compiled.violations(value))
      // If others have spent the budget of the process, a short check still runs.
      return Effect.map(rejected(providerId, of, steps <= UNWATCHED_STEPS_MAX ? "own" : "all"), () => {
        const nowMs = clock.currentTimeMillisUnsafe()
        if (steps <= UNWATCHED_STEPS_MAX) return spending(providerId, of, () => compiled.violations(value))
        const before = kept.outOfTime
        const found = spending(providerId, of, () => watched(kept, value, nowMs))
        // Elapsed time: the event loop was blocked for so long.
        if (kept.outOfTime > before) budgets.spend(providerId, of, CHECK_MS_MAX, nowMs)
        return found
      })
    }

    return JsonSchemas.of({
      check: Effect.fn("AjvJsonSchemas.check")(function* (schema, providerId) {
        const problem = schemaProblem(schema)
        if (problem !== undefined) return yield* new InvalidJsonSchema({ problem })
        yield* load(schema, providerId)
      }),

      violations: (schema, value, use) => {
        const held = known.get(schema)
        if (held?.value !== undefined) {
          cache.use(held)
          return checked(held.value, value, use)
        }
        return load(schema, use.providerId).pipe(
          Effect.catchTag("InvalidJsonSchema", Effect.die),
          Effect.flatMap((kept) => checked(kept, value, use))
        )
      }
    })
  })
)

const nextTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const watched = (kept: Kept, value: unknown, nowMs: number): ReadonlyArray<SchemaViolation> => {
  if (nowMs - kept.outOfTimeSinceMs >= OUT_OF_TIME_WINDOW_MS) kept.outOfTime = 0
  if (kept.outOfTime >= OUT_OF_TIME_MAX) return tooCostly
  const ended = runOrOverflow(() => kept.compiled.violations(value))
  if (ended._tag === "Done") return ended.value
  if (kept.outOfTime++ === 0) kept.outOfTimeSinceMs = nowMs
  return tooCostly
}

/** A value nested too deeply for a recursive schema overflows the stack, which counts as no result. */
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
