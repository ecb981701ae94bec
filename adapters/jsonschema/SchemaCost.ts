/**
 * Upper bound for the work of a check, from the sizes of schema and value: every part of the schema, with its
 * references expanded, checks every part of the value at most once.
 */
import { SCHEMA_CHECKS_CPU_MS_MAX, type SchemaBudgetSpent } from "../../domain/catalog/JsonSchemas.ts"

export interface SchemaCost {
  /** Parts of the schema, references expanded; infinite if it is recursive. */
  readonly parts: number
  /** The number of times that a pattern can be checked for one text. */
  readonly patterns: number
  /** Steps per character of the most expensive of them. */
  readonly patternSteps: number
  /** Compares the items of an array with each other. */
  readonly comparesItems: boolean
}

const NOTHING: SchemaCost = { parts: 0, patterns: 0, patternSteps: 0, comparesItems: false }
const UNBOUNDED: SchemaCost = { ...NOTHING, parts: Infinity }

/** `stepsOf` a pattern per character of a text. */
export const costOfSchema = (root: unknown, stepsOf: (pattern: string) => number): SchemaCost => {
  const costOfPattern = (pattern: string): SchemaCost => ({ ...NOTHING, patterns: 1, patternSteps: stepsOf(pattern) })
  const known = new Map<unknown, SchemaCost>()
  const visit = (part: unknown): SchemaCost => {
    if (typeof part !== "object" || part === null) return { ...NOTHING, parts: 1 }
    const before = known.get(part)
    if (before !== undefined) return before
    // Reached again before it is done: the schema is recursive.
    known.set(part, UNBOUNDED)
    let cost: SchemaCost = { ...NOTHING, parts: 1 }
    for (const [key, value] of Object.entries(part)) cost = add(add(cost, costOfKeyword(key, value)), visit(value))
    known.set(part, cost)
    return cost
  }
  const costOfKeyword = (key: string, value: unknown): SchemaCost => {
    if (key === "$ref" && typeof value === "string") {
      const target = targetOf(root, value)
      return target === undefined ? UNBOUNDED : visit(target)
    }
    if (key === "$dynamicRef" || key === "$recursiveRef") return UNBOUNDED
    if (key === "pattern" && typeof value === "string") return costOfPattern(value)
    if (key === "patternProperties" && typeof value === "object" && value !== null) {
      return Object.keys(value).map(costOfPattern).reduce(add, NOTHING)
    }
    return key === "uniqueItems" && value === true ? { ...NOTHING, comparesItems: true } : NOTHING
  }
  return visit(root)
}

/** Upper bound of elementary steps to check a value against a schema. Stops once `limit` is passed. */
export const stepsOfCheck = (cost: SchemaCost, value: unknown, limit: number): number => {
  let weight = 1
  let texts = 0
  let longest = 0
  const text = (one: string): void => {
    texts++
    weight += one.length
    longest = Math.max(longest, one.length)
  }
  const waiting: Array<unknown> = [value]
  while (waiting.length > 0 && cost.parts * weight <= limit) {
    const one = waiting.pop()
    weight++
    if (typeof one === "string") text(one)
    else if (Array.isArray(one)) for (const item of one) waiting.push(item)
    else if (typeof one === "object" && one !== null) {
      for (const [key, member] of Object.entries(one)) {
        text(key)
        waiting.push(member)
      }
    }
  }
  const asked = cost.patterns * texts
  return cost.parts * weight * (cost.comparesItems ? weight : 1) + asked * cost.patternSteps * (longest + 1)
}

const add = (a: SchemaCost, b: SchemaCost): SchemaCost => ({
  parts: a.parts + b.parts,
  patterns: a.patterns + b.patterns,
  patternSteps: Math.max(a.patternSteps, b.patternSteps),
  comparesItems: a.comparesItems || b.comparesItems
})

/** Resolves `#` and `#/a/b`. Undefined for names, and for missing targets. */
const targetOf = (root: unknown, reference: string): unknown => {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined
  let target: unknown = root
  for (const step of reference.split("/").slice(1)) {
    if (typeof target !== "object" || target === null) return undefined
    const key = decodeStep(step)
    if (key === undefined || !Object.hasOwn(target, key)) return undefined
    target = (target as Readonly<Record<string, unknown>>)[key]
  }
  return target
}

const decodeStep = (step: string): string | undefined => {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return undefined
  }
}

// Budgets of CPU time for schemas, per provider and for the process. A provider has separate budgets for
// schemas that it registers, for compiling them when they are used, for checks of inputs and for checks of outputs: none of them
// spends another. Consumers cause checks of inputs.

export type SchemaWork = "judge" | "compile" | "input" | "output"

interface WorkBounds {
  readonly burstMs: number
  readonly share: number
}

const PER_PROVIDER: Readonly<Record<SchemaWork, WorkBounds>> = {
  judge: { burstMs: SCHEMA_CHECKS_CPU_MS_MAX.provider, share: 0.1 },
  compile: { burstMs: 2_500, share: 0.1 },
  input: { burstMs: 500, share: 0.2 },
  output: { burstMs: 500, share: 0.2 }
}

const OF_PROCESS: Readonly<Record<SchemaWork, WorkBounds>> = {
  judge: { burstMs: SCHEMA_CHECKS_CPU_MS_MAX.process, share: 0.5 },
  compile: { burstMs: 5_000, share: 0.5 },
  input: { burstMs: 2_000, share: 0.4 },
  output: { burstMs: 2_000, share: 0.4 }
}

/** Providers that have spent nothing are removed first. */
const PROVIDERS_MAX = 2_000

export interface SchemaBudgets {
  /** Undefined if the work may be done now. `own`: ignores what others have spent. */
  rejection(
    owner: string,
    work: SchemaWork,
    bounds: "own" | "all",
    nowMs: number
  ): Pick<SchemaBudgetSpent, "of" | "waitMs"> | undefined
  spend(owner: string, work: SchemaWork, durationMs: number, nowMs: number): void
}

export const schemaBudgets = (): SchemaBudgets => {
  const process: Readonly<Record<SchemaWork, WorkBudget>> = {
    judge: workBudget(OF_PROCESS.judge),
    compile: workBudget(OF_PROCESS.compile),
    input: workBudget(OF_PROCESS.input),
    output: workBudget(OF_PROCESS.output)
  }
  // The order is that of their last spending.
  const providers = new Map<string, WorkBudget>()

  return {
    rejection: (owner, work, bounds, nowMs) => {
      const ownMs = providers.get(`${work} ${owner}`)?.waitMs(nowMs) ?? 0
      if (ownMs > 0) return { of: "provider", waitMs: ownMs }
      if (bounds === "own") return undefined
      const waitMs = process[work].waitMs(nowMs)
      return waitMs > 0 ? { of: "process", waitMs } : undefined
    },
    spend: (owner, work, durationMs, nowMs) => {
      const key = `${work} ${owner}`
      const own = providers.get(key) ?? workBudget(PER_PROVIDER[work])
      // Refilled over time from now on.
      own.waitMs(nowMs)
      process[work].waitMs(nowMs)
      own.spend(durationMs)
      process[work].spend(durationMs)
      providers.delete(key)
      providers.set(key, own)
      if (providers.size > PROVIDERS_MAX) providers.delete(providers.keys().next().value!)
    }
  }
}

/**
 * Limits the CPU time of a kind of work: a burst, then a share of the time. Work on schemas is synchronous, so one
 * large piece after another would block all other requests.
 */
interface WorkBudget {
  /** Milliseconds until more work may be done; 0: now. */
  waitMs(nowMs: number): number
  spend(durationMs: number): void
}

export const workBudget = ({ burstMs, share }: WorkBounds): WorkBudget => {
  let spentMs = 0
  let sinceMs = Infinity
  return {
    waitMs: (nowMs) => {
      spentMs = Math.max(0, spentMs - Math.max(0, nowMs - sinceMs) * share)
      sinceMs = nowMs
      return spentMs < burstMs ? 0 : (spentMs - burstMs) / share + 1
    },
    spend: (durationMs) => {
      spentMs += durationMs
    }
  }
}
