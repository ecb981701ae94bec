/**
 * Log lines of this process that its reader did not take.
 */
import { Context } from "effect"

export interface LogLoss {
  /** Since the start. */
  dropped: number
}

/** Of a process that does not bound its output: none. */
export const LogLoss = Context.Reference<LogLoss>("agent-tool-billing/domain/platform/LogLoss", {
  defaultValue: () => ({ dropped: 0 })
})
