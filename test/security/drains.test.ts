/**
 * Attacks on the money of others: a chargeback that takes more than its consumer's calls earned, a payout that
 * overtakes its provider's debt, and a refund at the processor while the wallet is on hold.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { LIVE_EARNINGS_POLICY } from "../../domain/earnings/EarningStates.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { Claims } from "../../domain/earnings/Claims.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { aCall, closingOf } from "../contracts/ledgerSamples.ts"
import { clearingIsEmpty } from "../payments/LedgerChecks.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { memoryCoreWith } from "../support/metering/Core.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

let events = 0
const eventNow = Effect.map(DateTime.now, (occurredAt) => ({ eventId: `evt_drain_${++events}`, occurredAt }))

const paidLoad = Effect.fnUntraced(function* (consumerId: ConsumerId, cents: number) {
  const loaded = yield* (yield* Loads).load({ consumerId, amountCents: cents, key: undefined })
  if (loaded.mode !== "live") return yield* Effect.die("not live")
  const { checkouts, loadsOfPayments } = yield* ScriptedGateway.GatewayScript
  const paymentId = `pi_${loaded.sessionId}`
  const checkout = { ...checkouts.get(loaded.sessionId)!, paymentId, state: "paid" as const }
  checkouts.set(loaded.sessionId, checkout)
  loadsOfPayments.set(paymentId, checkout.loadId)
  yield* (yield* Loads).settle(checkout)
  return paymentId
})

const aFundedConsumer = Effect.map(aConsumer(), ({ id }) => ConsumerId.make(id))
const aSeller = Effect.map(aProvider(), ({ id }) => ProviderId.make(id))

const opened = Effect.fnUntraced(function* (consumerId: ConsumerId, providerId: ProviderId, cents: number) {
  const call = yield* aCall(consumerId, { providerId, holdAmount: fromCents(cents), openedAt: yield* DateTime.now })
  return { call, answer: (yield* (yield* CallStore).open(call))._tag }
})

const closed = Effect.fnUntraced(function* (call: Parameters<typeof closingOf>[0], cents: number) {
  yield* (yield* CallStore).close(yield* closingOf(call, { cost: fromCents(cents) }))
})

const spend = Effect.fnUntraced(function* (consumerId: ConsumerId, providerId: ProviderId, cents: number) {
  const { answer, call } = yield* opened(consumerId, providerId, cents)
  assert.strictEqual(answer, "Opened")
  yield* closed(call, cents)
})

const chargeBack = Effect.fnUntraced(function* (
  paymentId: string,
  amountCents: number,
  state: "withdrawn" | "reinstated"
) {
  const { apply } = yield* PaymentEvents
  const news = { _tag: "PaymentDisputed", disputeId: `dp_${paymentId}`, paymentId, amountCents, state } as const
  return yield* apply({ ...(yield* eventNow), ...news })
})

const earned = (providerId: ProviderId) =>
  Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.provider(providerId), ({ balance }) => balance))

const booksAreSound = Effect.gen(function* () {
  yield* clearingIsEmpty
  assert.strictEqual((yield* (yield* PlatformFunds).solvency).unbackedMicrocents, 0n)
})

const liable = memoryCoreWith(ScriptedGateway.layer, { ...LIVE_EARNINGS_POLICY, chargebackLiability: "provider" })

it.layer(liable, LIVE)("Drains", (it) => {
  it.effect("several chargebacks take from a provider no more than this consumer's calls earned", () =>
    Effect.gen(function* () {
      const [honest, thief] = [yield* aFundedConsumer, yield* aFundedConsumer]
      const [victim, accomplice] = [yield* aSeller, yield* aSeller]
      yield* paidLoad(honest, 5_000)
      yield* spend(honest, victim, 5_000)
      const payments = []
      for (let i = 0; i < 5; i++) payments.push(yield* paidLoad(thief, 1_000))
      yield* spend(thief, victim, 1_000)
      yield* spend(thief, accomplice, 4_000)
      for (const payment of payments) yield* chargeBack(payment, 1_000, "withdrawn")
      assert.isAtLeast(Number(yield* earned(victim)), Number(fromCents(4_500)), "what the honest consumer paid is left")
      yield* booksAreSound
      for (const payment of payments) yield* chargeBack(payment, 1_000, "reinstated")
      assert.strictEqual(yield* earned(victim), fromCents(5_400))
      yield* booksAreSound
    })
  )

  it.effect("a wallet on hold while its load is refunded has nothing available afterwards", () =>
    Effect.gen(function* () {
      const thief = yield* aFundedConsumer
      const accomplice = yield* aSeller
      const paymentId = yield* paidLoad(thief, 2_000)
      const { call } = yield* opened(thief, accomplice, 2_000)
      const { apply } = yield* PaymentEvents
      yield* apply({
        ...(yield* eventNow),
        _tag: "PaymentRefunded",
        refundId: `re_${paymentId}`,
        paymentId,
        amountCents: 2_000,
        state: "settled"
      })
      // The call times out and costs nothing.
      yield* closed(call, 0)
      assert.notStrictEqual((yield* opened(thief, accomplice, 2_000)).answer, "Opened", "its money was sent back")
      // The job runs: the released hold has paid the debt, and the account is no longer frozen.
      yield* (yield* AccountFreezes).reviewAll
      const standing = yield* (yield* Ledger).funds(thief)
      assert.deepStrictEqual(standing, { availableMicrocents: 0n, owedMicrocents: 0n })
      assert.isTrue(Option.isNone(yield* (yield* AccountFreezes).find(thief)))
      yield* booksAreSound
    })
  )
})

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A payout", (it) => {
  it.effect("leaves what its provider owes, for any number of claims", () =>
    Effect.gen(function* () {
      const providerId = yield* aSeller
      yield* (yield* Payouts).connect(providerId, {
        returnUrl: "https://a.example",
        refreshUrl: "https://a.example"
      })
      const refunds = yield* Refunds
      const amounts = { cost: fromCents(100), fee: fromCents(0), frozen: fromCents(0) }
      for (let i = 0; i < 70; i++) {
        const consumerId = yield* aFundedConsumer
        yield* refunds.refund({
          subject: randomUUID(),
          receiptId: callOfTransfer(randomUUID()),
          providerId,
          consumerId,
          lot: "2026-10-01",
          ...amounts
        })
      }
      const reference = `${providerId} earned`
      yield* (yield* PlatformFunds).deposit({ amount: fromCents(7_500), reference })
      const owner = { providerId }
      yield* (yield* Ledger).adjust({ owner, direction: "credit", amount: fromCents(7_500), reference })
      const paid = yield* Effect.result((yield* Payouts).request(providerId))
      const outCents = paid._tag === "Success" && paid.success.mode === "live" ? paid.success.payout.amountCents : 0
      assert.isAtMost(outCents, 500)
      yield* (yield* Claims).work
      assert.strictEqual(yield* (yield* Claims).owedBy(providerId), 0n)
      yield* booksAreSound
    })
  )
})
