/**
 * Whether rate limits are counted, and jointly by all nodes where configured. If not, requests still pass: the service is
 * degraded, not down.
 */
import { Effect } from "effect"
import type { Probe } from "../../../domain/platform/Probe.ts"
import type { RateLimits } from "../pipeline/RateLimits.ts"

export const limiterProbe = ({ probe, standing }: RateLimits["Service"]): Probe => ({
  name: "rate_limits",
  critical: false,
  limitMs: 1_000,
  slowMs: 250,
  ask: Effect.map(probe, () => standing.problem())
})
