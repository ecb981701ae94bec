/**
 * Loads through a processor: repeated, late, reordered and lost webhooks; refunds and chargebacks; crashes between
 * steps.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { PaymentEvent } from "../../domain/ledger/PaymentGateway.ts"
import { Loads, LoadStore } from "../../domain/payments/Loads.ts"
import { Reconciler } from "../../domain/payments/Reconciler.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aConsumer } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { everyCoreWith, memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"
import {
  aLoad,
  CENTS,
  CHARGEBACK,
  event,
  expectedCents,
  type Name,
  newsOf,
  ordersOfThree,
  worthCents
} from "./LoadEvents.ts"

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A load", (it) => {
  it.effect(
    "is correct after any three webhooks in any order, each of them twice",
    () =>
      Effect.gen(function* () {
        const { apply } = yield* PaymentEvents
        const names = (Object.keys(newsOf(yield* aLoad)) as Array<Name>).filter((one) => !CHARGEBACK.includes(one))
        yield* Effect.forEach(
          ordersOfThree(names),
          Effect.fnUntraced(function* (order) {
            const load = yield* aLoad
            const news = newsOf(load)
            for (const one of order) {
              assert.strictEqual(yield* apply(news[one]), "applied", order.join(", "))
              assert.strictEqual(yield* apply(news[one]), "repeated")
            }
            for (const one of order) yield* apply(event({ ...news[one], eventId: `again_${news[one].eventId}` }))
            assert.strictEqual(yield* worthCents(load.consumerId), expectedCents(order), order.join(", "))
          }),
          { concurrency: 8 }
        )
        yield* clearingIsEmpty
      }),
    240_000
  )

  it.effect("is credited without any webhook, by polling the processor", () =>
    Effect.gen(function* () {
      const load = yield* aLoad
      const { checkouts } = yield* ScriptedGateway.GatewayScript
      const { reconcile } = yield* Reconciler
      yield* reconcile
      assert.strictEqual(yield* worthCents(load.consumerId), 0)
      checkouts.set(load.checkout.sessionId, { ...load.checkout, state: "paid" })
      yield* later("11 minutes")(reconcile)
      assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
      yield* later("22 minutes")(reconcile)
      assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
      yield* clearingIsEmpty
    })
  )

  it.effect("is credited within 2 minutes of its payment if the webhook is lost, also after hours", () =>
    Effect.gen(function* () {
      const load = yield* aLoad
      const { checkouts } = yield* ScriptedGateway.GatewayScript
      const { reconcile } = yield* Reconciler
      yield* later("20 hours")(reconcile)
      yield* later("20 hours")(reconcile)
      checkouts.set(load.checkout.sessionId, { ...load.checkout, state: "paid" })
      yield* later("1201 minutes")(reconcile)
      assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
      yield* clearingIsEmpty
    })
  )

  it.effect("is credited within 2 minutes of its payment while paid checkouts cannot be listed", () =>
    Effect.gen(function* () {
      const load = yield* aLoad
      const { checkouts, mishaps } = yield* ScriptedGateway.GatewayScript
      const { reconcile } = yield* Reconciler
      for (const seconds of [30, 60, 90, 120]) yield* later(`${seconds} seconds`)(reconcile)
      checkouts.set(load.checkout.sessionId, { ...load.checkout, state: "paid" })
      for (const seconds of [150, 180, 210]) {
        mishaps.list.push("before")
        yield* later(`${seconds} seconds`)(reconcile)
      }
      assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
    })
  )

  for (const [asked, after] of [
    ["while there is a session", "11 minutes"],
    ["for the last time", "31 days"]
  ] as const) {
    it.effect(`that is paid during a round of the reconciler stays paid: ${asked}`, () =>
      Effect.gen(function* () {
        const [load, store] = [yield* aLoad, yield* LoadStore]
        const { apply } = yield* PaymentEvents
        // The webhook arrives after the round has read its list.
        const overtaken = LoadStore.of({
          ...store,
          unsettled: (before, limit) =>
            Effect.tap(store.unsettled(before, limit), Effect.orDie(apply(newsOf(load).completedPaid)))
        })
        const script = yield* ScriptedGateway.GatewayScript
        script.mishaps.lookup.push("before")
        yield* Effect.gen(function* () {
          yield* (yield* Reconciler).reconcile
        }).pipe(
          Effect.provide(Layer.fresh(Reconciler.layer)),
          Effect.provideService(LoadStore, overtaken),
          later(after)
        )
        script.mishaps.lookup.length = 0
        const kept = Option.getOrThrow(yield* store.find(load.checkout.loadId))
        assert.strictEqual(kept.state, "paid")
        assert.strictEqual(kept.paymentId, load.paymentId)
        assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
      })
    )
  }

  for (const mishap of ["before", "after", "crash_before", "crash_after"] as const) {
    it.effect(`continues after the processor failed or the process died: ${mishap}`, () =>
      Effect.gen(function* () {
        const script = yield* ScriptedGateway.GatewayScript
        const consumerId = ConsumerId.make((yield* aConsumer()).id)
        const { load } = yield* Loads
        const ordered = script.orders.checkout
        const request = { consumerId, amountCents: CENTS, key: "my key" }
        script.mishaps.checkout.push(mishap)
        assert.strictEqual((yield* Effect.exit(load(request)))._tag, "Failure")
        yield* later("11 minutes")((yield* Reconciler).reconcile)
        const again = yield* load(request)
        assert.isTrue(again.mode === "live" && again.repeated)
        assert.strictEqual(script.orders.checkout, ordered + 1)
        const other = yield* Effect.flip(load({ ...request, amountCents: CENTS + 1 }))
        assert.strictEqual(other._tag, "IdempotencyConflict")
      })
    )
  }

  it.effect("over another amount than ordered is not credited", () =>
    Effect.gen(function* () {
      const load = yield* aLoad
      const paid = event({
        _tag: "CheckoutChanged" as const,
        checkout: { ...load.checkout, state: "paid" as const, amountCents: CENTS - 1 }
      })
      const { apply } = yield* PaymentEvents
      const stateNow = Effect.gen(function* () {
        return Option.getOrThrow(yield* (yield* LoadStore).find(load.checkout.loadId)).state
      })
      for (const again of [
        paid,
        { ...paid, eventId: `again_${paid.eventId}` },
        { ...paid, eventId: `eur_${paid.eventId}`, checkout: { ...paid.checkout, currency: "eur" } }
      ]) {
        assert.strictEqual(yield* apply(again), "applied")
        assert.strictEqual(yield* worthCents(load.consumerId), 0)
        assert.strictEqual(yield* stateNow, "mismatched")
      }
      // The reconciler stops asking about it, and continues with the others.
      const { checkouts } = yield* ScriptedGateway.GatewayScript
      checkouts.set(load.checkout.sessionId, paid.checkout)
      const other = yield* aLoad
      checkouts.set(other.checkout.sessionId, { ...other.checkout, state: "paid", amountCents: CENTS + 1 })
      const third = yield* aLoad
      checkouts.set(third.checkout.sessionId, { ...third.checkout, state: "paid" })
      yield* later("11 minutes")((yield* Reconciler).reconcile)
      assert.strictEqual(yield* worthCents(other.consumerId), 0)
      assert.strictEqual(yield* worthCents(third.consumerId), CENTS)
      // A later payment as ordered is credited.
      yield* apply(newsOf(load).completedPaid)
      assert.deepStrictEqual([yield* worthCents(load.consumerId), yield* stateNow], [CENTS, "paid"])
      yield* clearingIsEmpty
    })
  )

  it.effect("that was not credited takes nothing out of the wallet when it is refunded", () =>
    Effect.gen(function* () {
      const load = yield* aLoad
      const { apply } = yield* PaymentEvents
      yield* (yield* Ledger).load({
        consumerId: load.consumerId,
        amount: fromCents(CENTS),
        reference: `other:${load.consumerId}`
      })
      const { checkouts } = yield* ScriptedGateway.GatewayScript
      checkouts.set(load.checkout.sessionId, { ...load.checkout, state: "paid", currency: "eur" })
      const { lost, opened, reinstated, refundFailed, refunded, withdrawn } = newsOf(load)
      for (const one of [refunded, refundFailed, opened, withdrawn, lost, reinstated]) {
        assert.strictEqual(yield* apply(one), "ignored")
        assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
      }
      yield* clearingIsEmpty
    })
  )

  it.effect("pays a debt first; the debt is what the wallet could not cover", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { apply } = yield* PaymentEvents
      const load = yield* aLoad
      const news = newsOf(load)
      yield* apply(news.completedPaid)
      yield* ledger.adjust({
        owner: { consumerId: load.consumerId },
        direction: "debit",
        amount: fromCents(CENTS - 100),
        reference: `spent:${load.consumerId}`
      })
      yield* apply(news.withdrawn)
      assert.deepStrictEqual(yield* ledger.funds(load.consumerId), {
        availableMicrocents: 0n,
        owedMicrocents: fromCents(CENTS - 100)
      })
      yield* ledger.load({
        consumerId: load.consumerId,
        amount: fromCents(CENTS),
        reference: `next:${load.consumerId}`
      })
      assert.deepStrictEqual(yield* ledger.funds(load.consumerId), {
        availableMicrocents: fromCents(100),
        owedMicrocents: 0n
      })
      yield* clearingIsEmpty
    })
  )
})

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`A load over ${name}`, (it) => {
    it.effect("is credited once under concurrent webhooks", () =>
      Effect.gen(function* () {
        const load = yield* aLoad
        const { apply } = yield* PaymentEvents
        const paid = newsOf(load).completedPaid
        const others: ReadonlyArray<PaymentEvent> = Array.from({ length: 16 }, () =>
          event({ ...paid, eventId: "" })
        ).map((one, n) => ({ ...one, eventId: `${load.checkout.loadId}_${n}` }))
        yield* Effect.all([...Array.from({ length: 16 }, () => apply(paid)), ...others.map(apply)], {
          concurrency: "unbounded"
        })
        assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
        yield* clearingIsEmpty
      })
    )
  })
}

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("Checkouts that stay unpaid", (it) => {
  it.effect("cost fifty requests a round at most, and ever fewer", () =>
    Effect.gen(function* () {
      const script = yield* ScriptedGateway.GatewayScript
      const { reconcile } = yield* Reconciler
      for (let n = 0; n < 120; n++) yield* aLoad
      const lookups = Effect.fnUntraced(function* (fromMinute: number, rounds: number) {
        const before = script.lookups
        for (let n = 0; n < rounds; n++) {
          const one = script.lookups
          yield* later(`${fromMinute * 60 + n * 30} seconds`)(reconcile)
          assert.isAtMost(script.lookups - one, 50)
        }
        return script.lookups - before
      })
      assert.strictEqual(yield* lookups(2, 3), 150)
      // Twelve hours later each of them once in 90 minutes.
      assert.strictEqual(yield* lookups(12 * 60, 4), 120)
      assert.strictEqual(yield* lookups(12 * 60 + 5, 60), 0)
      assert.strictEqual(yield* lookups(14 * 60, 20), 120)
    })
  )
})
