/**
 * Port to the accounts of consumers and providers.
 */
import { Context, type Effect, type Option } from "effect"
import type { FeeChange, ProviderFee } from "../ledger/PlatformFee.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { ServerFeature } from "./ServerFeatures.ts"
import type { Consumer, Erasure, Provider, ProviderChange, ProviderFreeze } from "./Account.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

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
