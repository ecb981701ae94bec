/**
 * The platform fee of each provider: the default one, or one of its own that the operator set.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { CatalogPolicy } from "../catalog/Terms.ts"
import {
  DefaultFeeBasisPoints,
  type FeeChange,
  type OwnFee,
  planFee,
  type ProviderFee,
  providerFeeAt
} from "../ledger/PlatformFee.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ProviderUnknown } from "../trust/Trust.ts"

/** The fee that a provider's calls pay now, and the change that is announced. */
export interface FeeInEffect {
  readonly basisPoints: number
  readonly isDefault: boolean
  readonly upcoming:
    | { readonly basisPoints: number; readonly isDefault: boolean; readonly effectiveFrom: DateTime.Utc }
    | undefined
}

export class PlatformFees extends Context.Service<
  PlatformFees,
  {
    find(providerId: ProviderId): Effect.Effect<FeeInEffect, ProviderUnknown | StoreUnavailable>
    /**
     * Sets the fee of a provider; undefined: the default fee. An increase takes effect after the price notice. Calls that are
     * held keep the fee that is recorded on them.
     */
    set(
      providerId: ProviderId,
      wanted: OwnFee,
      origin: Pick<FeeChange, "by" | "reason">
    ): Effect.Effect<FeeInEffect, ProviderUnknown | StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/PlatformFees") {
  static readonly layer = Layer.effect(
    PlatformFees,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const feed = yield* ChangeFeed
      const defaultFee = yield* DefaultFeeBasisPoints
      const { priceNotice: notice } = yield* CatalogPolicy
      const { atomically } = yield* UnitOfWork

      const known = Effect.fnUntraced(function* (providerId: ProviderId) {
        const fee = Option.getOrUndefined(yield* accounts.feeOf(providerId))
        return fee ?? (yield* new ProviderUnknown({ providerId }))
      })

      const set = Effect.fn("PlatformFees.set")(function* (
        providerId: ProviderId,
        wanted: OwnFee,
        { by, reason }: Pick<FeeChange, "by" | "reason">
      ) {
        const before = yield* known(providerId)
        const now = yield* DateTime.now
        const fee = planFee(before, wanted, { defaultFee, notice, now })
        yield* accounts.setFee(providerId, { fee, at: now, by, reason })
        yield* feed.publish({ topic: "account", id: providerId })
        return feeInEffect(fee, defaultFee, now)
      }, atomically)

      return PlatformFees.of({
        find: Effect.fn("PlatformFees.find")(function* (providerId) {
          return feeInEffect(yield* known(providerId), defaultFee, yield* DateTime.now)
        }),
        set
      })
    })
  )
}

const feeInEffect = (fee: ProviderFee, defaultFee: number, now: DateTime.Utc): FeeInEffect => {
  const { own, upcoming } = providerFeeAt(fee, now.epochMilliseconds)
  return {
    basisPoints: own ?? defaultFee,
    isDefault: own === undefined,
    upcoming:
      upcoming === undefined
        ? undefined
        : {
            basisPoints: upcoming.own ?? defaultFee,
            isDefault: upcoming.own === undefined,
            effectiveFrom: upcoming.effectiveFrom
          }
  }
}
