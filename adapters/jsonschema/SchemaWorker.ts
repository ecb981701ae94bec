/**
 * One worker thread for schemas, started with the first job. A job that was interrupted starts again on a new thread. Jobs
 * wait in a bounded queue: checks before schemas that are registered, and providers in turn.
 */
import { Clock, Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import { SchemaBudgetSpent } from "../../domain/catalog/JsonSchemas.ts"
import type { SchemaBudgets, SchemaWork } from "./SchemaCost.ts"
import type { SchemaJob, SchemaOutcome, SchemaReply } from "./SchemaThread.ts"

const WAITING_MAX = 128
const WAITING_PER_PROVIDER_MAX = 16
const WAITING_RETRY_MS = 1_000
/** Each attempt has twice the time of the one before. */
const PATIENCE_MAX = 32
const HEAP_MB_MAX = 256
const STACK_MB = 4

/** The file is beside this one, or beside the folder of the package's chunks, which is as deep (rolldown.config.ts). */
const THREAD = new URL(
  `../../adapters/jsonschema/SchemaThread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`,
  import.meta.url
)

/** `work`: whose time it is. */
type Job = Omit<SchemaJob, "patience"> & { readonly work: SchemaWork }

interface Waiting {
  readonly providerId: string
  readonly job: Job
  patience: number
  readonly done: (result: Effect.Effect<SchemaOutcome, SchemaBudgetSpent>) => void
}

export interface SchemaWorker {
  /** Fails if the budgets are spent, if too much is waiting, or if the machine is too busy to finish the job. */
  run(providerId: string, job: Job): Effect.Effect<SchemaOutcome, SchemaBudgetSpent>
}

/** Ends the thread with the scope. */
export const makeSchemaWorker = Effect.fnUntraced(function* (
  budgets: SchemaBudgets,
  patienceAtFirst?: number
): Effect.fn.Return<SchemaWorker, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  let thread: Worker | undefined
  let current: Waiting | undefined
  let lastProvider: string | undefined
  let waiting: ReadonlyArray<Waiting> = []

  const stop = async (): Promise<void> => {
    const stopped = thread
    thread = undefined
    await stopped?.terminate()
  }

  const settle = (result: Effect.Effect<SchemaOutcome, SchemaBudgetSpent>): void => {
    const settled = current
    current = undefined
    settled?.done(result)
    next()
  }

  const ended = ({ cpuMs, outcome }: SchemaReply): void => {
    const of = current!
    budgets.spend(of.providerId, of.job.work, cpuMs, clock.currentTimeMillisUnsafe())
    const isUnfinished = outcome._tag === "Interrupted" || outcome._tag === "TooCostly"
    // A compilation that was interrupted may be half done: the next job has a new thread.
    if (isUnfinished && of.job.value === undefined) void stop()
    if (outcome._tag !== "Interrupted") return settle(Effect.succeed(outcome))
    if (of.patience >= PATIENCE_MAX) return settle(Effect.fail(busy("process")))
    of.patience *= 2
    begin(of)
  }

  const start = (): Worker => {
    const started = new Worker(THREAD, {
      name: "json-schemas",
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, stackSizeMb: STACK_MB }
    })
    const failed = (cause: unknown): void => {
      if (thread !== started) return
      thread = undefined
      const isOutOfMemory = cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"
      if (isOutOfMemory) ended({ outcome: { _tag: "TooCostly" }, cpuMs: 0 })
      else settle(Effect.die(cause))
    }
    started.on("message", (reply: SchemaReply) => {
      if (thread === started) ended(reply)
    })
    started.on("error", failed)
    started.on("exit", (code) => failed(new Error(`The worker thread for schemas ended with code ${code}`)))
    return started
  }

  const next = (): void => {
    if (current !== undefined) return
    if (waiting.length === 0) return thread?.unref()
    const isNext = [
      ({ job }: Waiting) => job.value !== undefined,
      ({ providerId }: Waiting) => providerId !== lastProvider,
      () => true
    ].find((is) => waiting.some(is))!
    const one = waiting.find(isNext)!
    waiting = waiting.filter((other) => other !== one)
    if (one.job.value === undefined) lastProvider = one.providerId
    begin(one)
  }

  const begin = (one: Waiting): void => {
    current = one
    const { job, patience, providerId } = one
    const bounds = job.value === undefined ? "all" : "own"
    const spent = budgets.rejection(providerId, job.work, bounds, clock.currentTimeMillisUnsafe())
    if (spent !== undefined) return settle(Effect.fail(new SchemaBudgetSpent(spent)))
    thread ??= start()
    thread.ref()
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
      thread.postMessage({ ...job, patience } satisfies SchemaJob)
    } catch {
      // The value is nested more deeply than a message can be.
      settle(Effect.succeed({ _tag: "TooCostly" }))
    }
  }

  yield* Effect.addFinalizer(() => Effect.promise(stop))

  const run: SchemaWorker["run"] = (providerId, job) =>
    Effect.callback<SchemaOutcome, SchemaBudgetSpent>((resume) => {
      const own = waiting.filter((one) => one.providerId === providerId).length
      if (own >= WAITING_PER_PROVIDER_MAX) return resume(Effect.fail(busy("provider")))
      if (waiting.length >= WAITING_MAX) return resume(Effect.fail(busy("process")))
      const one: Waiting = { providerId, job, patience: patienceAtFirst ?? 1, done: resume }
      waiting = [...waiting, one]
      next()
      return Effect.sync(() => {
        waiting = waiting.filter((other) => other !== one)
      })
    })
  return { run }
})

const busy = (of: SchemaBudgetSpent["of"]) => new SchemaBudgetSpent({ of, waitMs: WAITING_RETRY_MS })
