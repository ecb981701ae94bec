/**
 * Which features of its MCP server a provider offers through this service.
 */
import { Context, Effect, Layer, Option } from "effect"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { AccountStore, type ServerFeature } from "./Account.ts"

export class OfferedFeatures extends Context.Service<
  OfferedFeatures,
  {
    /** Those that are turned off. */
    turnedOff(providerId: ProviderId): Effect.Effect<ReadonlyArray<ServerFeature>, StoreUnavailable>
    /** Turns these off, and all others on. On every node within a second. */
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
