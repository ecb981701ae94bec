/**
 * Registers a provider or a consumer with its first key, and a provider's first tools, all or nothing.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { AccountStore, type Consumer, type PricingModel, type Provider } from "../accounts/Account.ts"
import { type Principal, RateLimitPolicy } from "../accounts/Authentication.ts"
import { type EndpointBlocked, EndpointGuard } from "../accounts/EndpointGuard.ts"
import { Keys, type MintedKey } from "../accounts/Keys.ts"
import { Catalog } from "../catalog/Catalog.ts"
import type { ToolOutcome } from "../catalog/CatalogStore.ts"
import type { ToolChange } from "../catalog/Tool.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { type HandleRejection, Handles } from "./Handles.ts"

/** A new provider's description of itself, with the tools that it lists at once. */
export interface ProviderApplication {
  /** Default: a new one. */
  readonly id?: ProviderId | undefined
  readonly name: string
  /** Default: derived from the name. */
  readonly handle?: string | undefined
  readonly email: string
  readonly endpointUrl: string
  readonly description: string
  readonly pricingModel: PricingModel
  readonly defaultPrice: Microcents
  readonly tools: ReadonlyArray<ToolChange>
}

/** Without a requested limit a consumer gets the default one. */
export interface ConsumerApplication {
  readonly name: string
  readonly email: string
  readonly useCase: string
  readonly rateLimitRpm: number | undefined
  /** The account's cap for usage-priced calls without their own. */
  readonly defaultCap?: Microcents | undefined
}

/** Reported only to the holder of that account's key, so that registration does not reveal addresses. */
export class AlreadyRegistered extends Schema.TaggedError<AlreadyRegistered>()("AlreadyRegistered", {
  role: Schema.String,
  ownerId: Schema.String
}) {
  override get message() {
    return (
      `The key that you sent belongs to ${this.role} ${this.ownerId}, registered with this email address already. ` +
      "Create another key of it, or register without a key for another account."
    )
  }
}

/** At least one tool of a new provider is invalid. Neither the account nor the other tools were created. */
export class ToolsRejected extends Schema.TaggedError<ToolsRejected>()("ToolsRejected", {
  tools: Schema.Array(Schema.Struct({ index: Schema.Int, tool_name: Schema.String, error: Schema.String }))
}) {
  override get message() {
    return `Nothing was registered: ${this.tools.map((tool) => `${tool.tool_name}: ${tool.error}`).join("; ")}`
  }
}

export class Registration extends Context.Service<
  Registration,
  {
    provider(
      application: ProviderApplication,
      caller: Principal | undefined
    ): Effect.Effect<
      { readonly provider: Provider; readonly minted: MintedKey; readonly tools: ReadonlyArray<ToolOutcome> },
      AlreadyRegistered | EndpointBlocked | ToolsRejected | HandleRejection | StoreUnavailable
    >
    consumer(
      application: ConsumerApplication,
      caller: Principal | undefined
    ): Effect.Effect<{ readonly consumer: Consumer; readonly minted: MintedKey }, AlreadyRegistered | StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/Registration") {
  static readonly layer = Layer.effect(
    Registration,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const catalog = yield* Catalog
      const handles = yield* Handles
      const keys = yield* Keys
      const entropy = yield* Entropy
      const limits = yield* RateLimitPolicy
      const { atomically } = yield* UnitOfWork

      const endpoints = yield* EndpointGuard

      const insertProvider = Effect.fnUntraced(function* (
        application: ProviderApplication,
        caller: Principal | undefined
      ) {
        if (caller?.role === "provider") {
          const known = yield* accounts.findProvider(caller.ownerId)
          if (known._tag === "Some" && known.value.email === application.email) {
            return yield* new AlreadyRegistered({ role: caller.role, ownerId: caller.ownerId })
          }
        }
        const { id: given, tools: declarations, ...profile } = application
        const id = given ?? ProviderId.make(yield* entropy.uuid)
        const provider: Provider = {
          ...profile,
          id,
          handle: yield* handles.assign(id, application.handle, application.name),
          featuresOff: undefined,
          createdAt: yield* DateTime.now
        }
        yield* accounts.insertProvider(provider)
        const minted = yield* keys.mint({ role: "provider", ownerId: provider.id }, firstKey)
        const { stored, rejected } = yield* catalog.upsert(provider.id, declarations)
        if (rejected.length > 0) return yield* new ToolsRejected({ tools: rejected })
        return { provider, minted, tools: stored }
      }, atomically)

      const provider = Effect.fn("Registration.provider")(function* (
        application: ProviderApplication,
        caller: Principal | undefined
      ) {
        yield* endpoints.check(application.endpointUrl)
        return yield* insertProvider(application, caller)
      })

      const consumer = Effect.fn("Registration.consumer")(function* (
        application: ConsumerApplication,
        caller: Principal | undefined
      ) {
        if (caller?.role === "consumer") {
          const known = yield* accounts.findConsumer(caller.ownerId)
          if (known._tag === "Some" && known.value.email === application.email) {
            return yield* new AlreadyRegistered({ role: caller.role, ownerId: caller.ownerId })
          }
        }
        const consumer: Consumer = {
          id: ConsumerId.make(yield* entropy.uuid),
          name: application.name,
          email: application.email,
          useCase: application.useCase,
          rateLimitRpm: Math.min(application.rateLimitRpm ?? limits.defaultRpm, limits.ceilingRpm),
          defaultCap: application.defaultCap,
          createdAt: yield* DateTime.now
        }
        yield* accounts.insertConsumer(consumer)
        const minted = yield* keys.mint({ role: "consumer", ownerId: consumer.id }, firstKey)
        return { consumer, minted }
      }, atomically)

      return Registration.of({ provider, consumer })
    })
  )
}

const firstKey = { label: "first key", expiresAt: undefined }
