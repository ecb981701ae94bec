/**
 * Frozen providers: their tools cannot be called, reports of calls are rejected, and nothing is paid out. Calls in flight
 * are settled, payouts in progress end, and refunds are still taken from what a frozen provider has.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ProviderUnknown } from "../trust/Trust.ts"

export class ProviderFreezes extends Context.Service<
  ProviderFreezes,
  {
    /** A frozen provider keeps its time; the reason is replaced. Returns whether it was frozen before. */
    freeze(providerId: ProviderId, reason: string): Effect.Effect<boolean, ProviderUnknown | StoreUnavailable>
    /** Returns whether it was frozen. */
    unfreeze(providerId: ProviderId): Effect.Effect<boolean, ProviderUnknown | StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/ProviderFreezes") {
  static readonly layer = Layer.effect(
    ProviderFreezes,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork

      /** The provider's row is locked: see `feeOf`. */
      const set = Effect.fnUntraced(function* (providerId: ProviderId, reason: string | undefined) {
        yield* accounts.feeOf(providerId)
        const provider = Option.getOrUndefined(yield* accounts.findProvider(providerId))
        if (provider === undefined) return yield* new ProviderUnknown({ providerId })
        const { frozen } = provider
        yield* accounts.setFrozen(
          providerId,
          reason === undefined ? undefined : { reason, at: frozen?.at ?? (yield* DateTime.now) }
        )
        yield* feed.publish({ topic: "account", id: providerId })
        return frozen !== undefined
      }, atomically)

      return ProviderFreezes.of({
        freeze: Effect.fn("ProviderFreezes.freeze")((providerId, reason) => set(providerId, reason)),
        unfreeze: Effect.fn("ProviderFreezes.unfreeze")((providerId) => set(providerId, undefined))
      })
    })
  )
}
