/**
 * Counts the batches of traces and logs for the collector since the service started, by outcome.
 */
import { Context } from "effect"

export type Signal = "traces" | "logs"

/** `dropped` by this process: too much is in flight already. */
export type Outcome = "sent" | "failed" | "dropped"

export interface TelemetryTally {
  count(signal: Signal, outcome: Outcome): void
  read(): ReadonlyArray<{ readonly signal: Signal; readonly outcome: Outcome; readonly batches: number }>
}

const SIGNALS: ReadonlyArray<Signal> = ["traces", "logs"]
const OUTCOMES: ReadonlyArray<Outcome> = ["sent", "failed", "dropped"]

const nothing = (): Record<Outcome, number> => ({ sent: 0, failed: 0, dropped: 0 })

export const makeTelemetryTally = (): TelemetryTally => {
  const counts = { traces: nothing(), logs: nothing() }
  return {
    count: (signal, outcome) => {
      counts[signal][outcome]++
    },
    read: () =>
      SIGNALS.flatMap((signal) => OUTCOMES.map((outcome) => ({ signal, outcome, batches: counts[signal][outcome] })))
  }
}

/** The tally of what is exported: provide one to read it. Default: counts nothing. */
export const TelemetryTally = Context.Reference<TelemetryTally>("agent-tool-billing/domain/platform/TelemetryTally", {
  defaultValue: () => ({ ...makeTelemetryTally(), count: () => {} })
})

/** Log lines of this process that its reader did not take. Default: none. */
export interface LogLoss {
  /** Since the start. */
  dropped: number
}

/** Of a process that does not bound its output: none. */
export const LogLoss = Context.Reference<LogLoss>("agent-tool-billing/domain/platform/LogLoss", {
  defaultValue: () => ({ dropped: 0 })
})
