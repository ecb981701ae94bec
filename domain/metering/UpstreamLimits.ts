/**
 * How long an attempt may take and how often one is repeated, where the tool says nothing else.
 */
import { Context } from "effect"

export interface UpstreamBounds {
  readonly timeoutMs: number
  readonly retriesMax: number
  /** All attempts of a call, and whatever the provider asks to wait between them. */
  readonly totalMs: number
}

export const UpstreamLimits = Context.Reference<UpstreamBounds>("agent-tool-billing/domain/metering/UpstreamLimits", {
  defaultValue: () => ({ timeoutMs: 10_000, retriesMax: 1, totalMs: 25_000 })
})
