/**
 * Each reference names one posting.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import type { Contract } from "../shared/Contract.ts"
import {
  aConsumerId,
  aProviderId,
  atOnce,
  consumerWith,
  ledgerRule,
  type LedgerStores,
  LOT,
  money,
  platformWith,
  uuid
} from "../shared/LedgerSamples.ts"

export const references: Contract<LedgerStores> = [
  ledgerRule(
    "posts a load once per reference, however often and concurrently it is requested",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      const load = { consumerId, amount: money(5_000), reference: `stripe:${consumerId}` }
      const answers = yield* atOnce(20, () => ledger.load(load))
      assert.equal(answers.filter((posted) => !posted.repeated).length, 1)
      assert.equal(new Set(answers.map((posted) => posted.transferId)).size, 1)
      assert.equal((yield* ledger.wallet(consumerId)).available, 5_000n)
    })
  ),

  ledgerRule(
    "rejects a reference of another posting",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      const load = { consumerId, amount: money(5_000), reference: `stripe:${consumerId}` }
      yield* ledger.load(load)
      for (const other of [{ amount: money(5_001) }, { consumerId: yield* aConsumerId }]) {
        const error = yield* Effect.flip(ledger.load({ ...load, ...other }))
        assert.equal(error._tag, "DuplicateReference")
        assert.ok(error.message.includes(load.reference), error.message)
      }
      assert.equal((yield* Effect.flip(ledger.credit(load)))._tag, "DuplicateReference")
      assert.equal((yield* ledger.wallet(consumerId)).available, 5_000n)
    })
  ),

  ledgerRule(
    "rejects a reference that covers only some of the legs, and writes none",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* consumerWith(10_000)
      const providerId = yield* aProviderId
      yield* platformWith(1_000)
      const common = { kind: "adjustment", debit: "platform_fee" } as const
      const first = { ...common, consumerId, credit: "wallet", amount: money(100) } as const
      const second = { ...common, providerId, credit: "provider", lot: LOT, amount: money(70) } as const
      for (const [known, other] of [
        [[first], [first, second]],
        [[first, second], [first]]
      ] as const) {
        const reference = `adjustment:${yield* uuid}`
        yield* ledger.post({ reference, legs: known })
        const before = [yield* ledger.wallet(consumerId), yield* ledger.provider(providerId)]
        assert.equal((yield* Effect.flip(ledger.post({ reference, legs: other })))._tag, "DuplicateReference")
        assert.equal((yield* ledger.byReference(reference)).length, known.length)
        assert.deepEqual([yield* ledger.wallet(consumerId), yield* ledger.provider(providerId)], before)
      }
      assert.deepEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
    })
  )
]
