/**
 * What became of the traces and logs that this process sent to a collector, since it started.
 */
import { Context } from "effect"

export type Signal = "traces" | "logs"

/** `refused` by this process itself: too much is under way already. */
export type Fate = "sent" | "failed" | "refused"

export interface TelemetryTally {
  count(signal: Signal, fate: Fate): void
  read(): ReadonlyArray<{ readonly signal: Signal; readonly fate: Fate; readonly batches: number }>
}

const SIGNALS: ReadonlyArray<Signal> = ["traces", "logs"]
const FATES: ReadonlyArray<Fate> = ["sent", "failed", "refused"]

const nothing = (): Record<Fate, number> => ({ sent: 0, failed: 0, refused: 0 })

export const makeTelemetryTally = (): TelemetryTally => {
  const counts = { traces: nothing(), logs: nothing() }
  return {
    count: (signal, fate) => {
      counts[signal][fate]++
    },
    read: () => SIGNALS.flatMap((signal) => FATES.map((fate) => ({ signal, fate, batches: counts[signal][fate] })))
  }
}

/** Whoever wants to read it provides one of its own. */
export const TelemetryTally = Context.Reference<TelemetryTally>("agent-tool-billing/domain/platform/TelemetryTally", {
  defaultValue: makeTelemetryTally
})
