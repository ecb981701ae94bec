import { assert, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, type Layer } from "effect"
import { Ledger, UnpostableTransfers } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import type { Leg } from "../../domain/ledger/Transfer.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  atOnce,
  closingOf,
  consumerWith,
  money,
  opened,
  settled
} from "./ledgerSamples.ts"

/** As a payout starts: only what the provider has. */
const payout = (providerId: Leg["providerId"], amount: number): Leg => ({
  kind: "payout",
  debit: "provider",
  credit: "payout_clearing",
  amount: money(amount),
  providerId,
  withinBalance: true
})

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
        const common = { transferId, kind: "load", amount: money(5_000), consumerId, providerId: undefined } as const
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
          { kind: "adjustment", debit: "adjustment", credit: "wallet", amount: money(amount), consumerId: taker },
          { kind: "adjustment", debit: "wallet", credit: "adjustment", amount: money(amount), consumerId: giver }
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
          { kind: "credit_expiry", debit: "wallet", credit: "promo", amount: money(30), consumerId },
          { kind: "credit", debit: "promo", credit: "wallet", amount: money(50), consumerId }
        ]
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

    it.effect("refunds a call from those who got its money, if need be as the provider's debt", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* consumerWith(10_000)
        const call = yield* aCall(consumerId)
        const { fee } = yield* settled(call)
        const { providerId, invocationId } = call
        yield* ledger.post({ reference: `payout:${providerId}`, legs: [payout(providerId, 900)] })
        const refund = { consumerId, providerId, amount: money(1_000), fee, reference: `refund:${invocationId}` }
        yield* ledger.refund(refund)
        assert.isTrue((yield* ledger.refund(refund)).repeated)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 10_000n)
        assert.deepStrictEqual(yield* ledger.provider(providerId), { credits: 900n, debits: 1_800n, balance: -900n })
        const taken = Effect.flip(ledger.post({ reference: `more:${providerId}`, legs: [payout(providerId, 1)] }))
        assert.deepInclude(yield* taken, { availableMicrocents: -900n, neededMicrocents: 1n })
      })
    )

    it.effect("adjusts wallets and provider accounts in both directions", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const [consumerId, providerId] = [yield* aConsumerId, yield* aProviderId]
        const adjust = (
          owner: Parameters<typeof ledger.adjust>[0]["owner"],
          direction: "credit" | "debit",
          n: number
        ) => ledger.adjust({ owner, direction, amount: money(n), reference: `${direction} ${n} of ${consumerId}` })
        yield* adjust({ consumerId }, "credit", 70)
        yield* adjust({ consumerId }, "debit", 20)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 50n)
        assert.strictEqual((yield* Effect.flip(adjust({ consumerId }, "debit", 51)))._tag, "InsufficientBalance")
        yield* adjust({ providerId }, "debit", 30)
        yield* adjust({ providerId }, "credit", 10)
        assert.strictEqual((yield* ledger.provider(providerId)).balance, -20n)
        assert.strictEqual((yield* ledger.provider(yield* aProviderId)).balance, 0n)
      })
    )

    it.effect("does not post what is no set of movements, and says what is wrong with it", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const leg = { kind: "adjustment", debit: "adjustment", credit: "wallet", amount: money(1), consumerId } as const
        const { consumerId: _, ...nobodys } = leg
        const faults: ReadonlyArray<readonly [reference: string, legs: ReadonlyArray<Leg>]> = [
          ["", [leg]],
          ["x".repeat(201), [leg]],
          ["none", []],
          ["many", Array.from({ length: 21 }, () => leg)],
          ["nothing", [{ ...leg, amount: money(0) }]],
          ["within", [{ ...leg, debit: "wallet" }]],
          ["nobody's", [nobodys]],
          ["no provider", [{ ...leg, debit: "provider" }]]
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

/** Of a ledger in which nothing else has happened. */
export const trialBalanceContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })(`Trial balance over ${name}`, (it) => {
    it.effect("sums every kind of account to zero over all, clearing accounts each, and stands up to an audit", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const calls = yield* CallStore
        assert.deepStrictEqual(yield* ledger.trialBalance, { accounts: [], credits: 0n, debits: 0n, balanced: true })
        assert.deepStrictEqual(yield* ledger.audit, { transfers: 0, accounts: 0, openCalls: 0, discrepancies: [] })

        const consumerId = yield* consumerWith(10_000)
        const call = yield* aCall(consumerId)
        yield* settled(call)
        const open = yield* aCall(consumerId)
        yield* opened(open)
        yield* ledger.post({ reference: "payout", legs: [payout(call.providerId, 400)] })
        assert.deepStrictEqual(yield* ledger.trialBalance, {
          accounts: [
            { account: "wallet", credits: 10_000n, debits: 1_000n },
            { account: "provider", credits: 900n, debits: 400n },
            { account: "platform_fee", credits: 100n, debits: 0n },
            { account: "processor", credits: 0n, debits: 10_000n },
            { account: "load_clearing", credits: 10_000n, debits: 10_000n },
            { account: "payout_clearing", credits: 400n, debits: 0n }
          ],
          credits: 21_400n,
          debits: 21_400n,
          balanced: true
        })
        assert.deepStrictEqual(yield* ledger.audit, { transfers: 5, accounts: 6, openCalls: 1, discrepancies: [] })
        yield* calls.close(yield* closingOf(open))
        assert.deepInclude(yield* ledger.audit, { transfers: 7, openCalls: 0, discrepancies: [] })
      })
    )
  })
