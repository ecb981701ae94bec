/**
 * How long an attempt may take and how often one is repeated, where the tool says nothing else.
 */
import { Context } from "effect"

export const UpstreamLimits = Context.Reference<{ readonly timeoutMs: number; readonly retriesMax: number }>(
  "agent-tool-billing/domain/metering/UpstreamLimits",
  { defaultValue: () => ({ timeoutMs: 10_000, retriesMax: 1 }) }
)
