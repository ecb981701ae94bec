/**
 * The rate limits that the documentation and the specification state.
 */
import { Effect } from "effect"
import { RateLimitPolicy } from "../../../domain/accounts/Principal.ts"
import { RateLimitSettings } from "../../http/pipeline/RateLimits.ts"

/** In requests per minute; 0: no limit. */
export interface DocumentedLimits {
  readonly addressRpm: number
  readonly registrationRpm: number
  readonly consumerRpm: number
  readonly consumerRpmMax: number
  readonly providerRpm: number
}

export const documentedLimits = Effect.gen(function* () {
  const policy = yield* RateLimitPolicy
  const { addressRpm, keysLimited, registrationRpm } = yield* RateLimitSettings
  const limits: DocumentedLimits = {
    addressRpm,
    registrationRpm,
    consumerRpm: keysLimited ? policy.defaultRpm : 0,
    consumerRpmMax: keysLimited ? policy.ceilingRpm : 0,
    providerRpm: keysLimited ? policy.providerRpm : 0
  }
  return limits
})
