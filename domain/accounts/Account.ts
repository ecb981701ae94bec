/**
 * Providers, who offer tools, and consumers, who call them. An e-mail address is a way to reach the owner, not an
 * identity: the same one may stand on several accounts, so registration tells nobody who else is here.
 */
import type { DateTime } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

export type PricingModel = "per_call" | "per_token" | "free"

export interface Provider {
  readonly id: ProviderId
  readonly name: string
  readonly email: string
  readonly endpointUrl: string
  readonly description: string
  readonly pricingModel: PricingModel
  readonly defaultPrice: Microcents
  readonly createdAt: DateTime.Utc
}

export interface Consumer {
  readonly id: ConsumerId
  readonly name: string
  readonly email: string
  readonly useCase: string
  readonly rateLimitRpm: number
  readonly createdAt: DateTime.Utc
}
