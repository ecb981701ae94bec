/**
 * Default timeout and retries of a call, for tools that set none of their own.
 */
import { Context } from "effect"

/** The limits of calls where a tool declares none, and the limit of all attempts together. */
export interface UpstreamBounds {
  readonly timeoutMs: number
  readonly retriesMax: number
  /** All attempts of a call, and the waits between them that the provider asks for. */
  readonly totalMs: number
}

/** How long a call may take whose provider reports progress, without the time of its caller. */
export const ProgressMsMax = Context.Reference<number>("agent-tool-billing/domain/metering/ProgressMsMax", {
  defaultValue: () => 300_000
})

/** The longest time-out of an attempt that a tool may set. */
export const TOOL_TIMEOUT_MS_MAX = 60_000

export const UpstreamLimits = Context.Reference<UpstreamBounds>("agent-tool-billing/domain/metering/UpstreamLimits", {
  defaultValue: () => ({ timeoutMs: 10_000, retriesMax: 1, totalMs: 25_000 })
})
