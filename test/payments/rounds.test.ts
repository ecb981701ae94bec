/**
 * Rounds of background work over money: an item whose rows are locked keeps no other waiting, and is done by the next round.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { type Claim, Claims, ClaimStore } from "../../domain/earnings/Claims.ts"
import { PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { isAutomaticPayoutDay, Payouts } from "../../domain/earnings/Payouts.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { AccountFreezes, FreezeStore } from "../../domain/payments/AccountFreezes.ts"
import { LoadStore } from "../../domain/payments/Loads.ts"
import { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
import { Reconciler } from "../../domain/payments/Reconciler.ts"
import { Withdrawals, WithdrawalStore } from "../../domain/payments/Withdrawals.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { rebuilt } from "../support/market/Rebuilt.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { aLoad, CENTS, newsOf } from "./LoadEvents.ts"

const EARNED_CENTS = 1_234
const NEXT_ATTEMPT = "3 hours"
const ACCOUNT_LINKS = { returnUrl: "https://a.example", refreshUrl: "https://a.example" }

const locked = Effect.suspend(() => new StoreUnavailable({ reason: "busy", cause: new Error("lock timeout") }))

/** The method of a store whose rows of this subject are locked. */
const lockedFor =
  <Subject, Args extends ReadonlyArray<unknown>, A>(
    subject: Subject,
    method: (of: Subject, ...args: Args) => Effect.Effect<A, StoreUnavailable>
  ) =>
  (of: Subject, ...args: Args): Effect.Effect<A, StoreUnavailable> =>
    of === subject ? locked : method(of, ...args)

const fails = <A>(round: Effect.Effect<A, StoreUnavailable>) =>
  Effect.map(Effect.flip(round), (failure) => assert.strictEqual(failure.reason, "busy"))

const earn = Effect.fnUntraced(function* (providerId: ProviderId) {
  const amount = fromCents(EARNED_CENTS)
  const reference = `earned:${randomUUID()}`
  yield* (yield* PlatformFunds).deposit({ amount, reference })
  yield* (yield* Ledger).adjust({ owner: { providerId }, direction: "credit", amount, reference })
})

const anEarner = Effect.gen(function* () {
  const providerId = ProviderId.make((yield* aProvider()).id)
  yield* earn(providerId)
  yield* (yield* Payouts).connect(providerId, ACCOUNT_LINKS)
  return providerId
})

/** In the order in which rounds read them. */
const two = <A extends string, E, R>(one: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.all([one, one]), (both) => both.toSorted() as [A, A])

const service = memoryCoreWith(ScriptedGateway.layer)

it.layer(service, LIVE)("While the rows of one item are locked", (it) => {
  it.effect("automatic payouts pay the other providers", () =>
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const [first, second] = yield* two(anEarner)
      for (const providerId of [first, second]) yield* (yield* Payouts).setAutomatic(providerId, true)
      const openOf = lockedFor(first, store.openOf)
      const { payAutomatically } = yield* rebuilt(Payouts, Payouts.layer, PayoutStore, { ...store, openOf })
      const statesOf = (providerId: ProviderId) =>
        Effect.map(store.history(providerId, 10), (history) => history.map(({ state }) => state))
      yield* fails(payAutomatically)
      assert.deepStrictEqual([yield* statesOf(first), yield* statesOf(second)], [[], ["paid"]])
      assert.strictEqual(yield* (yield* Payouts).payAutomatically, 1)
      assert.deepStrictEqual([yield* statesOf(first), yield* statesOf(second)], [["paid"], ["paid"]])
    })
  )

  it.effect("the other interrupted payouts are continued", () =>
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const { mishaps } = yield* ScriptedGateway.GatewayScript
      const { request } = yield* Payouts
      const interrupted = Effect.gen(function* () {
        const providerId = yield* anEarner
        mishaps.transfer.push("before")
        const asked = yield* request(providerId)
        return asked.mode === "live" ? asked.payout.id : yield* Effect.die("not live")
      })
      const [first, second] = [yield* interrupted, yield* interrupted]
      const { work } = yield* rebuilt(Payouts, Payouts.layer, PayoutStore, {
        ...store,
        lock: lockedFor(first, store.lock)
      })
      const stateOf = (id: typeof first) => Effect.map(store.find(id), (found) => Option.getOrThrow(found).state)
      yield* fails(later(NEXT_ATTEMPT)(work))
      assert.deepStrictEqual([yield* stateOf(first), yield* stateOf(second)], ["transferring", "paid"])
      yield* later(NEXT_ATTEMPT)((yield* Payouts).work)
      assert.strictEqual(yield* stateOf(first), "paid")
    })
  )

  it.effect("the other interrupted refunds of withdrawals are continued", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const { mishaps } = yield* ScriptedGateway.GatewayScript
      const interrupted = Effect.gen(function* () {
        const load = yield* aLoad
        yield* (yield* PaymentEvents).apply(newsOf(load).completedPaid)
        mishaps.refund.push("before")
        const { consumerId } = load
        yield* (yield* Withdrawals).request({ consumerId, amountCents: CENTS, key: undefined })
        const [withdrawal] = yield* store.list(consumerId, 1)
        return withdrawal!.parts[0]!.id
      })
      const [first, second] = [yield* interrupted, yield* interrupted]
      const { work } = yield* rebuilt(Withdrawals, Withdrawals.layer, WithdrawalStore, {
        ...store,
        lockPart: lockedFor(first, store.lockPart)
      })
      const stateOf = (id: typeof first) => Effect.map(store.lockPart(id), (found) => Option.getOrThrow(found).state)
      yield* fails(later(NEXT_ATTEMPT)(work))
      assert.deepStrictEqual([yield* stateOf(first), yield* stateOf(second)], ["refunding", "paid"])
      yield* later(NEXT_ATTEMPT)((yield* Withdrawals).work)
      assert.strictEqual(yield* stateOf(first), "paid")
    })
  )

  it.effect("the other loads are reconciled", () =>
    Effect.gen(function* () {
      const store = yield* LoadStore
      const { checkouts, mishaps } = yield* ScriptedGateway.GatewayScript
      // So that it asks about one checkout after the other.
      mishaps.list.push("before", "before")
      const paid = Effect.map(aLoad, ({ checkout }) => {
        checkouts.set(checkout.sessionId, { ...checkout, state: "paid" })
        return checkout.loadId
      })
      const [first, second] = [yield* paid, yield* paid]
      const { reconcile } = yield* rebuilt(Reconciler, Reconciler.layer, LoadStore, {
        ...store,
        lock: lockedFor(first, store.lock)
      })
      const stateOf = (id: typeof first) => Effect.map(store.find(id), (found) => Option.getOrThrow(found).state)
      yield* fails(later("1 hour")(reconcile))
      assert.deepStrictEqual([yield* stateOf(first), yield* stateOf(second)], ["open", "paid"])
      yield* later("2 hours")((yield* Reconciler).reconcile)
      assert.strictEqual(yield* stateOf(first), "paid")
    })
  )

  it.effect("the processor's fees of the other loads are recorded", () =>
    Effect.gen(function* () {
      const store = yield* LoadStore
      const { fees } = yield* ScriptedGateway.GatewayScript
      const paid = Effect.gen(function* () {
        const load = yield* aLoad
        yield* (yield* PaymentEvents).apply(newsOf(load).completedPaid)
        fees.set(load.paymentId, 88)
        return load.checkout.loadId
      })
      const [first, second] = [yield* paid, yield* paid]
      const { work } = yield* rebuilt(ProcessorFees, ProcessorFees.layer, LoadStore, {
        ...store,
        lock: lockedFor(first, store.lock)
      })
      const feeOf = (id: typeof first) => Effect.map(store.find(id), (found) => Option.getOrThrow(found).feeCents)
      yield* fails(work)
      assert.deepStrictEqual([yield* feeOf(first), yield* feeOf(second)], [undefined, 88])
      yield* (yield* ProcessorFees).work
      assert.strictEqual(yield* feeOf(first), 88)
    })
  )

  it.effect("claims on the other providers are collected", () =>
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const consumerId = ConsumerId.make((yield* aConsumer()).id)
      const aDebtor = Effect.gen(function* () {
        const providerId = ProviderId.make((yield* aProvider()).id)
        yield* (yield* Refunds).refund({
          subject: randomUUID(),
          receiptId: callOfTransfer(randomUUID()),
          providerId,
          consumerId,
          lot: "2026-11-20",
          cost: fromCents(500),
          fee: fromCents(0),
          frozen: fromCents(0)
        })
        yield* earn(providerId)
        return providerId
      })
      const [first, second] = yield* two(aDebtor)
      const { work } = yield* rebuilt(Claims, Claims.layer, ClaimStore, {
        ...store,
        lockOpen: lockedFor<ProviderId | undefined, [limit: number], ReadonlyArray<Claim>>(first, store.lockOpen)
      })
      yield* fails(work)
      assert.deepStrictEqual([yield* store.owedBy(first), yield* store.owedBy(second)], [fromCents(500), 0n])
      assert.strictEqual(yield* (yield* Claims).work, fromCents(500))
      assert.strictEqual(yield* store.owedBy(first), 0n)
    })
  )

  it.effect("claims on providers are collected, also where those on the platform cannot be", () =>
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const consumerId = ConsumerId.make((yield* aConsumer()).id)
      const providerId = ProviderId.make((yield* aProvider()).id)
      const call = { providerId, consumerId, lot: "2026-11-20", fee: fromCents(0), frozen: fromCents(0) }
      const ids = { subject: randomUUID(), receiptId: callOfTransfer(randomUUID()) }
      yield* (yield* Refunds).refund({ ...call, ...ids, cost: fromCents(500) })
      yield* earn(providerId)
      const { work } = yield* rebuilt(Claims, Claims.layer, ClaimStore, {
        ...store,
        lockOpen: lockedFor<ProviderId | undefined, [limit: number], ReadonlyArray<Claim>>(undefined, store.lockOpen)
      })
      yield* fails(work)
      assert.strictEqual(yield* store.owedBy(providerId), 0n)
    })
  )

  it.effect("the other frozen accounts are unfrozen", () =>
    Effect.gen(function* () {
      const store = yield* FreezeStore
      const aFrozen = Effect.gen(function* () {
        const consumerId = ConsumerId.make((yield* aConsumer()).id)
        yield* store.freeze(consumerId, {
          reason: "a debt that is paid by now",
          at: yield* DateTime.now,
          byOperator: false
        })
        return consumerId
      })
      const [first, second] = yield* two(aFrozen)
      const { reviewAll } = yield* rebuilt(AccountFreezes, AccountFreezes.layer, FreezeStore, {
        ...store,
        unfreeze: lockedFor(first, store.unfreeze)
      })
      const isFrozen = (consumerId: ConsumerId) => Effect.map(store.find(consumerId), Option.isSome)
      yield* fails(reviewAll)
      assert.deepStrictEqual([yield* isFrozen(first), yield* isFrozen(second)], [true, false])
      assert.strictEqual(yield* (yield* AccountFreezes).reviewAll, 1)
      assert.isFalse(yield* isFrozen(first))
    })
  )
})

it("Automatic payouts are made on the first three days of a month", () => {
  const isDay = (iso: string) => isAutomaticPayoutDay(DateTime.makeUnsafe(iso))
  assert.isTrue(isDay("2026-12-01T00:00:00.000Z"))
  assert.isTrue(isDay("2026-12-03T23:59:59.999Z"))
  assert.isFalse(isDay("2026-12-04T00:00:00.000Z"))
  assert.isFalse(isDay("2026-11-30T23:59:59.999Z"))
})
