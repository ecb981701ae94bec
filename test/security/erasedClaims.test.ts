/**
 * Erasing an account that owes or is owed a refund: the claim must not be lost.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Erasure } from "../../domain/erasure/Erasure.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { memoryCore } from "../support/metering/Core.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

it.layer(memoryCore, LIVE)("Erasure with claims", (it) => {
  it.effect("is rejected for an account that owes or is owed a refund", () =>
    Effect.gen(function* () {
      const providerId = ProviderId.make((yield* aProvider()).id)
      const consumerId = ConsumerId.make((yield* aConsumer()).id)
      const amounts = { cost: fromCents(100), fee: fromCents(0), frozen: fromCents(0) }
      const refund = {
        subject: randomUUID(),
        receiptId: callOfTransfer(randomUUID()),
        providerId,
        consumerId,
        lot: "2026-10-01",
        ...amounts
      }
      assert.strictEqual(yield* (yield* Refunds).refund(refund), 0n)
      const { erase } = yield* Erasure
      for (const ownerId of [providerId, consumerId]) {
        const refused = yield* Effect.flip(erase({ ownerId, by: "operator", leaveMoney: false }))
        assert.strictEqual(refused._tag, "MoneyRemaining")
      }
    })
  )
})
