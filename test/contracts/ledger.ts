/**
 * Postings beside calls: see also the contract of the testing kit, which needs no calls.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { lotDayOf } from "../../domain/ledger/Lots.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  consumerWith,
  LOT,
  money,
  OPENED_AT,
  opened,
  payoutLeg,
  platformWith,
  settled
} from "./ledgerSamples.ts"

export const ledgerContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, LIVE)(`Ledger with calls over ${name}`, (it) => {
    it.effect("does not take the holds of open calls from a wallet", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        yield* platformWith(5_000)
        yield* ledger.credit({ consumerId, amount: money(5_000), reference: `promo:${consumerId}` })
        yield* opened(yield* aCall(consumerId))
        const expiry = { consumerId, reference: `expiry:${consumerId}` }
        const error = yield* Effect.flip(ledger.expireCredit({ ...expiry, amount: money(4_001) }))
        assert.deepInclude(error, {
          _tag: "InsufficientBalance",
          account: "wallet",
          ownerId: consumerId,
          availableMicrocents: 4_000n,
          neededMicrocents: 4_001n
        })
        assert.deepStrictEqual(yield* ledger.byReference(expiry.reference), [])
        yield* ledger.expireCredit({ ...expiry, amount: money(4_000) })
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 0n)
      })
    )

    it.effect(
      "counts the earnings of calls in the lot of their day, and pays out of each lot at most its balance",
      () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const call = yield* aCall(yield* consumerWith(10_000))
          yield* settled(call)
          const { providerId } = call
          const nextDay = DateTime.add(OPENED_AT, { days: 1 })
          yield* settled(yield* aCall(yield* consumerWith(10_000), { providerId, openedAt: nextDay }))
          const lots = yield* ledger.lots(providerId)
          assert.deepStrictEqual(lots, [
            { day: LOT, credits: 900n, debits: 0n, earned: 900n },
            { day: lotDayOf(nextDay), credits: 900n, debits: 0n, earned: 900n }
          ])
          const tooMuch = yield* Effect.flip(
            ledger.post({ reference: `a:${providerId}`, legs: [payoutLeg(providerId, 901)] })
          )
          assert.deepInclude(tooMuch, { account: "provider", availableMicrocents: 900n, neededMicrocents: 901n })
          yield* ledger.post({ reference: `b:${providerId}`, legs: [payoutLeg(providerId, 900)] })
          assert.deepStrictEqual(yield* ledger.lots(providerId), lots.slice(1))
          assert.deepInclude(yield* ledger.provider(providerId), { balance: 900n, frozen: 0n })
        })
    )

    it.effect("undoes a posting with its unit of work, but not the calls made meanwhile", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* consumerWith(1_000)
        const reference = `undone ${consumerId}`
        const load = ledger.load({ consumerId, amount: money(500), reference })
        const unit = Effect.gen(function* () {
          yield* load
          assert.lengthOf(yield* ledger.byReference(reference), 2)
          return yield* Effect.fail("changed my mind")
        })
        yield* Effect.all([Effect.flip(atomically(unit)), Effect.flatMap(aCall(consumerId), settled)], {
          concurrency: "unbounded"
        })
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 0n)
        assert.deepStrictEqual(yield* ledger.byReference(reference), [])
        assert.isFalse((yield* atomically(load)).repeated)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 500n)
      })
    )
  })
