/**
 * What a FreezeStore must do: a frozen account opens no calls, alone or in a batch; everything else continues.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import type { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aCall, closingOf, opened } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, consumerWith, ledgerRule, money } from "../shared/LedgerSamples.ts"

const FREEZE = {
  reason: "A payment is disputed at the bank.",
  at: DateTime.makeUnsafe("2026-11-20T10:00:00.000Z"),
  byOperator: false
}

export const freezeStoreContract: Contract<CallStore | FreezeStore | LedgerStore | UnitOfWork> = [
  ledgerRule(
    "freezes an account since the first freeze, for the latest reason, until it is unfrozen",
    Effect.gen(function* () {
      const store = yield* FreezeStore
      const consumerId = yield* aConsumerId
      assert.deepEqual(yield* store.find(consumerId), Option.none())
      assert.equal(yield* store.unfreeze(consumerId), false)
      yield* store.freeze(consumerId, FREEZE)
      const later = { at: DateTime.add(FREEZE.at, { minutes: 5 }), reason: "another one", byOperator: false }
      yield* store.freeze(consumerId, later)
      assert.deepEqual(yield* store.find(consumerId), Option.some({ ...FREEZE, reason: later.reason }))
      const frozen = yield* store.findAll([yield* aConsumerId, consumerId])
      assert.deepEqual([...frozen], [[consumerId, { ...FREEZE, reason: later.reason }]])
      assert.deepEqual([...(yield* store.findAll([]))], [])
      assert.ok((yield* store.frozen(undefined, 1_000)).includes(consumerId))
      assert.ok(!(yield* store.frozen(consumerId, 1_000)).includes(consumerId))
      assert.equal(yield* store.unfreeze(consumerId), true)
      assert.deepEqual(yield* store.find(consumerId), Option.none())
    })
  ),

  ledgerRule(
    "keeps a freeze by the operator until it is unfrozen",
    Effect.gen(function* () {
      const store = yield* FreezeStore
      const consumerId = yield* aConsumerId
      const ordered = { ...FREEZE, reason: "Fraud is suspected.", byOperator: true }
      yield* store.freeze(consumerId, FREEZE)
      yield* store.freeze(consumerId, ordered)
      yield* store.freeze(consumerId, FREEZE)
      assert.deepEqual(yield* store.find(consumerId), Option.some(ordered))
      yield* store.freeze(consumerId, { ...ordered, reason: "Fraud is proved." })
      assert.deepEqual(yield* store.find(consumerId), Option.some({ ...ordered, reason: "Fraud is proved." }))
      assert.equal(yield* store.unfreeze(consumerId), true)
      yield* store.freeze(consumerId, FREEZE)
      assert.deepEqual(yield* store.find(consumerId), Option.some(FREEZE))
    })
  ),

  ledgerRule(
    "lets a frozen account open no call, alone or in a batch, free or not, and holds nothing",
    Effect.gen(function* () {
      const { close, open } = yield* CallStore
      const store = yield* FreezeStore
      const { hex } = yield* Entropy
      const [frozen, other] = [yield* consumerWith(100_000), yield* consumerWith(100_000)]
      const running = yield* aCall(frozen)
      yield* opened(running)
      yield* store.freeze(frozen, FREEZE)
      for (const changes of [
        {},
        { holdAmount: money(0) },
        { freeTierCalls: 5 },
        { idempotency: { keyHash: yield* hex(32), requestHash: yield* hex(32) } }
      ]) {
        assert.deepEqual(yield* open(yield* aCall(frozen, changes)), { _tag: "AccountFrozen" })
      }
      const calls = yield* Effect.forEach(Array.from({ length: 40 }), (_, n) => aCall(n % 2 === 0 ? frozen : other))
      const answers = yield* Effect.forEach(calls, open, { concurrency: "unbounded" })
      for (const [n, { _tag }] of answers.entries()) {
        assert.equal(_tag, n % 2 === 0 ? "AccountFrozen" : "Opened", String(n))
      }
      // Together with a call that ends, which is settled.
      const more = yield* aCall(frozen)
      const closing = yield* closingOf(running)
      assert.deepEqual(
        (yield* Effect.all([close(closing), open(more)], { concurrency: "unbounded" })).map(({ _tag }) => _tag),
        ["Closed", "AccountFrozen"]
      )
      const wallet = yield* (yield* Ledger).wallet(frozen)
      assert.deepEqual([wallet.held, wallet.available], [0n, 99_000n])
    })
  ),

  ledgerRule(
    "lets a frozen account resume no suspended call, which stays suspended",
    Effect.gen(function* () {
      const { extend, resume, suspend } = yield* CallStore
      const store = yield* FreezeStore
      const call = yield* aCall(yield* consumerWith(10_000))
      const { consumerId, deadlineAt, invocationId } = call
      const leg = { consumerId, deadlineAt, invocationId, leg: 1 }
      yield* opened(call)
      assert.equal(yield* suspend({ ...leg, max: 1 }), "suspended")
      yield* store.freeze(consumerId, FREEZE)
      assert.deepEqual(yield* resume(leg), { _tag: "AccountFrozen" })
      assert.equal(yield* resume({ ...leg, leg: 2 }), undefined)
      assert.equal(yield* extend(consumerId, invocationId, deadlineAt), true)
      yield* store.unfreeze(consumerId)
      assert.equal((yield* resume(leg))?._tag, "Opened")
    })
  ),

  ledgerRule(
    "lets a frozen account settle open calls, replay responses and accept loads; it opens calls again once unfrozen",
    Effect.gen(function* () {
      const { close, open } = yield* CallStore
      const store = yield* FreezeStore
      const ledger = yield* Ledger
      const { hex } = yield* Entropy
      const consumerId = yield* consumerWith(10_000)
      const idempotency = { keyHash: yield* hex(32), requestHash: yield* hex(32) }
      const kept = yield* aCall(consumerId, { idempotency })
      yield* opened(kept)
      const answer = { status: 200, headers: {}, body: "done" }
      yield* close(yield* closingOf(kept, { cost: 1_000, answer }))
      const underWay = yield* aCall(consumerId)
      yield* opened(underWay)

      yield* store.freeze(consumerId, FREEZE)
      assert.deepEqual(yield* open(yield* aCall(consumerId, { idempotency })), { _tag: "Replay", answer })
      yield* close(yield* closingOf(underWay, { cost: 1_000 }))
      yield* ledger.load({ consumerId, amount: money(500), reference: `load ${consumerId}` })
      assert.partialDeepStrictEqual(yield* ledger.wallet(consumerId), { available: 8_500n, held: 0n })

      yield* store.unfreeze(consumerId)
      yield* opened(yield* aCall(consumerId))
      assert.deepEqual((yield* ledger.audit).discrepancies, [])
    })
  )
]
