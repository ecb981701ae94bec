/**
 * Refreshing the scores that the catalog shows, while a store fails.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { SlaStore } from "../../domain/trust/SlaStore.ts"
import { aProvider } from "../support/market/Market.ts"
import { rebuilt } from "../support/market/Rebuilt.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../support/metering/Core.ts"

it.layer(memoryCore, LIVE)("A refresh of scores", (it) => {
  it.effect("that fails for a provider refreshes the others, and is repeated for that provider", () =>
    Effect.gen(function* () {
      const store = yield* SlaStore
      const changed = Effect.gen(function* () {
        const providerId = ProviderId.make((yield* aProvider()).id)
        yield* store.touch(providerId)
        return providerId
      })
      const [first, second] = (yield* Effect.all([changed, changed])).toSorted() as [ProviderId, ProviderId]
      let isLocked = true
      const locked = Effect.suspend(() => new StoreUnavailable({ reason: "busy", cause: new Error("lock timeout") }))
      const { refresh } = yield* rebuilt(ProviderTrust, ProviderTrust.layer, SlaStore, {
        ...store,
        settle: (score, date) => (isLocked && score.providerId === first ? locked : store.settle(score, date))
      })
      const isScored = (id: ProviderId) => Effect.map(store.catalogScore(id), Option.isSome)
      assert.strictEqual((yield* Effect.flip(refresh)).reason, "busy")
      assert.deepStrictEqual([yield* isScored(first), yield* isScored(second)], [false, true])
      isLocked = false
      assert.strictEqual(yield* refresh, 1)
      assert.isTrue(yield* isScored(first))
      assert.strictEqual(yield* refresh, 0)
    })
  )
})
