/**
 * Money while a store is unavailable: nothing counts as done or as failed, and the next attempt continues.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { PayeeStore, PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { Loads, LoadStore } from "../../domain/payments/Loads.ts"
import { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
import { Reconciler } from "../../domain/payments/Reconciler.ts"
import { Withdrawals, WithdrawalStore } from "../../domain/payments/Withdrawals.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aProvider } from "../support/market/Market.ts"
import { rebuilt } from "../support/market/Rebuilt.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { aLoad, CENTS, newsOf, worthCents } from "./LoadEvents.ts"

const EARNED_CENTS = 1_234

const away = Effect.suspend(() => new StoreUnavailable({ reason: "unreachable", cause: new Error("no connection") }))

/** Unavailable the second time, which is after the processor has done its part. */
const awayTheSecondTime = <Args extends ReadonlyArray<unknown>, A>(
  method: (...args: Args) => Effect.Effect<A, StoreUnavailable>
) => {
  let asked = 0
  return (...args: Args) => Effect.suspend(() => (++asked === 2 ? away : method(...args)))
}

const anEarner = Effect.gen(function* () {
  const providerId = ProviderId.make((yield* aProvider()).id)
  const amount = fromCents(EARNED_CENTS)
  yield* (yield* PlatformFunds).deposit({ amount, reference: `earned:${providerId}` })
  yield* (yield* Ledger).adjust({
    owner: { providerId },
    direction: "credit",
    amount,
    reference: `earned:${providerId}`
  })
  yield* (yield* Payouts).connect(providerId, { returnUrl: "https://a.example", refreshUrl: "https://a.example" })
  return providerId
})

const payoutsOver = (store: PayoutStore["Service"]) => rebuilt(Payouts, Payouts.layer, PayoutStore, store)

const service = memoryCoreWith(ScriptedGateway.layer)

it.layer(service, LIVE)("While a store is unavailable", (it) => {
  it.effect("a payout whose transfer was made does not fail, and is paid once", () =>
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const { orders } = yield* ScriptedGateway.GatewayScript
      const providerId = yield* anEarner
      const before = orders.transfer
      const payouts = yield* payoutsOver({ ...store, lock: awayTheSecondTime(store.lock) })
      assert.strictEqual((yield* Effect.flip(payouts.request(providerId)))._tag, "StoreUnavailable")
      const [payout] = yield* store.history(providerId, 10)
      assert.deepInclude(payout, { state: "transferring", failure: undefined })
      yield* later("3 hours")((yield* Payouts).work)
      assert.strictEqual((yield* store.history(providerId, 10))[0]!.state, "paid")
      assert.strictEqual(orders.transfer - before, 1)
    })
  )

  it.effect("automatic payouts fail, instead of skipping providers for the month", () =>
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const providerId = yield* anEarner
      yield* (yield* Payouts).setAutomatic(providerId, true)
      const { payAutomatically } = yield* payoutsOver({ ...store, find: () => away })
      assert.strictEqual((yield* Effect.flip(payAutomatically))._tag, "StoreUnavailable")
      assert.isAtLeast(yield* (yield* Payouts).payAutomatically, 1)
      assert.strictEqual((yield* store.history(providerId, 1))[0]!.state, "paid")
    })
  )

  it.effect("a webhook fails, and its repetition credits the wallet once", () =>
    Effect.gen(function* () {
      const store = yield* LoadStore
      const load = yield* aLoad
      const { completedPaid } = newsOf(load)
      for (const broken of [
        { ...store, claimEvent: () => away },
        { ...store, lock: () => away },
        { ...store, update: () => away }
      ]) {
        const { apply } = yield* Effect.map(
          Layer.build(
            Layer.fresh(PaymentEvents.layer).pipe(
              Layer.provide(Layer.fresh(Loads.layer)),
              Layer.provide(Layer.succeed(LoadStore, broken))
            )
          ),
          Context.get(PaymentEvents)
        )
        assert.strictEqual((yield* Effect.flip(apply(completedPaid)))._tag, "StoreUnavailable")
        assert.strictEqual(yield* worthCents(load.consumerId), 0)
      }
      assert.strictEqual(yield* (yield* PaymentEvents).apply(completedPaid), "applied")
      assert.strictEqual(yield* worthCents(load.consumerId), CENTS)
    })
  )

  it.effect("the rounds over loads fail, instead of reporting that the processor did", () =>
    Effect.gen(function* () {
      const store = yield* LoadStore
      const load = yield* aLoad
      const broken = { ...store, lock: () => away }
      const { reconcile } = yield* rebuilt(Reconciler, Reconciler.layer, LoadStore, broken)
      assert.strictEqual((yield* Effect.flip(later("1 hour")(reconcile)))._tag, "StoreUnavailable")
      assert.strictEqual(Option.getOrThrow(yield* store.find(load.checkout.loadId)).state, "open")
      yield* (yield* PaymentEvents).apply(newsOf(load).completedPaid)
      const { work } = yield* rebuilt(ProcessorFees, ProcessorFees.layer, LoadStore, broken)
      assert.strictEqual((yield* Effect.flip(work))._tag, "StoreUnavailable")
    })
  )

  it.effect("a withdrawal whose refund was made does not fail, and is made once", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const { orders } = yield* ScriptedGateway.GatewayScript
      const load = yield* aLoad
      yield* (yield* PaymentEvents).apply(newsOf(load).completedPaid)
      const before = orders.refund
      const withdrawals = yield* rebuilt(Withdrawals, Withdrawals.layer, WithdrawalStore, {
        ...store,
        lockPart: awayTheSecondTime(store.lockPart)
      })
      const request = { consumerId: load.consumerId, amountCents: CENTS, key: undefined }
      assert.strictEqual((yield* Effect.flip(withdrawals.request(request)))._tag, "StoreUnavailable")
      const partsOf = Effect.map(store.list(load.consumerId, 1), ([withdrawal]) => withdrawal!.parts)
      assert.deepStrictEqual(
        (yield* partsOf).map(({ state }) => state),
        ["refunding"]
      )
      yield* later("3 hours")((yield* Withdrawals).work)
      assert.deepStrictEqual(
        (yield* partsOf).map(({ state }) => state),
        ["paid"]
      )
      assert.strictEqual(orders.refund - before, 1)
    })
  )

  it.effect("the state of a payout account is not the last known one, as after a failure of the processor", () =>
    Effect.gen(function* () {
      const store = yield* PayeeStore
      const providerId = yield* anEarner
      const { accountStatus } = yield* rebuilt(Payouts, Payouts.layer, PayeeStore, { ...store, putStatus: () => away })
      assert.strictEqual((yield* Effect.flip(accountStatus(providerId)))._tag, "StoreUnavailable")
    })
  )
})
