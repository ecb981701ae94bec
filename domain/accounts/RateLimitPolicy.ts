/**
 * Calls per minute of an account.
 */
import { Context } from "effect"

/** Requests per minute that a key of each kind of account may send. */
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
