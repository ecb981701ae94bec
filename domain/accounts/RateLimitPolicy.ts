/**
 * How many calls a minute an account may make.
 */
import { Context } from "effect"

export interface RateLimits {
  /** Of a consumer that asked for nothing. */
  readonly defaultRpm: number
  /** The most that a consumer is given, whatever it asked for. */
  readonly ceilingRpm: number
  /** Of a provider, who reads dashboards and registers tools. */
  readonly providerRpm: number
}

export const RateLimitPolicy = Context.Reference<RateLimits>("agent-tool-billing/domain/accounts/RateLimitPolicy", {
  defaultValue: () => ({ defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })
})
