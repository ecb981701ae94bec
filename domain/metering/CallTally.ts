/**
 * How many calls of this process ended how, since it started. Plain counters: they stand on the hot path.
 */
import { Context } from "effect"
import type { CallStatus } from "./ToolUpstream.ts"

export type CallOrigin = "proxy" | "meter"

export interface CallTally {
  count(origin: CallOrigin, status: CallStatus): void
  read(): ReadonlyArray<{ readonly origin: CallOrigin; readonly status: CallStatus; readonly calls: number }>
}

const ORIGINS: ReadonlyArray<CallOrigin> = ["proxy", "meter"]
const STATUSES: ReadonlyArray<CallStatus> = ["success", "error", "timeout", "rate_limited"]

const noCalls = (): Record<CallStatus, number> => ({ success: 0, error: 0, timeout: 0, rate_limited: 0 })

export const makeCallTally = (): CallTally => {
  const counts = { proxy: noCalls(), meter: noCalls() }
  return {
    count: (origin, status) => {
      counts[origin][status]++
    },
    read: () =>
      ORIGINS.flatMap((origin) => STATUSES.map((status) => ({ origin, status, calls: counts[origin][status] })))
  }
}

/** Whoever wants to read it provides one of its own. */
export const CallTally = Context.Reference<CallTally>("agent-tool-billing/domain/metering/CallTally", {
  defaultValue: makeCallTally
})
