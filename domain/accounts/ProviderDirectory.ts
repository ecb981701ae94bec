/**
 * Providers by id or handle, for the hot path: a bounded cache in front of the stores. A change of an account removes it from
 * the cache on every node.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { AccountStore, type Provider, type ServerFeature } from "./Account.ts"
import { HandleStore, isHandle } from "./Handle.ts"

const PROVIDERS_MAX = 20_000
const TTL_MS = 30_000
const SHOWN_CHARS_MAX = 64

/** No provider has this handle or id. */
export class ProviderNotFound extends Schema.TaggedError<ProviderNotFound>()("ProviderNotFound", {
  named: Schema.String
}) {
  override get message() {
    return `There is no provider \`${this.named.slice(0, SHOWN_CHARS_MAX)}\`.`
  }
}

export class ProviderDirectory extends Context.Service<
  ProviderDirectory,
  {
    /** Finds it by id, or by a handle that resolves. The cache is read at the call, not when the effect runs. */
    find(name: string): Effect.Effect<Provider, ProviderNotFound | StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/ProviderDirectory") {
  static readonly layer = Layer.effect(
    ProviderDirectory,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const handles = yield* HandleStore
      const feed = yield* ChangeFeed
      const cache = yield* makeFreshCache<Option.Option<Provider>>({ entriesMax: PROVIDERS_MAX, ttlMs: TTL_MS })

      yield* onEachChange(feed, ({ topic }) => {
        if (topic === "account" || topic === "provider" || topic === "everything") cache.forgetAll()
      })

      const idOf = (name: string): Effect.Effect<Option.Option<ProviderId>, StoreUnavailable> =>
        isHandle(name) ? handles.resolve(name) : Effect.succeed(ProviderId.makeOption(name))

      const load = Effect.fnUntraced(function* (name: string) {
        const id = yield* idOf(name)
        if (Option.isNone(id)) return Option.none()
        const erased = yield* accounts.erasureOf(id.value)
        return Option.isSome(erased) ? Option.none() : yield* accounts.findProvider(id.value)
      })

      return ProviderDirectory.of({
        find: (name) =>
          // Unknown names are not cached: any client could fill the cache with them.
          Effect.flatMapEager(cache.readThrough(name, load(name), Option.isSome), (found) =>
            Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(new ProviderNotFound({ named: name }))
          )
      })
    })
  )
}

/** The features of its MCP server that a provider offers through this service. */
export class OfferedFeatures extends Context.Service<
  OfferedFeatures,
  {
    /** Those that are turned off. */
    turnedOff(providerId: ProviderId): Effect.Effect<ReadonlyArray<ServerFeature>, StoreUnavailable>
    /** Turns these off, and all others on, on every node within a second. */
    turnOff(providerId: ProviderId, features: ReadonlyArray<ServerFeature>): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/OfferedFeatures") {
  static readonly layer = Layer.effect(
    OfferedFeatures,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork

      return OfferedFeatures.of({
        turnedOff: Effect.fn("OfferedFeatures.turnedOff")((providerId) =>
          Effect.map(
            accounts.findProvider(providerId),
            Option.match({ onNone: () => [], onSome: ({ featuresOff }) => featuresOff ?? [] })
          )
        ),
        turnOff: Effect.fn("OfferedFeatures.turnOff")(function* (providerId, features) {
          yield* accounts.setFeaturesOff(providerId, features)
          yield* feed.publish({ topic: "provider", id: providerId })
        }, atomically)
      })
    })
  )
}
