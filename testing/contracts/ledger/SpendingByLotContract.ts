/**
 * What SpendingByLot must do with the calls of its books.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { SpendingByLot } from "../../../domain/processor/Chargebacks.ts"
import { aCall, type Books, settled } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aProviderId, consumerWith, ledgerRule, OPENED_AT } from "../shared/LedgerSamples.ts"

const NEXT_DAY = DateTime.add(OPENED_AT, { days: 1 })

export const spendingByLotContract: Contract<SpendingByLot | Books> = [
  ledgerRule(
    "sums what a consumer's calls earned each provider on each settlement day, oldest first",
    Effect.gen(function* () {
      const { since } = yield* SpendingByLot
      const [consumer, other] = [yield* consumerWith(20_000), yield* consumerWith(20_000)]
      const providerId = yield* aProviderId
      const call = (openedAt: DateTime.Utc) => aCall(consumer, { openedAt, providerId })
      yield* settled(yield* call(NEXT_DAY), { cost: 1_000 })
      yield* settled(yield* call(OPENED_AT), { cost: 1_000 })
      yield* settled(yield* call(OPENED_AT), { cost: 500 })
      yield* settled(yield* call(OPENED_AT), { cost: 0, status: "error" })
      yield* settled(yield* aCall(other, { providerId }), { cost: 700 })
      assert.deepEqual(yield* since(consumer, OPENED_AT, []), [
        { providerId, day: "2026-11-20", net: 1_350n },
        { providerId, day: "2026-11-21", net: 900n }
      ])
      assert.deepEqual(yield* since(consumer, NEXT_DAY, []), [{ providerId, day: "2026-11-21", net: 900n }])
      assert.deepEqual(yield* since(consumer, DateTime.add(NEXT_DAY, { days: 1 }), []), [])
    })
  ),

  ledgerRule(
    "leaves the given calls out",
    Effect.gen(function* () {
      const { since } = yield* SpendingByLot
      const consumer = yield* consumerWith(20_000)
      const [counted, left] = [yield* aCall(consumer), yield* aCall(consumer)]
      for (const call of [counted, left]) yield* settled(call, { cost: 1_000 })
      assert.deepEqual(yield* since(consumer, OPENED_AT, [left.invocationId]), [
        { providerId: counted.providerId, day: "2026-11-20", net: 900n }
      ])
    })
  )
]
