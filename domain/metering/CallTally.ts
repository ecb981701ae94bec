/**
 * Counts of a service's calls by outcome since it started, and the durations of their steps. Plain counters, because they
 * are on the hot path.
 */
import { Context, Effect } from "effect"
import { type Durations, Histogram } from "../shared/Histogram.ts"
import type { CallStatus } from "../upstream/ToolUpstream.ts"

export type CallOrigin = "proxy" | "meter"

/** Steps of a proxied call: until the hold is durable, until the provider has responded, until the settlement is durable. */
export type CallStep = "hold" | "forward" | "settle"

export interface CallTally {
  count(origin: CallOrigin, status: CallStatus): void
  took(step: CallStep, ms: number): void
  /** How many calls were counted. */
  readonly total: number
  /** Waits for the next call. For one waiter at a time. */
  readonly next: Effect.Effect<void>
  /** The caller of a forwarded call disconnected. */
  left(): void
  readonly leftCount: number
  read(): ReadonlyArray<{ readonly origin: CallOrigin; readonly status: CallStatus; readonly calls: number }>
  steps(): ReadonlyArray<{ readonly step: CallStep; readonly durations: Durations }>
}

const ORIGINS: ReadonlyArray<CallOrigin> = ["proxy", "meter"]
const STATUSES: ReadonlyArray<CallStatus> = ["success", "error", "timeout", "rate_limited"]

const STEPS: ReadonlyArray<CallStep> = ["hold", "forward", "settle"]

const noCalls = (): Record<CallStatus, number> => ({ success: 0, error: 0, timeout: 0, rate_limited: 0 })

export const makeCallTally = (): CallTally => {
  const counts = { proxy: noCalls(), meter: noCalls() }
  const durations = { hold: new Histogram(), forward: new Histogram(), settle: new Histogram() }
  let leftCount = 0
  let total = 0
  let wake: (() => void) | undefined
  const next = Effect.callback<void>((resume) => {
    wake = () => {
      wake = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => void (wake = undefined))
  })
  return {
    next,
    get total() {
      return total
    },
    left: () => {
      leftCount++
    },
    get leftCount() {
      return leftCount
    },
    count: (origin, status) => {
      counts[origin][status]++
      total++
      wake?.()
    },
    took: (step, ms) => durations[step].took(ms),
    steps: () => STEPS.map((step) => ({ step, durations: durations[step].read() })),
    read: () =>
      ORIGINS.flatMap((origin) => STATUSES.map((status) => ({ origin, status, calls: counts[origin][status] })))
  }
}

const UNCOUNTED: CallTally = { ...makeCallTally(), total: 0, left: () => {}, count: () => {}, took: () => {} }

/** Counts nothing by default; `core` has its own. */
export const CallTally = Context.Reference<CallTally>("agent-tool-billing/domain/metering/CallTally", {
  defaultValue: () => UNCOUNTED
})
