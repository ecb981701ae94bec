import { assert, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, type Layer } from "effect"
import { Ledger, UnpostableTransfers } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { lotDayOf } from "../../domain/ledger/Lots.ts"
import type { Leg } from "../../domain/ledger/Transfer.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  atOnce,
  consumerWith,
  money,
  OPENED_AT,
  opened,
  platformWith,
  settled
} from "./ledgerSamples.ts"

/** As a payout starts: only what the provider has. */
const payout = (providerId: Leg["providerId"], amount: number): Leg => ({
  kind: "payout",
  debit: "provider",
  credit: "payout_clearing",
  amount: money(amount),
  providerId,
  lot: LOT
})

/** The settlement day of the calls of these tests. */
const LOT = lotDayOf(OPENED_AT)

export const ledgerContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })(`Ledger over ${name}`, (it) => {
    it.effect("loads a wallet once per reference, however often and at whatever time it is told", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const load = { consumerId, amount: money(5_000), reference: `stripe:${consumerId}` }
        const answers = yield* atOnce(20, () => ledger.load(load))
        assert.lengthOf(
          answers.filter((posted) => !posted.repeated),
          1
        )
        assert.lengthOf(new Set(answers.map((posted) => posted.transferId)), 1)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 5_000n)
      })
    )

    it.effect("keeps when something happened and when it was recorded, leg by leg", () =>
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
        assert.deepStrictEqual(yield* ledger.byReference("never heard of it"), [])
      })
    )

    it.effect("takes no more from a wallet than is available: what open calls hold stays", () =>
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

    it.effect("posts linked transfers all or none", () =>
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

    it.effect("weighs a wallet after all legs, whatever their order", () =>
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

    it.effect("pays a provider once when two ask at once for all it has", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const call = yield* aCall(yield* consumerWith(10_000))
        yield* settled(call)
        const { providerId } = call
        const results = yield* atOnce(8, (n) =>
          Effect.result(ledger.post({ reference: `payout:${providerId}:${n}`, legs: [payout(providerId, 900)] }))
        )
        assert.lengthOf(
          results.filter((result) => result._tag === "Success"),
          1
        )
        assert.strictEqual((yield* ledger.provider(providerId)).balance, 0n)
      })
    )

    it.effect("takes no more from a provider's lot than is in it, whatever is in the others", () =>
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
          ledger.post({ reference: `a:${providerId}`, legs: [payout(providerId, 901)] })
        )
        assert.deepInclude(tooMuch, { account: "provider", availableMicrocents: 900n, neededMicrocents: 901n })
        yield* ledger.post({ reference: `b:${providerId}`, legs: [payout(providerId, 900)] })
        assert.deepStrictEqual(yield* ledger.lots(providerId), lots.slice(1))
        assert.deepInclude(yield* ledger.provider(providerId), { balance: 900n, frozen: 0n })
      })
    )

    it.effect("leaves no account below zero that somebody can spend from or withdraw", () =>
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

    it.effect("does not post what is no set of movements, and says what is wrong with it", () =>
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
        const { consumerId: _, ...nobodys } = leg
        const faults: ReadonlyArray<readonly [reference: string, legs: ReadonlyArray<Leg>]> = [
          ["", [leg]],
          ["x".repeat(201), [leg]],
          ["none", []],
          ["many", Array.from({ length: 1_001 }, () => leg)],
          ["nothing", [{ ...leg, amount: money(0) }]],
          ["within", [{ ...leg, debit: "wallet" }]],
          ["nobody's", [nobodys]],
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

    it.effect("takes a posting back with the unit of work around it, calls of the time being untouched", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* consumerWith(1_000)
        const reference = `taken back ${consumerId}`
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

    it.effect("leaves a unit of work usable after a posting that was refused in it", () =>
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
