/**
 * What PaidFunds must do beside the ledger and the calls of its books. Whose money a call spends, it decides by the calls'
 * settlement, whatever was posted since.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { PaidFunds } from "../../../domain/ledger/PaidFunds.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aCall, aReceiptId, type Books, opened, settled } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, consumerWith, ledgerRule, money, OPENED_AT, platformWith, uuid } from "../shared/LedgerSamples.ts"

const given = Effect.fnUntraced(function* (consumerId: ConsumerId, amount: number) {
  yield* platformWith(amount)
  yield* (yield* Ledger).credit({ consumerId, amount: money(amount), reference: `given ${yield* uuid}` })
})

const loaded = Effect.fnUntraced(function* (consumerId: ConsumerId, amount: number) {
  yield* (yield* Ledger).load({ consumerId, amount: money(amount), reference: `load ${yield* uuid}` })
})

/** A call settled so many seconds after OPENED_AT. */
const spent = Effect.fnUntraced(function* (consumerId: ConsumerId, cost: number, second: number) {
  const call = yield* aCall(consumerId, {
    openedAt: DateTime.add(OPENED_AT, { seconds: second }),
    holdAmount: money(cost)
  })
  yield* settled(call, { cost })
  return { consumerId, receiptId: call.invocationId, cost: BigInt(cost) }
})

export const paidFundsContract: Contract<PaidFunds | Books> = [
  ledgerRule(
    "counts everything as paid before a consumer's first credit",
    Effect.gen(function* () {
      const { paid, paidOf } = yield* PaidFunds
      const consumerId = yield* consumerWith(1_000)
      const call = yield* spent(consumerId, 300, 1)
      assert.deepEqual([yield* paid(consumerId), yield* paidOf(call)], [700n, 300n])
      assert.equal(yield* paid(yield* aConsumerId), 0n)
    })
  ),

  ledgerRule(
    "counts what calls hold as paid, until they spend it",
    Effect.gen(function* () {
      const { paid } = yield* PaidFunds
      const consumerId = yield* consumerWith(1_000)
      yield* given(consumerId, 500)
      yield* opened(yield* aCall(consumerId, { holdAmount: money(1_200) }))
      assert.equal(yield* paid(consumerId), 1_000n)
    })
  ),

  ledgerRule(
    "knows of each call how much of it was spent from paid funds, in the order of settlement",
    Effect.gen(function* () {
      const { paid, paidOf } = yield* PaidFunds
      const consumerId = yield* consumerWith(1_000)
      const calls = [yield* spent(consumerId, 100, 1)]
      yield* given(consumerId, 500)
      calls.push(yield* spent(consumerId, 600, 2), yield* spent(consumerId, 700, 3), yield* spent(consumerId, 50, 4))
      assert.equal(yield* paid(consumerId), 0n)
      yield* loaded(consumerId, 400)
      calls.push(yield* spent(consumerId, 450, 5))
      yield* given(consumerId, 40)
      assert.deepEqual(yield* Effect.forEach(calls, paidOf), [100n, 600n, 300n, 0n, 400n])
      const unknown = { consumerId, receiptId: yield* aReceiptId, cost: 10n }
      assert.deepEqual([yield* paid(consumerId), yield* paidOf(unknown)], [0n, 0n])
    })
  ),

  ledgerRule(
    "restores the part of a refund that was spent from credit as credit",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { paid } = yield* PaidFunds
      const consumerId = yield* consumerWith(100)
      yield* given(consumerId, 100)
      yield* spent(consumerId, 200, 1)
      yield* platformWith(200)
      const leg = { kind: "refund", debit: "platform_fee", credit: "wallet", consumerId, amount: money(200) } as const
      yield* ledger.post({ reference: `refund ${yield* uuid}`, legs: [leg], restoredCredit: 60n })
      assert.equal(yield* paid(consumerId), 140n)
    })
  ),

  ledgerRule(
    "takes an expiry from credit, and anything else out of the wallet from paid funds",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { paid } = yield* PaidFunds
      const consumerId = yield* consumerWith(1_000)
      yield* given(consumerId, 500)
      yield* ledger.expireCredit({ consumerId, amount: money(300), reference: `expiry ${yield* uuid}` })
      assert.equal(yield* paid(consumerId), 1_000n)
      // More than is left of the credit.
      yield* ledger.expireCredit({ consumerId, amount: money(300), reference: `expiry ${yield* uuid}` })
      assert.equal(yield* paid(consumerId), 900n)
      yield* given(consumerId, 200)
      const back = { consumerId, amount: money(1_500), cause: "dispute" } as const
      yield* ledger.reverse({ ...back, reference: `back ${yield* uuid}` })
      // Credit paid $200 of the reversal, $400 is owed. More credit pays the debt, and none of it becomes paid funds.
      yield* given(consumerId, 500)
      assert.deepEqual([yield* paid(consumerId), (yield* ledger.wallet(consumerId)).available], [-600n, 100n])
      yield* loaded(consumerId, 700)
      assert.equal(yield* paid(consumerId), 100n)
    })
  ),

  ledgerRule(
    "undoes a split with its unit of work",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const { paid } = yield* PaidFunds
      const consumerId = yield* consumerWith(100)
      yield* given(consumerId, 100)
      yield* Effect.flip(atomically(Effect.andThen(loaded(consumerId, 50), Effect.fail("changed my mind"))))
      assert.equal(yield* paid(consumerId), 100n)
      yield* loaded(consumerId, 50)
      assert.equal(yield* paid(consumerId), 150n)
    })
  )
]
