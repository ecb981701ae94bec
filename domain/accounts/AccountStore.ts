/**
 * Where accounts are kept.
 */
import { Context, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Consumer, Provider } from "./Account.ts"

export class AccountStore extends Context.Service<
  AccountStore,
  {
    insertProvider(provider: Provider): Effect.Effect<void>
    insertConsumer(consumer: Consumer): Effect.Effect<void>
    findProvider(id: ProviderId): Effect.Effect<Option.Option<Provider>>
    findConsumer(id: ConsumerId): Effect.Effect<Option.Option<Consumer>>
    readonly counts: Effect.Effect<{ readonly providers: number; readonly consumers: number }>
  }
>()("agent-tool-billing/domain/accounts/AccountStore") {}
