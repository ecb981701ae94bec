/**
 * Postings: what they move, what they reject, and their part in a unit of work.
 */
import { assert, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, type Layer } from "effect"
import { Ledger, UnpostableTransfers } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { lotDayOf } from "../../domain/ledger/Lots.ts"
import type { Leg } from "../../domain/ledger/Transfer.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  atOnce,
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
  it.layer(ports, LIVE)(`Ledger over ${name}`, (it) => {
    it.effect("returns the legs of a posting with the time of the event and of the recording", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const reference = `stripe:${consumerId}`
        const effectiveAt = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
        const before = yield* DateTime.now
        const { transferId } = yield* ledger.load({ consumerId, amount: money(5_000), reference, effectiveAt })
        const transfers = yield* ledger.byReference(reference)
        const recordedAt = transfers[0]!.recordedAt
        assert.isTrue(DateTime.isGreaterThanOrEqualTo(recordedAt, before))
        const common = {
          transferId,
          kind: "load",
          amount: money(5_000),
          consumerId,
          providerId: undefined,
          lot: undefined
        } as const
        assert.deepStrictEqual(transfers, [
          { ...common, leg: 1, debit: "processor", credit: "load_clearing", reference, effectiveAt, recordedAt },
          { ...common, leg: 2, debit: "load_clearing", credit: "wallet", reference, effectiveAt, recordedAt }
        ])
        assert.deepStrictEqual(yield* (yield* LedgerStore).transfers(transferId), transfers)
        assert.deepStrictEqual(yield* ledger.byReference("an unknown reference"), [])
      })
    )

    it.effect("takes at most the available balance from a wallet, without the holds of open calls", () =>
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

    it.effect("posts linked transfers all or nothing", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const [giver, taker] = [yield* consumerWith(100), yield* aConsumerId]
        const legs = (amount: number): ReadonlyArray<Leg> => [
          { kind: "adjustment", debit: "platform_fee", credit: "wallet", amount: money(amount), consumerId: taker },
          { kind: "adjustment", debit: "wallet", credit: "platform_fee", amount: money(amount), consumerId: giver }
        ]
        const reference = `gift of ${giver}`
        const error = yield* Effect.flip(ledger.post({ reference, legs: legs(101) }))
        assert.strictEqual(error._tag, "InsufficientBalance")
        assert.strictEqual((yield* ledger.wallet(taker)).available, 0n)
        yield* ledger.post({ reference, legs: legs(100) })
        assert.strictEqual((yield* ledger.wallet(taker)).available, 100n)
        assert.strictEqual((yield* ledger.wallet(giver)).available, 0n)
      })
    )

    it.effect("checks a wallet after all legs, in any order", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const legs: ReadonlyArray<Leg> = [
          { kind: "credit_expiry", debit: "wallet", credit: "platform_fee", amount: money(30), consumerId },
          { kind: "credit", debit: "platform_fee", credit: "wallet", amount: money(50), consumerId }
        ]
        yield* platformWith(20)
        yield* ledger.post({ reference: `exchange ${consumerId}`, legs })
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 20n)
      })
    )

    it.effect("pays a balance out once when several payouts of all of it race", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const call = yield* aCall(yield* consumerWith(10_000))
        yield* settled(call)
        const { providerId } = call
        const results = yield* atOnce(8, (n) =>
          Effect.result(ledger.post({ reference: `payout:${providerId}:${n}`, legs: [payoutLeg(providerId, 900)] }))
        )
        assert.lengthOf(
          results.filter((result) => result._tag === "Success"),
          1
        )
        assert.strictEqual((yield* ledger.provider(providerId)).balance, 0n)
      })
    )

    it.effect("takes at most the balance of the lot from a provider, whatever its other lots have", () =>
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

    it.effect("rejects a posting that overdraws any account but those that may be negative", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const [consumerId, providerId] = [yield* consumerWith(100), yield* aProviderId]
        const amount = money(10_000_000)
        const kept = { kind: "adjustment", credit: "wallet", consumerId, providerId, amount } as const
        for (const account of [
          "provider",
          "provider_frozen",
          "platform_fee",
          "load_clearing",
          "payout_clearing",
          "refund_clearing",
          "dispute_clearing"
        ] as const) {
          const lot = account === "provider" ? LOT : undefined
          const posting = { reference: `${account}:${consumerId}`, legs: [{ ...kept, debit: account, lot }] }
          assert.deepInclude(yield* Effect.flip(ledger.post(posting)), { _tag: "InsufficientBalance", account })
        }
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 100n)
      })
    )

    it.effect("adjusts wallets and provider accounts in both directions, against platform funds", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const [consumerId, providerId] = [yield* aConsumerId, yield* aProviderId]
        const adjust = (
          owner: Parameters<typeof ledger.adjust>[0]["owner"],
          direction: "credit" | "debit",
          n: number
        ) => ledger.adjust({ owner, direction, amount: money(n), reference: `${direction} ${n} of ${consumerId}` })
        yield* platformWith(80)
        const before = yield* ledger.platformFunds
        yield* adjust({ consumerId }, "credit", 70)
        yield* adjust({ consumerId }, "debit", 20)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 50n)
        assert.strictEqual((yield* Effect.flip(adjust({ consumerId }, "debit", 51)))._tag, "InsufficientBalance")
        yield* adjust({ providerId }, "credit", 30)
        yield* adjust({ providerId }, "debit", 10)
        assert.strictEqual((yield* Effect.flip(adjust({ providerId }, "debit", 21)))._tag, "InsufficientBalance")
        assert.strictEqual((yield* ledger.provider(providerId)).balance, 20n)
        assert.strictEqual((yield* ledger.provider(yield* aProviderId)).balance, 0n)
        assert.strictEqual(before - (yield* ledger.platformFunds), 70n)
      })
    )

    it.effect("rejects a posting that is not valid", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const leg = {
          kind: "adjustment",
          debit: "platform_fee",
          credit: "wallet",
          amount: money(1),
          consumerId
        } as const
        const { consumerId: _, ...anonymous } = leg
        const faults: ReadonlyArray<readonly [reference: string, legs: ReadonlyArray<Leg>]> = [
          ["", [leg]],
          ["x".repeat(201), [leg]],
          ["none", []],
          ["many", Array.from({ length: 1_001 }, () => leg)],
          ["nothing", [{ ...leg, amount: money(0) }]],
          ["within", [{ ...leg, debit: "wallet" }]],
          ["no consumer", [anonymous]],
          ["no provider", [{ ...leg, debit: "provider", lot: LOT }]],
          ["no lot", [{ ...leg, debit: "provider", providerId: yield* aProviderId }]],
          ["no day", [{ ...leg, debit: "provider", providerId: yield* aProviderId, lot: "yesterday" }]]
        ]
        for (const [reference, legs] of faults) {
          const exit = yield* Effect.exit(ledger.post({ reference, legs }))
          assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnpostableTransfers, reference)
        }
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 0n)
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

    it.effect("continues a unit of work after a rejected posting", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* aConsumerId
        const unit = Effect.gen(function* () {
          yield* ledger.load({ consumerId, amount: money(500), reference: `first ${consumerId}` })
          yield* Effect.flip(ledger.load({ consumerId, amount: money(501), reference: `first ${consumerId}` }))
          yield* Effect.flip(
            ledger.expireCredit({ consumerId, amount: money(501), reference: `too much ${consumerId}` })
          )
          yield* ledger.load({ consumerId, amount: money(1), reference: `second ${consumerId}` })
        })
        yield* atomically(unit)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 501n)
      })
    )
  })
