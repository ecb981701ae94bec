/**
 * Providers, who offer tools, and consumers, who call them. An e-mail address is a way to reach the owner, not an
 * identity: the same one may stand on several accounts, so registration tells nobody who else is here.
 */
import type { DateTime } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { suffixed } from "./Handle.ts"

export type PricingModel = "per_call" | "per_token" | "free"

export interface Provider {
  readonly id: ProviderId
  /** Unique, and part of its tools' qualified names. */
  readonly handle: string
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
  /** The most that it pays for one usage-priced call where neither the call nor the key says anything. */
  readonly defaultCap?: Microcents | undefined
  readonly createdAt: DateTime.Utc
}

/** That an account's personal data was replaced: who did it, when, and what it still had or owed then. */
export interface Erasure {
  readonly ownerId: ConsumerId | ProviderId
  readonly role: "consumer" | "provider"
  /** The operator's name for whoever asked for it. */
  readonly by: string
  readonly at: DateTime.Utc
  /** Below zero: owed by the account. */
  readonly leftMicrocents: bigint
}

const ERASED_NAME = "Erased account"
/** Nobody's, and never anybody's (RFC 2606); one for each, so that no two look like the same person. */
const erasedEmail = (id: string): string => `erased+${id}@erased.invalid`

export const erasedConsumer = (consumer: Consumer): Consumer => ({
  ...consumer,
  name: ERASED_NAME,
  email: erasedEmail(consumer.id),
  useCase: ""
})

export const erasedProvider = (provider: Provider): Provider => ({
  ...provider,
  handle: suffixed("erased", provider.id, 12),
  name: ERASED_NAME,
  email: erasedEmail(provider.id),
  endpointUrl: "https://erased.invalid/",
  description: ""
})
