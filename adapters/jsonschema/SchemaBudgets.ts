/**
 * Budgets of CPU time for schemas, per provider and for the process. A provider has separate budgets for
 * schemas that it registers, for compiling them when they are used, for checks of inputs and for checks of outputs: none of them
 * spends another. Consumers cause checks of inputs.
 */
import { SCHEMA_CHECKS_CPU_MS_MAX, type SchemaBudgetSpent } from "../../domain/catalog/JsonSchemas.ts"

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
  // In the order of their last spending.
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
