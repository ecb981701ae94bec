/**
 * Default cap for one usage-priced call without its own: of a key, otherwise of the account.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ConsumerId, KeyId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { AccountStore } from "./Account.ts"
import { type ApiKey, KeyNotFound, KeyStore } from "./Keys.ts"

export class DefaultCaps extends Context.Service<
  DefaultCaps,
  {
    /** Undefined removes it. */
    setOfAccount(consumerId: ConsumerId, cap: Microcents | undefined): Effect.Effect<void, StoreUnavailable>
    setOfKey(
      consumerId: ConsumerId,
      id: KeyId,
      cap: Microcents | undefined
    ): Effect.Effect<ApiKey, KeyNotFound | StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/DefaultCaps") {
  static readonly layer = Layer.effect(
    DefaultCaps,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const keys = yield* KeyStore
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork

      // Key by key: a change of the account's topic would make every node drop all its keys and tools.
      const setOfAccount = Effect.fn("DefaultCaps.setOfAccount")(function* (
        consumerId: ConsumerId,
        cap: Microcents | undefined
      ) {
        const known = yield* keys.ofOwner(consumerId, yield* DateTime.now)
        yield* accounts.setDefaultCap(consumerId, cap)
        yield* feed.publishAll(known.map(({ hash }) => ({ topic: "key", id: hash })))
      }, atomically)

      const setOfKey = Effect.fn("DefaultCaps.setOfKey")(function* (
        consumerId: ConsumerId,
        id: KeyId,
        cap: Microcents | undefined
      ) {
        const changed = yield* keys.setDefaultCap(consumerId, id, cap)
        if (Option.isNone(changed)) return yield* new KeyNotFound({ keyId: id })
        yield* feed.publish({ topic: "key", id: changed.value.hash })
        return changed.value
      }, atomically)

      return DefaultCaps.of({ setOfAccount, setOfKey })
    })
  )
}
