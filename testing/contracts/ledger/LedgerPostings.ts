/**
 * What postings move, and what is rejected.
 */
import assert from "node:assert/strict"
import { Cause, DateTime, Effect, Exit } from "effect"
import { Ledger, UnpostableTransfers } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import type { Leg } from "../../../domain/ledger/Transfer.ts"
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
  payoutLeg,
  platformWith,
  providerWith
} from "../shared/LedgerSamples.ts"

const NEXT_LOT = "2026-11-21"

export const postings: Contract<LedgerStores> = [
  ledgerRule(
    "returns the legs of a posting with the time of the event and of the recording",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      const reference = `stripe:${consumerId}`
      const effectiveAt = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
      const before = yield* DateTime.now
      const { transferId } = yield* ledger.load({ consumerId, amount: money(5_000), reference, effectiveAt })
      const transfers = yield* ledger.byReference(reference)
      const recordedAt = transfers[0]!.recordedAt
      assert.ok(DateTime.isGreaterThanOrEqualTo(recordedAt, before))
      const common = {
        transferId,
        kind: "load",
        amount: money(5_000),
        consumerId,
        providerId: undefined,
        lot: undefined,
        reference,
        effectiveAt,
        recordedAt
      } as const
      assert.deepEqual(transfers, [
        { ...common, leg: 1, debit: "processor", credit: "load_clearing" },
        { ...common, leg: 2, debit: "load_clearing", credit: "wallet" }
      ])
      assert.deepEqual(yield* (yield* LedgerStore).transfers(transferId), transfers)
      assert.deepEqual(yield* ledger.byReference("an unknown reference"), [])
    })
  ),

  ledgerRule(
    "takes at most the available balance from a wallet",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      yield* platformWith(5_000)
      yield* ledger.credit({ consumerId, amount: money(5_000), reference: `promo:${consumerId}` })
      const expiry = { consumerId, reference: `expiry:${consumerId}` }
      const error = yield* Effect.flip(ledger.expireCredit({ ...expiry, amount: money(5_001) }))
      assert.ok(error._tag === "InsufficientBalance", error.message)
      const { account, availableMicrocents, neededMicrocents, ownerId } = error
      assert.deepEqual(
        [account, ownerId, availableMicrocents, neededMicrocents],
        ["wallet", consumerId, 5_000n, 5_001n]
      )
      assert.deepEqual(yield* ledger.byReference(expiry.reference), [])
      assert.deepEqual(yield* (yield* LedgerStore).funds(consumerId), {
        availableMicrocents: 5_000n,
        owedMicrocents: 0n
      })
      yield* ledger.expireCredit({ ...expiry, amount: money(5_000) })
      assert.equal((yield* ledger.wallet(consumerId)).available, 0n)
    })
  ),

  ledgerRule(
    "posts linked transfers all or nothing",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const [giver, taker] = [yield* consumerWith(100), yield* aConsumerId]
      const legs = (amount: number): ReadonlyArray<Leg> => [
        { kind: "adjustment", debit: "platform_fee", credit: "wallet", amount: money(amount), consumerId: taker },
        { kind: "adjustment", debit: "wallet", credit: "platform_fee", amount: money(amount), consumerId: giver }
      ]
      const reference = `gift of ${giver}`
      const error = yield* Effect.flip(ledger.post({ reference, legs: legs(101) }))
      assert.equal(error._tag, "InsufficientBalance")
      assert.equal((yield* ledger.wallet(taker)).available, 0n)
      yield* ledger.post({ reference, legs: legs(100) })
      assert.equal((yield* ledger.wallet(taker)).available, 100n)
      assert.equal((yield* ledger.wallet(giver)).available, 0n)
    })
  ),

  ledgerRule(
    "checks a wallet after all legs, in any order",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      const legs: ReadonlyArray<Leg> = [
        { kind: "credit_expiry", debit: "wallet", credit: "platform_fee", amount: money(30), consumerId },
        { kind: "credit", debit: "platform_fee", credit: "wallet", amount: money(50), consumerId }
      ]
      yield* platformWith(20)
      yield* ledger.post({ reference: `exchange ${consumerId}`, legs })
      assert.equal((yield* ledger.wallet(consumerId)).available, 20n)
    })
  ),

  ledgerRule(
    "pays a balance out once when several payouts of all of it race",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const providerId = yield* providerWith({ [LOT]: 900 })
      const results = yield* atOnce(8, (n) =>
        Effect.result(ledger.post({ reference: `payout:${providerId}:${n}`, legs: [payoutLeg(providerId, 900)] }))
      )
      assert.equal(results.filter((result) => result._tag === "Success").length, 1)
      assert.equal((yield* ledger.provider(providerId)).balance, 0n)
    })
  ),

  ledgerRule(
    "takes at most the balance of the lot from a provider, whatever its other lots have",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const providerId = yield* providerWith({ [LOT]: 900, [NEXT_LOT]: 900 })
      const left = Effect.map(ledger.lots(providerId), (lots) =>
        lots.map(({ credits, day, debits }) => [day, credits - debits])
      )
      assert.deepEqual(yield* left, [
        [LOT, 900n],
        [NEXT_LOT, 900n]
      ])
      const tooMuch = yield* Effect.flip(
        ledger.post({ reference: `a:${providerId}`, legs: [payoutLeg(providerId, 901)] })
      )
      assert.ok(tooMuch._tag === "InsufficientBalance", tooMuch.message)
      const { account, availableMicrocents, neededMicrocents } = tooMuch
      assert.deepEqual([account, availableMicrocents, neededMicrocents], ["provider", 900n, 901n])
      yield* ledger.post({ reference: `b:${providerId}`, legs: [payoutLeg(providerId, 900)] })
      assert.deepEqual(yield* left, [[NEXT_LOT, 900n]])
      const { balance, frozen } = yield* ledger.provider(providerId)
      assert.deepEqual([balance, frozen], [900n, 0n])
    })
  ),

  ledgerRule(
    "rejects a posting that overdraws any account except those that may be negative",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const [consumerId, providerId] = [yield* consumerWith(100), yield* aProviderId]
      const kept = { kind: "adjustment", credit: "wallet", consumerId, providerId } as const
      for (const account of OVERDRAWN_NEVER) {
        // More than any other rule leaves in an account that all of them share.
        const leg = {
          ...kept,
          debit: account,
          lot: account === "provider" ? LOT : undefined,
          amount: money(10n ** 15n)
        }
        const error = yield* Effect.flip(ledger.post({ reference: `${account}:${consumerId}`, legs: [leg] }))
        assert.ok(error._tag === "InsufficientBalance", error.message)
        assert.equal(error.account, account)
      }
      assert.equal((yield* ledger.wallet(consumerId)).available, 100n)
    })
  ),

  ledgerRule(
    "adjusts wallets and provider accounts in both directions, against platform funds",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const [consumerId, providerId] = [yield* aConsumerId, yield* aProviderId]
      const adjust = (owner: Parameters<typeof ledger.adjust>[0]["owner"], direction: "credit" | "debit", n: number) =>
        ledger.adjust({ owner, direction, amount: money(n), reference: `${direction} ${n} of ${consumerId}` })
      yield* platformWith(80)
      const before = yield* ledger.platformFunds
      yield* adjust({ consumerId }, "credit", 70)
      yield* adjust({ consumerId }, "debit", 20)
      assert.equal((yield* ledger.wallet(consumerId)).available, 50n)
      assert.equal((yield* Effect.flip(adjust({ consumerId }, "debit", 51)))._tag, "InsufficientBalance")
      yield* adjust({ providerId }, "credit", 30)
      yield* adjust({ providerId }, "debit", 10)
      assert.equal((yield* Effect.flip(adjust({ providerId }, "debit", 21)))._tag, "InsufficientBalance")
      assert.equal((yield* ledger.provider(providerId)).balance, 20n)
      assert.equal((yield* ledger.provider(yield* aProviderId)).balance, 0n)
      assert.equal(before - (yield* ledger.platformFunds), 70n)
    })
  ),

  ledgerRule(
    "rejects a posting that is not valid",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aConsumerId
      const leg = { kind: "adjustment", debit: "platform_fee", credit: "wallet", amount: money(1), consumerId } as const
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
        assert.ok(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnpostableTransfers, reference)
      }
      assert.equal((yield* ledger.wallet(consumerId)).available, 0n)
    })
  )
]

const OVERDRAWN_NEVER = [
  "provider",
  "provider_frozen",
  "platform_fee",
  "load_clearing",
  "payout_clearing",
  "refund_clearing",
  "dispute_clearing"
] as const
