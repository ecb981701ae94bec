/**
 * Providers, who sell tools, and consumers, who call them. An email address is a contact, not an identity: several
 * accounts may have the same one, so registration does not reveal who is registered.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { FeeChange, ProviderFee } from "../ledger/PlatformFee.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { membersOf, objectWith } from "../shared/JsonText.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { suffixed } from "./Handle.ts"

// Features of a provider's server, besides tools, that the provider can turn off: its endpoint here then does not
// declare the feature, rejects its requests, and drops its messages. Tools stay, since they are what the market sells.

export const SERVER_FEATURES = ["resources", "prompts", "completions", "logging"] as const
/** A feature that a provider can turn off. */
export type ServerFeature = (typeof SERVER_FEATURES)[number]

export interface FeatureRequest {
  readonly method: string
  readonly params: { readonly value: Readonly<Record<string, unknown>> } | undefined
}

/** The feature that the request needs and the provider has turned off. */
export const turnedOff = (off: ReadonlyArray<ServerFeature>, request: FeatureRequest): ServerFeature | undefined =>
  off.length === 0 ? undefined : featuresOf(request).find((feature) => off.includes(feature))

/** Some servers do not distinguish upper and lower case, or ignore other characters of a method. */
const featuresOf = ({ method, params }: FeatureRequest): ReadonlyArray<ServerFeature> => {
  const letters = method.toLowerCase().replaceAll(/[^a-z]/gu, "")
  if (letters.startsWith("resources")) return ["resources"]
  if (letters.startsWith("prompts")) return ["prompts"]
  if (letters.startsWith("logging")) return ["logging"]
  if (!letters.startsWith("completion")) return []
  const ref = params?.value["ref"]
  const type = typeof ref === "object" && ref !== null && "type" in ref ? ref.type : undefined
  return ["completions", type === "ref/prompt" ? "prompts" : "resources"]
}

/** Capabilities of a server, as JSON. */
export const withoutFeatures = (capabilities: string, off: ReadonlyArray<ServerFeature>): string =>
  off.reduce((left, feature) => objectWith(left, feature, undefined), capabilities)

/**
 * The params of `subscriptions/listen`, without announcements of features that are turned off, and of tasks, whose ids at
 * the server are others.
 */
export const withoutAnnouncements = (params: string, off: ReadonlyArray<ServerFeature>): string => {
  const wanted = membersOf(params).findLast(({ name }) => name === "notifications")?.text
  if (wanted === undefined || !wanted.startsWith("{")) return params
  const names = [...off.flatMap((feature) => ANNOUNCED[feature]), "taskIds"]
  return objectWith(
    params,
    "notifications",
    names.reduce((left, name) => objectWith(left, name, undefined), wanted)
  )
}

const ANNOUNCED: Readonly<Record<ServerFeature, ReadonlyArray<string>>> = {
  resources: ["resourcesListChanged", "resourceSubscriptions"],
  prompts: ["promptsListChanged"],
  completions: [],
  logging: []
}

export const isOfFeatures = (message: string, off: ReadonlyArray<ServerFeature>): boolean => {
  if (off.length === 0) return false
  const { method } = JSON.parse(message) as { readonly method?: unknown }
  return (
    typeof method === "string" && off.some((feature) => MESSAGES[feature].some((begin) => method.startsWith(begin)))
  )
}

const MESSAGES: Readonly<Record<ServerFeature, ReadonlyArray<string>>> = {
  resources: ["notifications/resources/"],
  prompts: ["notifications/prompts/"],
  completions: [],
  logging: ["notifications/message"]
}

/** A provider's description of its prices for people. Calls are billed by the terms of each tool, not by this. */
export type PricingModel = "per_call" | "per_token" | "free"

/** The freeze of a provider, which cannot sell meanwhile. Only the operator begins and ends it. */
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

/** A provider's change of its own account; undefined fields stay as they are. */
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
/** RFC 2606 reserves it, so it never belongs to a person; unique, so that erased accounts do not look like one. */
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

/** Port to the accounts of consumers and providers. */
export class AccountStore extends Context.Service<
  AccountStore,
  {
    /** Begins the history of its fee. */
    insertProvider(provider: Provider): Effect.Effect<void, StoreUnavailable>
    insertConsumer(consumer: Consumer): Effect.Effect<void, StoreUnavailable>
    findProvider(id: ProviderId): Effect.Effect<Option.Option<Provider>, StoreUnavailable>
    findConsumer(id: ConsumerId): Effect.Effect<Option.Option<Consumer>, StoreUnavailable>
    /**
     * The platform fee of a provider; none if there is no such provider. In a unit of work the provider's row is locked
     * until its end.
     */
    feeOf(id: ProviderId): Effect.Effect<Option.Option<ProviderFee>, StoreUnavailable>
    /** The change is also added to the history. */
    setFee(id: ProviderId, change: FeeChange): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    feeHistory(id: ProviderId): Effect.Effect<ReadonlyArray<FeeChange>, StoreUnavailable>
    /** Empty: all features are offered. */
    setFeaturesOff(id: ProviderId, features: ReadonlyArray<ServerFeature>): Effect.Effect<void, StoreUnavailable>
    /** Undefined: not frozen. */
    setFrozen(id: ProviderId, freeze: ProviderFreeze | undefined): Effect.Effect<void, StoreUnavailable>
    /** Writes the complete account, except the fee, the features, the freeze and the default cap. */
    updateProvider(provider: Provider): Effect.Effect<void, StoreUnavailable>
    /** Writes only what is given, so that concurrent changes of other fields stay. */
    changeProvider(id: ProviderId, change: ProviderChange): Effect.Effect<void, StoreUnavailable>
    updateConsumer(consumer: Consumer): Effect.Effect<void, StoreUnavailable>
    setDefaultCap(id: ConsumerId, cap: Microcents | undefined): Effect.Effect<void, StoreUnavailable>
    /** The first record of an account stays. */
    recordErasure(erasure: Erasure): Effect.Effect<void, StoreUnavailable>
    erasureOf(ownerId: ConsumerId | ProviderId): Effect.Effect<Option.Option<Erasure>, StoreUnavailable>
    readonly counts: Effect.Effect<{ readonly providers: number; readonly consumers: number }, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/AccountStore") {}
