/**
 * Gives handles to providers: the requested one, one derived from the name, or one that the operator assigns.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { HandleStore, type Imitation, isReserved, skeletonOf, slugOf, suffixed } from "../accounts/Handle.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ProviderUnknown } from "../trust/Trust.ts"

const IMITATIONS_SHOWN_MAX = 100
const NEUTRAL = "provider"

/** Handles stay with the provider that used them first, also after it has another one. */
export class HandleTaken extends Schema.TaggedError<HandleTaken>()("HandleTaken", { handle: Schema.String }) {
  override get message() {
    return `The handle \`${this.handle}\` is or was used by another provider. Choose another handle.`
  }
}

/** The handle is reserved, or looks like that of a verified provider. */
export class HandleRejected extends Schema.TaggedError<HandleRejected>()("HandleRejected", {
  handle: Schema.String,
  reason: Schema.Literals(["reserved", "imitates"]),
  like: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    return this.reason === "reserved"
      ? `The handle \`${this.handle}\` is reserved. Choose another handle.`
      : `The handle \`${this.handle}\` looks like \`${this.like}\`, the handle of a verified provider. Choose another handle.`
  }
}

/** The operator's order to give a provider another handle. */
export interface HandleOrder {
  readonly providerId: ProviderId
  readonly handle: string
  /** The previous handle no longer resolves. */
  readonly retirePrevious: boolean
}

/** The provider's handle from now on, and the one before. */
export interface Reassigned {
  readonly handle: string
  readonly previous: string
}

export class Handles extends Context.Service<
  Handles,
  {
    /** Assigns one to a provider that is being registered, in the caller's unit of work. */
    assign(
      providerId: ProviderId,
      requested: string | undefined,
      name: string
    ): Effect.Effect<string, HandleRejection | StoreUnavailable>
    /**
     * Assigns another handle. The previous one stays with this provider and resolves to it unless it is retired, so
     * calls that use it still work.
     */
    reassign(order: HandleOrder): Effect.Effect<Reassigned, HandleRejection | ProviderUnknown | StoreUnavailable>
    /** Finds providers that had their handle before the imitated one was verified. */
    readonly imitations: Effect.Effect<ReadonlyArray<Imitation>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/Handles") {
  static readonly layer = Layer.effect(
    Handles,
    Effect.gen(function* () {
      const store = yield* HandleStore
      const accounts = yield* AccountStore
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork

      const rejectionOf = Effect.fnUntraced(function* (handle: string, providerId: ProviderId) {
        if (isReserved(handle)) return new HandleRejected({ handle, reason: "reserved", like: undefined })
        const like = Option.getOrUndefined(yield* store.imitated(skeletonOf(handle), providerId))
        return like === undefined ? undefined : new HandleRejected({ handle, reason: "imitates", like })
      })

      const isClaimed = Effect.fnUntraced(function* (handle: string, providerId: ProviderId) {
        if (yield* store.beginsToolName(handle, providerId)) return false
        return yield* store.claim({ handle, skeleton: skeletonOf(handle), providerId, at: yield* DateTime.now })
      })

      const claim = Effect.fnUntraced(function* (handle: string, providerId: ProviderId) {
        const known = (yield* store.ownersOf([handle])).get(handle)
        if (known !== undefined && known !== providerId) return yield* new HandleTaken({ handle })
        const rejection = yield* rejectionOf(handle, providerId)
        if (rejection !== undefined) return yield* rejection
        if (!(yield* isClaimed(handle, providerId))) return yield* new HandleTaken({ handle })
        return handle
      })

      /** A name that is reserved, or resembles a verified provider's, is not used for the handle. */
      const derive = Effect.fnUntraced(function* (providerId: ProviderId, name: string) {
        const slug = slugOf(name) ?? NEUTRAL
        const neutral = [6, 12, 20].map((digits) => suffixed(NEUTRAL, providerId, digits))
        const own = [slug, suffixed(slug, providerId, 6), suffixed(slug, providerId, 12)]
        const candidates = (yield* rejectionOf(slug, providerId)) === undefined ? [...own, ...neutral] : neutral
        for (const handle of candidates) {
          const rejected = (yield* rejectionOf(handle, providerId)) !== undefined
          if (!rejected && (yield* isClaimed(handle, providerId))) return handle
        }
        return yield* Effect.die(new Error(`No handle is available for provider ${providerId}`))
      })

      const reassign = Effect.fn("Handles.reassign")(function* (order: HandleOrder) {
        const { handle, providerId, retirePrevious } = order
        const provider = Option.getOrUndefined(yield* accounts.findProvider(providerId))
        if (provider === undefined || Option.isSome(yield* accounts.erasureOf(providerId))) {
          return yield* new ProviderUnknown({ providerId })
        }
        yield* claim(handle, providerId)
        if (retirePrevious && provider.handle !== handle) yield* store.retire(provider.handle)
        yield* accounts.updateProvider({ ...provider, handle })
        yield* feed.publish({ topic: "account", id: providerId })
        return { handle, previous: provider.handle }
      }, atomically)

      return Handles.of({
        assign: (providerId, requested, name) =>
          requested === undefined ? derive(providerId, name) : claim(requested, providerId),
        reassign,
        imitations: store.imitations(IMITATIONS_SHOWN_MAX)
      })
    })
  )
}

/** The reason why a provider does not get the handle that it requested. */
export type HandleRejection = HandleTaken | HandleRejected
