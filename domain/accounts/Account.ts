/**
 * Providers, who sell tools, and consumers, who call them. An email address is a contact, not an identity: several
 * accounts may have the same one, so registration does not reveal who is registered.
 */
import type { DateTime } from "effect"
import type { ServerFeature } from "./ServerFeatures.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { suffixed } from "./Handle.ts"

/** How a provider describes its prices to people. Calls are billed by the terms of each tool, not by this. */
export type PricingModel = "per_call" | "per_token" | "free"

/** Since when a provider cannot sell, and why. Only the operator begins and ends it. */
export interface ProviderFreeze {
  readonly reason: string
  readonly at: DateTime.Utc
}

/** An account that sells tools behind one MCP endpoint. */
export interface Provider {
  readonly id: ProviderId
  /** Unique; part of its tools' qualified names. */
  readonly handle: string
  readonly name: string
  readonly email: string
  readonly endpointUrl: string
  readonly description: string
  readonly pricingModel: PricingModel
  readonly defaultPrice: Microcents
  /** Features of its MCP server that are not offered; undefined: none. */
  readonly featuresOff?: ReadonlyArray<ServerFeature> | undefined
  /** Undefined: its tools can be called, and it can be paid out. */
  readonly frozen?: ProviderFreeze | undefined
  readonly createdAt: DateTime.Utc
}

/** What a provider may change of its account itself; undefined: as it is. */
export interface ProviderChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly email?: string | undefined
  readonly endpointUrl?: string | undefined
}

/** An account that pays for calls. Its API keys are apart from it: see `ApiKey`. */
export interface Consumer {
  readonly id: ConsumerId
  readonly name: string
  readonly email: string
  readonly useCase: string
  readonly rateLimitRpm: number
  /** Cap for one usage-priced call if neither the call nor the key has one. */
  readonly defaultCap?: Microcents | undefined
  readonly createdAt: DateTime.Utc
}

/** The erasure of an account's personal data: who requested it, when, and what the account had or owed. */
export interface Erasure {
  readonly ownerId: ConsumerId | ProviderId
  readonly role: "consumer" | "provider"
  /** The operator's name for the requester. */
  readonly by: string
  readonly at: DateTime.Utc
  /** Below zero: owed by the account. */
  readonly leftMicrocents: bigint
}

const ERASED_NAME = "Erased account"
/** Reserved by RFC 2606, so it never belongs to a person; unique, so that erased accounts do not look like one. */
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
