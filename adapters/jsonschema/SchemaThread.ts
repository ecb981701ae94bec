/**
 * The worker thread: compiles schemas of providers, and checks values that may take long.
 */
import { parentPort } from "node:worker_threads"
import type { SchemaViolation } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"
import {
  CHECK_CPU_MS_MAX,
  compile,
  COMPILE_CPU_MS_MAX,
  type CompiledSchema,
  compileProblem,
  draftRules,
  isStackOverflow,
  runWatched
} from "./CompiledSchema.ts"

export interface SchemaJob {
  /** The schema as JSON. */
  readonly text: string
  /** Without a value to check, the schema is judged. */
  readonly value?: { readonly of: unknown }
  /** Multiple of the CPU time that may elapse. */
  readonly patience: number
}

export type SchemaOutcome =
  | { readonly _tag: "Judged"; readonly problem: string | undefined; readonly unchecked: ReadonlyArray<string> }
  | { readonly _tag: "Checked"; readonly violations: ReadonlyArray<SchemaViolation> }
  /** It used up its CPU time. */
  | { readonly _tag: "TooCostly" }
  /** Other threads of the machine used up the time. */
  | { readonly _tag: "Interrupted" }

export interface SchemaReply {
  readonly cpuMs: number
  readonly outcome: SchemaOutcome
}

/** Schemas that stay compiled: at most 64 KiB each. */
const COMPILED_MAX = 64

const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

const INTERRUPTED: SchemaOutcome = { _tag: "Interrupted" }
const TOO_COSTLY: SchemaOutcome = { _tag: "TooCostly" }

/** Oldest first. */
const compiledOf = new Map<string, CompiledSchema>()

const done = (job: SchemaJob): SchemaOutcome => {
  const limited = <A>(task: () => A, cpuMsMax: number): A => {
    const before = cpuMs()
    const ended = runWatched(task, Math.ceil(cpuMsMax * job.patience))
    if (ended._tag === "Done") return ended.value
    throw cpuMs() - before < cpuMsMax * 0.9 ? INTERRUPTED : TOO_COSTLY
  }
  const compiled = (): CompiledSchema => {
    const known = compiledOf.get(job.text)
    if (known !== undefined) return known
    const schema = JSON.parse(job.text) as JsonSchemaObject
    // Nothing interrupts the compilation of the rules.
    const rulesProblem = job.value === undefined ? draftRules(schema) : () => undefined
    const made = limited(() => {
      const problem = rulesProblem()
      if (problem !== undefined) throw new Error(problem)
      return compile(schema, job.text.length)
    }, COMPILE_CPU_MS_MAX)
    compiledOf.set(job.text, made)
    if (compiledOf.size > COMPILED_MAX) compiledOf.delete(compiledOf.keys().next().value!)
    return made
  }
  try {
    const schema = compiled()
    const { value } = job
    return value === undefined
      ? { _tag: "Judged", problem: undefined, unchecked: schema.unchecked }
      : { _tag: "Checked", violations: limited(() => schema.violations(value.of), CHECK_CPU_MS_MAX) }
  } catch (cause) {
    if (cause === INTERRUPTED || cause === TOO_COSTLY) {
      compiledOf.delete(job.text)
      return cause === INTERRUPTED ? INTERRUPTED : TOO_COSTLY
    }
    if (job.value === undefined) return { _tag: "Judged", problem: compileProblem(cause), unchecked: [] }
    if (isStackOverflow(cause)) return TOO_COSTLY
    throw cause
  }
}

parentPort?.on("message", (job: SchemaJob) => {
  const before = cpuMs()
  const outcome = done(job)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
  parentPort!.postMessage({ outcome, cpuMs: cpuMs() - before } satisfies SchemaReply)
})
