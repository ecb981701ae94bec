/**
 * How many requests a minute an account may send.
 */
import { Context } from "effect"

/** Limits in requests a minute, by the kind of account. */
export interface RateLimits {
  /** Of a consumer that requested no limit. */
  readonly defaultRpm: number
  /** The highest limit of a consumer. */
  readonly ceilingRpm: number
  /** Of a provider, who reads dashboards and registers tools. */
  readonly providerRpm: number
}

export const RateLimitPolicy = Context.Reference<RateLimits>("agent-tool-billing/domain/accounts/RateLimitPolicy", {
  defaultValue: () => ({ defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })
})
