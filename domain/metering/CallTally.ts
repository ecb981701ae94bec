/**
 * How many calls of this process ended how, since it started, and how long their steps took. Plain counters: they stand on
 * the hot path.
 */
import { Context } from "effect"
import { type Durations, Histogram } from "../shared/Histogram.ts"
import type { CallStatus } from "./ToolUpstream.ts"

export type CallOrigin = "proxy" | "meter"

/** Of a proxied call: until the hold is durable, until the provider has answered, until the settlement is durable. */
export type CallStep = "hold" | "forward" | "settle"

export interface CallTally {
  count(origin: CallOrigin, status: CallStatus): void
  took(step: CallStep, ms: number): void
  /** The caller of a forwarded call went away. */
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
  return {
    left: () => {
      leftCount++
    },
    get leftCount() {
      return leftCount
    },
    count: (origin, status) => {
      counts[origin][status]++
    },
    took: (step, ms) => durations[step].took(ms),
    steps: () => STEPS.map((step) => ({ step, durations: durations[step].read() })),
    read: () =>
      ORIGINS.flatMap((origin) => STATUSES.map((status) => ({ origin, status, calls: counts[origin][status] })))
  }
}

/** Whoever wants to read it provides one of its own. */
export const CallTally = Context.Reference<CallTally>("agent-tool-billing/domain/metering/CallTally", {
  defaultValue: makeCallTally
})
