/**
 * Postings beside calls.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import type { BudgetStore } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import type { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { lotDayOf } from "../../../domain/ledger/Transfer.ts"
import type { CallStore } from "../../../domain/metering/CallStore.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aCall, callRule, opened, settled } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, consumerWith, LOT, money, OPENED_AT, payoutLeg, platformWith } from "../shared/LedgerSamples.ts"

export const postingsBesideCalls: Contract<BudgetStore | CallStore | LedgerStore | UnitOfWork> = [
  callRule(
    "does not take the holds of open calls from a wallet",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      yield* platformWith(5_000)
      yield* ledger.credit({ consumerId, amount: money(5_000), reference: `promo:${consumerId}` })
      yield* opened(yield* aCall(consumerId))
      const expiry = { consumerId, reference: `expiry:${consumerId}` }
      const error = yield* Effect.flip(ledger.expireCredit({ ...expiry, amount: money(4_001) }))
      assert.ok(error._tag === "InsufficientBalance", error.message)
      const { account, availableMicrocents, neededMicrocents, ownerId } = error
      assert.deepEqual(
        [account, ownerId, availableMicrocents, neededMicrocents],
        ["wallet", consumerId, 4_000n, 4_001n]
      )
      assert.deepEqual(yield* ledger.byReference(expiry.reference), [])
      yield* ledger.expireCredit({ ...expiry, amount: money(4_000) })
      assert.equal((yield* ledger.wallet(consumerId)).available, 0n)
    })
  ),

  callRule(
    "counts the earnings of calls in the lot of their day, and pays out of each lot at most its balance",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const call = yield* aCall(yield* consumerWith(10_000))
      yield* settled(call)
      const { providerId } = call
      const nextDay = DateTime.add(OPENED_AT, { days: 1 })
      yield* settled(yield* aCall(yield* consumerWith(10_000), { providerId, openedAt: nextDay }))
      const lots = yield* ledger.lots(providerId)
      assert.deepEqual(lots, [
        { day: LOT, credits: 900n, debits: 0n, earned: 900n },
        { day: lotDayOf(nextDay), credits: 900n, debits: 0n, earned: 900n }
      ])
      const tooMuch = yield* Effect.flip(
        ledger.post({ reference: `a:${providerId}`, legs: [payoutLeg(providerId, 901)] })
      )
      assert.ok(tooMuch._tag === "InsufficientBalance", tooMuch.message)
      const { account, availableMicrocents, neededMicrocents } = tooMuch
      assert.deepEqual([account, availableMicrocents, neededMicrocents], ["provider", 900n, 901n])
      yield* ledger.post({ reference: `b:${providerId}`, legs: [payoutLeg(providerId, 900)] })
      assert.deepEqual(yield* ledger.lots(providerId), lots.slice(1))
      assert.partialDeepStrictEqual(yield* ledger.provider(providerId), { balance: 900n, frozen: 0n })
    })
  ),

  callRule(
    "undoes a posting with its unit of work, but not the calls made meanwhile",
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
      yield* Effect.all([Effect.flip(atomically(unit)), Effect.flatMap(aCall(consumerId), settled)], {
        concurrency: "unbounded"
      })
      assert.equal((yield* ledger.wallet(consumerId)).available, 0n)
      assert.deepEqual(yield* ledger.byReference(reference), [])
      assert.equal((yield* atomically(load)).repeated, false)
      assert.equal((yield* ledger.wallet(consumerId)).available, 500n)
    })
  )
]
