/**
 * JSON Schema by Ajv, for untrusted schemas and values. A worker thread judges the schemas that are registered. Small schemas
 * are compiled here when they are first used, and checks with a small known cost run here too. All other work counts toward
 * the budgets of its provider and of the process; what may be long is done by the worker thread.
 */
import { Clock, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import {
  InvalidJsonSchema,
  JSON_SCHEMA_BYTES_MAX,
  JSON_SCHEMA_DEPTH_MAX,
  JSON_SCHEMA_PARTS_MAX,
  JsonSchemas,
  SchemaBudgetSpent,
  type SchemaUse,
  type SchemaViolation
} from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { ownTurn } from "../../domain/shared/OwnTurn.ts"
import {
  CHECK_CPU_MS_MAX,
  compile,
  type CompiledSchema,
  compileProblem,
  draftOf,
  isStackOverflow,
  runWatched,
  WorkSpent
} from "./CompiledSchema.ts"
import { schemaBudgets, type SchemaWork, stepsOfCheck } from "./SchemaCost.ts"
import { makeSchemaWorker } from "./SchemaWorker.ts"

export interface Held<A> {
  value: A | undefined
  readonly weight: number
  lastUse: number
}

/**
 * Least recently used cache, bounded by weight over all owners. The owner with the highest weight loses entries first, so
 * an owner that adds many entries evicts its own.
 */
export interface OwnedCache<A> {
  get(owner: string, key: string): Held<A> | undefined
  set(owner: string, key: string, value: A, weight: number): Held<A>
  /** Requires that its caller holds it already. */
  use(held: Held<A>): void
  weight(): number
}

interface Owned<A> {
  readonly entries: Map<string, Held<A>>
  weight: number
}

export const ownedCache = <A>(weightMax: number): OwnedCache<A> => {
  const owners = new Map<string, Owned<A>>()
  let total = 0
  let uses = 0

  const remove = (owner: string, owned: Owned<A>, key: string): void => {
    const held = owned.entries.get(key)
    if (held === undefined) return
    owned.entries.delete(key)
    owned.weight -= held.weight
    total -= held.weight
    held.value = undefined
    if (owned.entries.size === 0) owners.delete(owner)
  }

  const dropOne = (): void => {
    let heaviest: readonly [string, Owned<A>] | undefined
    for (const one of owners) if (heaviest === undefined || one[1].weight > heaviest[1].weight) heaviest = one
    if (heaviest === undefined) return
    const [owner, owned] = heaviest
    let oldest: readonly [string, Held<A>] | undefined
    for (const one of owned.entries) if (oldest === undefined || one[1].lastUse < oldest[1].lastUse) oldest = one
    remove(owner, owned, oldest![0])
  }

  /** The newest entry stays, whatever its weight. */
  const isOver = (newest: number): boolean => total > weightMax && total > newest

  return {
    get: (owner, key) => {
      const held = owners.get(owner)?.entries.get(key)
      if (held !== undefined) held.lastUse = ++uses
      return held
    },
    set: (owner, key, value, weight) => {
      const before = owners.get(owner)
      if (before !== undefined) remove(owner, before, key)
      const owned: Owned<A> = owners.get(owner) ?? { entries: new Map(), weight: 0 }
      const held: Held<A> = { value, weight, lastUse: ++uses }
      owners.set(owner, owned)
      owned.entries.set(key, held)
      owned.weight += weight
      total += weight
      while (isOver(weight)) dropOne()
      return held
    },
    use: (held) => {
      held.lastUse = ++uses
    },
    weight: () => total
  }
}

/** Approximate memory of all compiled schemas together. */
export const COMPILED_BYTES_MAX = 128 * 1024 * 1024
/**
 * Limits a schema that is compiled and checked on the main thread. Of 60 shapes at this limit, the most expensive one takes 11 ms of
 * CPU time to compile and 3 ms for its first check. The worker thread checks by larger ones.
 */
export const MAIN_THREAD_PARTS_MAX = 200
/** About a millisecond. */
export const MAIN_THREAD_PATTERN_WORK_MAX = 10_000
const VERDICTS_MAX = 10_000
/** Steps of a few nanoseconds. Checks below this are not counted, checks above are watched. */
const UNCOUNTED_STEPS_MAX = 20_000
const UNWATCHED_STEPS_MAX = 1_000_000
/** Then the worker thread continues. */
const MAIN_THREAD_CHECK_MS_MAX = 5
const MAIN_THREAD_ELAPSED_MS_MAX = 160
const OUT_OF_TIME_MAX = 3
const OUT_OF_TIME_WINDOW_MS = 60_000

interface Kept {
  /** The worker thread checks by a schema that has none. */
  readonly compiled: CompiledSchema | undefined
  readonly text: string
  outOfTime: number
  outOfTimeSinceMs: number
}

export const layer = Layer.effect(
  JsonSchemas,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const budgets = schemaBudgets()
    const worker = yield* makeSchemaWorker(budgets)
    const cache = ownedCache<Kept>(COMPILED_BYTES_MAX)
    // Every call of a tool brings the same object, whose text is then not needed again.
    const known = new WeakMap<JsonSchemaObject, Held<Kept>>()
    // The oldest outcome of the worker thread comes first: a request that is sent again goes on where it stopped.
    const verdicts = new Map<string, string | undefined>()
    // A registration checks a schema before its unit of work and in it.
    const problems = new WeakMap<JsonSchemaObject, string | undefined>()

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

    // The first compilation of a process takes the longest.
    const warm = yield* Effect.cached(
      Effect.andThen(
        Effect.sync(() => compile(TYPICAL, 0)),
        ownTurn
      )
    )

    const judge = Effect.fnUntraced(function* (text: string, providerId: ProviderId) {
      const outcome = yield* worker.run(providerId, { work: "judge", text })
      return outcome._tag === "Judged" ? outcome : { problem: "it takes too long to compile", unchecked: [] }
    })

    const load = Effect.fnUntraced(function* (schema: JsonSchemaObject, providerId: ProviderId) {
      const text = JSON.stringify(schema)
      const key = hash("sha256", text, "hex")
      const cached = (): Kept | undefined => {
        const held = cache.get(providerId, key)
        if (held !== undefined) known.set(schema, held)
        return held?.value
      }
      const before = cached()
      if (before !== undefined) return before
      yield* rejected(providerId, "compile")
      yield* warm
      yield* ownTurn
      const meanwhile = cached()
      if (meanwhile !== undefined) return meanwhile
      const compiled = yield* Effect.try({
        try: () => spending(providerId, "compile", () => compiledHere(schema, text.length)),
        catch: (cause) => new InvalidJsonSchema({ problem: compileProblem(cause) })
      }).pipe(Effect.orDie)
      const kept: Kept = { compiled, text, outOfTime: 0, outOfTimeSinceMs: 0 }
      known.set(schema, cache.set(providerId, key, kept, compiled?.bytes ?? 2 * text.length))
      return kept
    })

    const checkedByWorker = Effect.fnUntraced(function* (kept: Kept, value: unknown, { of, providerId }: SchemaUse) {
      const nowMs = clock.currentTimeMillisUnsafe()
      if (nowMs - kept.outOfTimeSinceMs >= OUT_OF_TIME_WINDOW_MS) kept.outOfTime = 0
      if (kept.outOfTime >= OUT_OF_TIME_MAX) return tooCostly
      const outcome = yield* worker.run(providerId, { work: of, text: kept.text, value: { of: value } })
      if (outcome._tag === "Checked") return outcome.violations
      if (kept.outOfTime++ === 0) kept.outOfTimeSinceMs = nowMs
      return tooCostly
    })

    const checked = (
      kept: Kept,
      value: unknown,
      use: SchemaUse
    ): Effect.Effect<ReadonlyArray<SchemaViolation>, SchemaBudgetSpent> => {
      const { compiled } = kept
      const { of, providerId } = use
      if (compiled === undefined) return checkedByWorker(kept, value, use)
      const steps = stepsOfCheck(compiled.cost, value, UNWATCHED_STEPS_MAX)
      if (steps <= UNCOUNTED_STEPS_MAX) return Effect.succeed(compiled.violations(value))
      // If others have spent the budget of the process, a short check still runs.
      if (steps <= UNWATCHED_STEPS_MAX) {
        return Effect.map(rejected(providerId, of, "own"), () =>
          spending(providerId, of, () => compiled.violations(value))
        )
      }
      return Effect.flatMap(rejected(providerId, of), () => {
        const ended = spending(providerId, of, () => runOrOverflow(() => compiled.violations(value)))
        // The worker thread starts again, with a function of its own.
        return ended._tag === "Done" ? Effect.succeed(ended.value) : checkedByWorker(kept, value, use)
      })
    }

    const problemOf = Effect.fnUntraced(function* (schema: JsonSchemaObject, providerId: ProviderId) {
      yield* ownTurn
      const fault = sizeProblem(schema)
      if (fault !== undefined) return fault
      const text = JSON.stringify(schema)
      const key = hash("sha256", text, "hex")
      if (!verdicts.has(key)) {
        const judged = yield* judge(text, providerId)
        const faults = judged.problem === undefined ? judged.unchecked : [judged.problem]
        verdicts.set(key, faults.length === 0 ? undefined : faults.join("; "))
        if (verdicts.size > VERDICTS_MAX) verdicts.delete(verdicts.keys().next().value!)
      }
      return verdicts.get(key)
    })

    const unchecked = Effect.fn("AjvJsonSchemas.unchecked")(function* (
      schema: JsonSchemaObject,
      providerId: ProviderId
    ) {
      const { compiled, text } = yield* load(schema, providerId)
      return compiled?.unchecked ?? (yield* judge(text, providerId)).unchecked
    })

    return JsonSchemas.of({
      check: Effect.fn("AjvJsonSchemas.check")(function* (schema, providerId) {
        if (!problems.has(schema)) problems.set(schema, yield* problemOf(schema, providerId))
        const problem = problems.get(schema)
        if (problem !== undefined) return yield* new InvalidJsonSchema({ problem })
      }),

      unchecked,

      violations: (schema, value, use) => {
        const held = known.get(schema)
        if (held?.value !== undefined) {
          cache.use(held)
          return checked(held.value, value, use)
        }
        return Effect.flatMap(load(schema, use.providerId), (kept) => checked(kept, value, use))
      }
    })
  })
)

const TYPICAL = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false }

const compiledHere = (schema: JsonSchemaObject, textLength: number): CompiledSchema | undefined => {
  if (sizeOf(schema).parts > MAIN_THREAD_PARTS_MAX) return undefined
  try {
    return compile(schema, textLength, MAIN_THREAD_PATTERN_WORK_MAX)
  } catch (cause) {
    if (cause instanceof WorkSpent) return undefined
    throw cause
  }
}

/**
 * Runs the task within its CPU time: where other processes used the time, it starts again with twice as much. A value
 * nested too deeply for a recursive schema overflows the stack, which counts as no result.
 */
const runOrOverflow = <A>(task: () => A) => {
  try {
    for (let elapsedMsMax = MAIN_THREAD_CHECK_MS_MAX; ; elapsedMsMax *= 2) {
      const before = process.threadCpuUsage()
      const ended = runWatched(task, elapsedMsMax)
      const { system, user } = process.threadCpuUsage(before)
      const isOwnTime = (system + user) / 1_000 >= 0.9 * MAIN_THREAD_CHECK_MS_MAX
      if (ended._tag === "Done" || isOwnTime || elapsedMsMax >= MAIN_THREAD_ELAPSED_MS_MAX) return ended
    }
  } catch (cause) {
    if (isStackOverflow(cause)) return { _tag: "OutOfTime" } as const
    throw cause
  }
}

const tooCostly: ReadonlyArray<SchemaViolation> = [
  { path: [], message: `could not be checked against the tool's schema within ${CHECK_CPU_MS_MAX} ms` }
]

/** Finds what forbids a schema before it is compiled: its draft, size or depth. */
const sizeProblem = (schema: JsonSchemaObject): string | undefined => {
  const { levels, parts } = sizeOf(schema)
  if (levels > JSON_SCHEMA_DEPTH_MAX) return `it is nested more than ${JSON_SCHEMA_DEPTH_MAX} levels deep`
  if (parts > JSON_SCHEMA_PARTS_MAX) return `it has more than ${JSON_SCHEMA_PARTS_MAX} parts`
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > JSON_SCHEMA_BYTES_MAX) return `it has ${bytes} bytes of JSON; the limit is ${JSON_SCHEMA_BYTES_MAX}`
  if (draftOf(schema) === undefined) return "its $schema is neither draft 2020-12 nor draft-07"
  // Ajv would compile it to an asynchronous function.
  return "$async" in schema ? "$async is not a keyword of JSON Schema" : undefined
}

/** Level by level within the bounds, because the schema may be nested deeper than the stack. */
const sizeOf = (schema: JsonSchemaObject): { readonly levels: number; readonly parts: number } => {
  let level: Array<unknown> = [schema]
  let levels = 0
  let parts = 1
  while (levels <= JSON_SCHEMA_DEPTH_MAX && parts <= JSON_SCHEMA_PARTS_MAX) {
    const containers = level.filter((part) => typeof part === "object" && part !== null)
    if (containers.length === 0) break
    level = containers.flatMap((container) => Object.values(container as object))
    levels++
    parts += level.length
  }
  return { levels, parts }
}
