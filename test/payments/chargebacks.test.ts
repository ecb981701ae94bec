/**
 * Attacks by chargeback: spending while one is open, a payout before it, recovering a call twice, and making others
 * pay.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { LIVE_EARNINGS_POLICY } from "../../domain/earnings/EarningStates.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { lotDayOf } from "../../domain/ledger/Transfer.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
import { Loads, LoadStore } from "../../domain/payments/Loads.ts"
import { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aCall, closingOf } from "../contracts/ledgerSamples.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { everyCoreWith, memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"

const CENTS = 2_000
let told = 0

type Told = "opened" | "withdrawn" | "reinstated" | "won" | "lost"

const paidLoad = Effect.fnUntraced(function* (consumerId: ConsumerId, cents = CENTS) {
  const loaded = yield* (yield* Loads).load({ consumerId, amountCents: cents, key: undefined })
  if (loaded.mode !== "live") return yield* Effect.die("not live")
  const { checkouts, loadsOfPayments } = yield* ScriptedGateway.GatewayScript
  const paymentId = `pi_${loaded.sessionId}`
  const checkout = { ...checkouts.get(loaded.sessionId)!, paymentId, state: "paid" as const }
  checkouts.set(loaded.sessionId, checkout)
  loadsOfPayments.set(paymentId, checkout.loadId)
  yield* (yield* Loads).settle(checkout)
  return { paymentId, loadId: checkout.loadId }
})

const aFundedConsumer = Effect.gen(function* () {
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  return { consumerId, ...(yield* paidLoad(consumerId)) }
})

const aSeller = Effect.map(aProvider(), ({ id }) => ProviderId.make(id))

const tell = Effect.fnUntraced(function* (
  { paymentId }: { readonly paymentId: string },
  state: Told,
  changes: { readonly amountCents?: number; readonly fees?: ReadonlyArray<{ id: string; cents: number }> } = {}
) {
  const { apply } = yield* PaymentEvents
  return yield* apply({
    _tag: "PaymentDisputed",
    eventId: `evt_chargeback_${++told}`,
    occurredAt: yield* DateTime.now,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state,
    ...changes
  })
})

/** A call that is settled now. */
const spend = Effect.fnUntraced(function* (consumerId: ConsumerId, providerId: ProviderId, cents: number) {
  const calls = yield* CallStore
  const call = yield* aCall(consumerId, {
    providerId,
    holdAmount: fromCents(cents),
    openedAt: yield* DateTime.now
  })
  const opened = yield* calls.open(call)
  if (opened._tag !== "Opened") return opened._tag
  const closing = yield* closingOf(call, { cost: fromCents(cents) })
  yield* calls.close(closing)
  return closing.receipt.receipt_id
})

const standing = (consumerId: ConsumerId) =>
  Effect.gen(function* () {
    const { availableMicrocents, owedMicrocents } = yield* (yield* Ledger).funds(consumerId)
    return [Number(availableMicrocents) / 10_000, Number(owedMicrocents) / 10_000]
  })

const earned = (providerId: ProviderId) =>
  Effect.gen(function* () {
    return Number((yield* (yield* Ledger).provider(providerId)).balance) / 10_000
  })

const isFrozen = (consumerId: ConsumerId) =>
  Effect.gen(function* () {
    return Option.isSome(yield* (yield* AccountFreezes).find(consumerId))
  })

const nothingUnbacked = Effect.gen(function* () {
  yield* clearingIsEmpty
  const solvency = yield* (yield* PlatformFunds).solvency
  assert.strictEqual(solvency.unbackedMicrocents, 0n)
  return solvency
})

for (const liability of ["platform", "provider"] as const) {
  const ports = memoryCoreWith(ScriptedGateway.layer, { ...LIVE_EARNINGS_POLICY, chargebackLiability: liability })
  it.layer(ports, LIVE)(`A chargeback, for which the ${liability} is liable`, (it) => {
    it.effect("stops spending while it is open, and allows reads and loads", () =>
      Effect.gen(function* () {
        const buyer = yield* aFundedConsumer
        const seller = yield* aSeller
        yield* tell(buyer, "opened")
        assert.strictEqual(yield* spend(buyer.consumerId, seller, 100), "AccountFrozen")
        assert.deepStrictEqual(yield* standing(buyer.consumerId), [CENTS, 0])
        yield* paidLoad(buyer.consumerId, 500)
        assert.strictEqual(yield* spend(buyer.consumerId, seller, 100), "AccountFrozen")
        yield* tell(buyer, "won")
        assert.match(String(yield* spend(buyer.consumerId, seller, 100)), /^rcpt_/u)
        yield* nothingUnbacked
      })
    )

    it.effect("takes unspent funds, then what is liable; the rest is a debt and a recorded loss", () =>
      Effect.gen(function* () {
        const before = (yield* nothingUnbacked).recordedLossesMicrocents
        const buyer = yield* aFundedConsumer
        const [one, two] = [yield* aSeller, yield* aSeller]
        yield* spend(buyer.consumerId, one, 1_000)
        yield* spend(buyer.consumerId, two, 600)
        yield* tell(buyer, "opened")
        yield* tell(buyer, "withdrawn")
        const recovered = liability === "provider" ? 1_440 : 0
        assert.deepStrictEqual(yield* standing(buyer.consumerId), [0, 1_600 - recovered])
        assert.strictEqual((yield* earned(one)) + (yield* earned(two)), 1_440 - recovered)
        const after = (yield* nothingUnbacked).recordedLossesMicrocents
        assert.strictEqual(after - before, fromCents(1_600 - recovered))

        // Lost: frozen until the debt is paid. Loads pay the debt first.
        yield* tell(buyer, "lost")
        assert.isTrue(yield* isFrozen(buyer.consumerId))
        yield* paidLoad(buyer.consumerId, 2_500)
        assert.isFalse(yield* isFrozen(buyer.consumerId))
        assert.deepStrictEqual(yield* standing(buyer.consumerId), [900 + recovered, 0])
        assert.strictEqual((yield* nothingUnbacked).recordedLossesMicrocents, before)
      })
    )

    it.effect("that is won restores every leg; a debt that was paid meanwhile returns to the wallet", () =>
      Effect.gen(function* () {
        const buyer = yield* aFundedConsumer
        const seller = yield* aSeller
        yield* spend(buyer.consumerId, seller, 1_500)
        yield* tell(buyer, "withdrawn")
        yield* paidLoad(buyer.consumerId, 2_000)
        yield* tell(buyer, "reinstated")
        yield* tell(buyer, "won")
        assert.deepStrictEqual(yield* standing(buyer.consumerId), [2_500, 0])
        assert.strictEqual(yield* earned(seller), 1_350)
        assert.isFalse(yield* isFrozen(buyer.consumerId))
        yield* nothingUnbacked
      })
    )

    it.effect("never takes earnings from other consumers, from before the load, or that were paid out", () =>
      Effect.gen(function* () {
        const seller = yield* aSeller
        const honest = yield* aFundedConsumer
        yield* spend(honest.consumerId, seller, 1_000)
        const thief = yield* aFundedConsumer
        yield* spend(thief.consumerId, seller, 1_000)
        const second = yield* later("1 minute")(paidLoad(thief.consumerId))
        // As after a payout: only the rest of the lot is available.
        const ledger = yield* Ledger
        const lot = lotDayOf(yield* DateTime.now)
        const leg = { kind: "payout", debit: "provider", credit: "processor", providerId: seller, lot } as const
        yield* ledger.post({ reference: `out:${seller}`, legs: [{ ...leg, amount: fromCents(1_000) }] })
        yield* tell(second, "withdrawn")
        assert.strictEqual(yield* earned(seller), 800)
        assert.deepStrictEqual(yield* standing(thief.consumerId), [1_000, 0])
        yield* nothingUnbacked
      })
    )

    it.effect("and a dispute never recover the same call twice, in either order", () =>
      Effect.gen(function* () {
        const buyer = yield* aFundedConsumer
        const seller = yield* aSeller
        const disputes = yield* Disputes
        const owner = { role: "consumer", ownerId: buyer.consumerId } as const
        const filing = (receiptId: never) => ({
          receiptId,
          reason: "quality" as const,
          text: "no",
          evidence: undefined
        })
        const [open, refunded, later] = [
          yield* spend(buyer.consumerId, seller, 400),
          yield* spend(buyer.consumerId, seller, 300),
          yield* spend(buyer.consumerId, seller, 200)
        ]
        const waiting = yield* disputes.file(owner, filing(open as never))
        const decided = yield* disputes.file(owner, filing(refunded as never))
        yield* disputes.respond(seller, decided.id, { action: "accept", text: undefined, evidence: undefined })
        yield* tell(buyer, "withdrawn")

        const denied = yield* disputes.find(waiting.id)
        assert.deepStrictEqual([denied.status, denied.decision?.by], ["resolved_denied", "chargeback"])
        const late = yield* Effect.flip(disputes.file(owner, filing(later as never)))
        assert.strictEqual(late._tag, "RecoveredByChargeback")
        const lateByProvider = yield* Effect.flip(
          disputes.file({ role: "provider", ownerId: seller }, filing(later as never))
        )
        assert.strictEqual(lateByProvider._tag, "RecoveredByChargeback")
        const { frozen } = yield* (yield* Ledger).provider(seller)
        assert.strictEqual(frozen, 0n)
        // The refunded call is not taken from the provider a second time.
        const owed = 600 - (liability === "provider" ? 540 : 0)
        assert.deepStrictEqual(yield* standing(buyer.consumerId), [0, owed])
        assert.strictEqual(yield* earned(seller), liability === "provider" ? 0 : 540)

        yield* tell(buyer, "reinstated")
        assert.strictEqual((yield* disputes.file(owner, filing(later as never))).status, "filed")
        yield* nothingUnbacked
      })
    )

    it.effect("costs a fee once, from platform funds, and beyond them as a recorded loss", () =>
      Effect.gen(function* () {
        const buyer = yield* aFundedConsumer
        const funds = yield* PlatformFunds
        const before = yield* funds.solvency
        const fees = [{ id: `txn_${buyer.paymentId}`, cents: 1_500 }]
        yield* tell(buyer, "withdrawn", { fees })
        yield* tell(buyer, "lost", { fees })
        const after = yield* nothingUnbacked
        const paid = before.platformFundsMicrocents - after.platformFundsMicrocents
        const lost = after.recordedLossesMicrocents - before.recordedLossesMicrocents
        assert.strictEqual(paid + lost, fromCents(1_500))
        assert.isTrue(after.platformFundsMicrocents >= 0n)
        // The whole load was available: nothing is owed, so the account is not frozen.
        assert.isFalse(yield* isFrozen(buyer.consumerId))
      })
    )

    it.effect("does not freeze the account again after the operator unfroze it, until the next chargeback", () =>
      Effect.gen(function* () {
        const buyer = yield* aFundedConsumer
        const freezes = yield* AccountFreezes
        yield* tell(buyer, "opened")
        assert.isTrue(yield* freezes.unfreeze(buyer.consumerId))
        yield* freezes.reviewAll
        assert.isFalse(yield* isFrozen(buyer.consumerId))
        yield* tell(buyer, "lost")
        assert.isFalse(yield* isFrozen(buyer.consumerId))
        yield* tell(yield* paidLoad(buyer.consumerId), "opened")
        assert.isTrue(yield* isFrozen(buyer.consumerId))
      })
    )
  })
}

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`The processor's fee over ${name}`, (it) => {
    it.effect("is recorded once, from platform funds as far as they reach", () =>
      Effect.gen(function* () {
        const script = yield* ScriptedGateway.GatewayScript
        const funds = yield* PlatformFunds
        const fees = yield* ProcessorFees
        const buyer = yield* aFundedConsumer
        yield* funds.deposit({ amount: fromCents(50), reference: buyer.paymentId })
        const before = yield* funds.solvency
        script.fees.set(buyer.paymentId, 88)
        script.mishaps.fee.push("before")
        yield* fees.work
        const load = Option.getOrThrow(yield* (yield* LoadStore).find(buyer.loadId))
        assert.isUndefined(load.feeCents)
        yield* fees.work
        yield* Effect.all([fees.ofLoad(load), fees.ofLoad(load), fees.work], { concurrency: "unbounded" })
        const after = yield* nothingUnbacked
        assert.strictEqual(Option.getOrThrow(yield* (yield* LoadStore).find(buyer.loadId)).feeCents, 88)
        assert.strictEqual(before.platformFundsMicrocents - after.platformFundsMicrocents, fromCents(50))
        assert.strictEqual(after.recordedLossesMicrocents - before.recordedLossesMicrocents, fromCents(38))
      })
    )
  })
}
