/**
 * Port to accounts.
 */
import { Context, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Consumer, Erasure, Provider } from "./Account.ts"

export class AccountStore extends Context.Service<
  AccountStore,
  {
    insertProvider(provider: Provider): Effect.Effect<void>
    insertConsumer(consumer: Consumer): Effect.Effect<void>
    findProvider(id: ProviderId): Effect.Effect<Option.Option<Provider>>
    findConsumer(id: ConsumerId): Effect.Effect<Option.Option<Consumer>>
    /** Writes the complete account, except the default cap. */
    updateProvider(provider: Provider): Effect.Effect<void>
    updateConsumer(consumer: Consumer): Effect.Effect<void>
    setDefaultCap(id: ConsumerId, cap: Microcents | undefined): Effect.Effect<void>
    /** The first record of an account stays. */
    recordErasure(erasure: Erasure): Effect.Effect<void>
    erasureOf(ownerId: ConsumerId | ProviderId): Effect.Effect<Option.Option<Erasure>>
    readonly counts: Effect.Effect<{ readonly providers: number; readonly consumers: number }>
  }
>()("agent-tool-billing/domain/accounts/AccountStore") {}
