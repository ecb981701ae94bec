/**
 * Postings in units of work, and the totals of all of them.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import type { Contract } from "../shared/Contract.ts"
import {
  aConsumerId,
  atOnce,
  consumerWith,
  ledgerRule,
  type LedgerStores,
  LOT,
  money,
  payoutLeg,
  providerWith
} from "../shared/LedgerSamples.ts"

export const unitsOfWork: Contract<LedgerStores> = [
  ledgerRule(
    "undoes a posting with its unit of work",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const consumerId = yield* consumerWith(1_000)
      const reference = `undone ${consumerId}`
      const load = ledger.load({ consumerId, amount: money(500), reference })
      const unit = Effect.gen(function* () {
        yield* load
        assert.equal((yield* ledger.byReference(reference)).length, 2)
        return yield* Effect.fail("changed my mind")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "changed my mind")
      assert.equal((yield* ledger.wallet(consumerId)).available, 1_000n)
      assert.deepEqual(yield* ledger.byReference(reference), [])
      assert.equal((yield* atomically(load)).repeated, false)
      assert.equal((yield* ledger.wallet(consumerId)).available, 1_500n)
    })
  ),

  ledgerRule(
    "continues a unit of work after a rejected posting",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const consumerId = yield* aConsumerId
      const unit = Effect.gen(function* () {
        yield* ledger.load({ consumerId, amount: money(500), reference: `first ${consumerId}` })
        yield* Effect.flip(ledger.load({ consumerId, amount: money(501), reference: `first ${consumerId}` }))
        yield* Effect.flip(ledger.expireCredit({ consumerId, amount: money(501), reference: `too much ${consumerId}` }))
        yield* ledger.load({ consumerId, amount: money(1), reference: `second ${consumerId}` })
      })
      yield* atomically(unit)
      assert.equal((yield* ledger.wallet(consumerId)).available, 501n)
    })
  ),

  ledgerRule(
    "keeps money that a unit of work has read and locked until it ends",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const consumerId = yield* consumerWith(100)
      // Each takes what it has read; without the lock, two of them would read the same money.
      const takeAll = (n: number) =>
        atomically(
          Effect.gen(function* () {
            const { availableMicrocents: amount } = yield* ledger.lockedFunds(consumerId)
            if (amount === 0n) return 0n
            yield* Effect.yieldNow
            yield* ledger.expireCredit({ consumerId, amount: money(amount), reference: `${consumerId} ${n}` })
            return amount
          })
        )
      const taken = yield* atOnce(8, takeAll)
      assert.equal(
        taken.reduce((sum, amount) => sum + amount, 0n),
        100n
      )
    })
  ),

  ledgerRule(
    "has totals whose debits equal their credits, and an audit without discrepancies",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* consumerWith(10_000)
      const providerId = yield* providerWith({ [LOT]: 900 })
      const before = yield* ledger.trialBalance
      yield* ledger.post({ reference: `payout of ${providerId}`, legs: [payoutLeg(providerId, 400)] })
      const after = yield* ledger.trialBalance
      assert.equal(after.balanced, true)
      assert.equal(after.credits - before.credits, 400n)
      assert.equal(after.debits - before.debits, 400n)
      assert.deepEqual((yield* ledger.audit).discrepancies, [])
    })
  )
]
