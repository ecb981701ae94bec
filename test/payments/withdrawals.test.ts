/**
 * Attacks by withdrawal: more than was loaded, twice concurrently, test credit as cash, and the same money again by
 * chargeback.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { PaymentEvent, RefundState } from "../../domain/ledger/PaymentGateway.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { type WithdrawalPart, Withdrawals } from "../../domain/payments/Withdrawals.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aCall, closingOf } from "../contracts/ledgerSamples.ts"
import { aConsumer } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { everyCoreWith, memoryCore, memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"

let told = 0

const paidLoad = Effect.fnUntraced(function* (consumerId: ConsumerId, cents: number, feeCents = 0) {
  const loaded = yield* (yield* Loads).load({ consumerId, amountCents: cents, key: undefined })
  if (loaded.mode !== "live") return yield* Effect.die("not live")
  const { checkouts, fees, loadsOfPayments } = yield* ScriptedGateway.GatewayScript
  const paymentId = `pi_${loaded.sessionId}`
  const checkout = { ...checkouts.get(loaded.sessionId)!, paymentId, state: "paid" as const }
  checkouts.set(loaded.sessionId, checkout)
  loadsOfPayments.set(paymentId, checkout.loadId)
  fees.set(paymentId, feeCents)
  yield* (yield* Loads).settle(checkout)
  return paymentId
})

const aFundedConsumer = Effect.fnUntraced(function* (cents = 2_000, feeCents = 0) {
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  return { consumerId, paymentId: yield* paidLoad(consumerId, cents, feeCents) }
})

const apply = <E extends object>(event: E) =>
  Effect.gen(function* () {
    const { apply } = yield* PaymentEvents
    const eventId = `evt_withdrawal_${++told}`
    return yield* apply({ eventId, occurredAt: yield* DateTime.now, ...event } as unknown as PaymentEvent)
  })

const charged = (paymentId: string, amountCents: number, state: "opened" | "withdrawn" | "reinstated" | "won") =>
  apply({ _tag: "PaymentDisputed", disputeId: `dp_${paymentId}`, paymentId, amountCents, state })

const reported = ({ amountCents, feeCents, id, paymentId }: WithdrawalPart, state: RefundState) =>
  apply({
    _tag: "PaymentRefunded",
    refundId: `re_${id}`,
    paymentId,
    amountCents: amountCents - feeCents,
    state,
    partId: id
  })

const withdraw = (consumerId: ConsumerId, amountCents: number, key?: string) =>
  Effect.flatMap(Withdrawals, ({ request }) => request({ consumerId, amountCents, key }))

const available = (consumerId: ConsumerId) =>
  Effect.gen(function* () {
    return Number((yield* (yield* Ledger).wallet(consumerId)).available) / 10_000
  })

const spend = Effect.fnUntraced(function* (consumerId: ConsumerId, cents: number) {
  const { close, open } = yield* CallStore
  const call = yield* aCall(consumerId, { holdAmount: fromCents(cents), openedAt: yield* DateTime.now })
  assert.strictEqual((yield* open(call))._tag, "Opened")
  yield* close(yield* closingOf(call, { cost: fromCents(cents) }))
})

const refundedCents = Effect.map(ScriptedGateway.GatewayScript, ({ refunds }) =>
  [...refunds.values()].reduce((sum, { amountCents }) => sum + amountCents, 0)
)

const nothingUnbacked = Effect.gen(function* () {
  yield* clearingIsEmpty
  assert.strictEqual((yield* (yield* PlatformFunds).solvency).unbackedMicrocents, 0n)
})

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A withdrawal", (it) => {
  it.effect("refunds the payments that loaded the money, less the processor's fees", () =>
    Effect.gen(function* () {
      const { consumerId } = yield* aFundedConsumer(1_000, 59)
      yield* later("1 minute")(paidLoad(consumerId, 1_001, 61))
      const before = yield* (yield* Ledger).platformFunds
      const { withdrawal } = yield* withdraw(consumerId, 1_500)
      assert.deepStrictEqual(
        withdrawal.parts.map(({ amountCents, feeCents, state }) => [amountCents, feeCents, state]),
        [
          [1_001, 61, "paid"],
          // 59 × 499 / 1000 = 29.4: rounded up.
          [499, 30, "paid"]
        ]
      )
      assert.strictEqual(yield* available(consumerId), 501)
      const kept = (yield* (yield* Ledger).platformFunds) - before
      // The fees that were known at the load are not less than those kept now, except recorded losses.
      assert.isTrue(kept <= fromCents(91))
      yield* nothingUnbacked
    })
  )

  it.effect("is never more than is unspent, than was loaded, or than is left of a load", () =>
    Effect.gen(function* () {
      const { consumerId, paymentId } = yield* aFundedConsumer(2_000)
      const ledger = yield* Ledger
      const funds = yield* PlatformFunds
      yield* funds.deposit({ amount: fromCents(5_000), reference: `gift ${consumerId}` })
      yield* ledger.credit({ consumerId, amount: fromCents(5_000), reference: `gift:${consumerId}` })
      // A credit cannot be withdrawn.
      const gift = yield* Effect.flip(withdraw(consumerId, 2_001))
      assert.isTrue(gift._tag === "NotWithdrawable" && gift.withdrawableCents === 2_000)
      // The operator has refunded a part of the load at the processor.
      yield* apply({
        _tag: "PaymentRefunded",
        refundId: `re_${paymentId}`,
        paymentId,
        amountCents: 700,
        state: "settled"
      })
      assert.strictEqual(yield* (yield* Withdrawals).withdrawableCents(consumerId), 1_300)
      assert.strictEqual((yield* Effect.flip(withdraw(consumerId, 1_301)))._tag, "NotWithdrawable")
      yield* spend(consumerId, 500)
      assert.strictEqual(yield* (yield* Withdrawals).withdrawableCents(consumerId), 800)
      yield* withdraw(consumerId, 800)
      assert.strictEqual(yield* available(consumerId), 5_000)
      assert.strictEqual((yield* Effect.flip(withdraw(consumerId, 100)))._tag, "NotWithdrawable")
      yield* nothingUnbacked
    })
  )

  it.effect("is rejected while the account is frozen or owes money", () =>
    Effect.gen(function* () {
      const { consumerId, paymentId } = yield* aFundedConsumer(2_000)
      const other = yield* paidLoad(consumerId, 1_000)
      yield* charged(paymentId, 2_000, "opened")
      assert.strictEqual((yield* Effect.flip(withdraw(consumerId, 500)))._tag, "AccountFrozen")
      assert.strictEqual(yield* (yield* Withdrawals).withdrawableCents(consumerId), 0)
      yield* charged(paymentId, 2_000, "won")
      yield* withdraw(consumerId, 500)
      yield* spend(consumerId, 2_500)
      // A refund by the operator beyond the rest is a debt that does not freeze the account.
      yield* apply({
        _tag: "PaymentRefunded",
        refundId: `re_${other}`,
        paymentId: other,
        amountCents: 400,
        state: "settled"
      })
      assert.strictEqual((yield* Effect.flip(withdraw(consumerId, 100)))._tag, "DebtOutstanding")
      yield* nothingUnbacked
    })
  )

  it.effect("and a chargeback of the same load leave a recorded loss, and no unbacked cent", () =>
    Effect.gen(function* () {
      const { consumerId, paymentId } = yield* aFundedConsumer(2_000)
      const script = yield* ScriptedGateway.GatewayScript
      yield* withdraw(consumerId, 1_200)
      // The process dies before the processor receives the second one; then the chargeback arrives.
      script.mishaps.refund.push("before")
      const { withdrawal } = yield* withdraw(consumerId, 500)
      assert.strictEqual(withdrawal.parts[0]!.state, "refunding")
      yield* charged(paymentId, 2_000, "opened")
      yield* charged(paymentId, 2_000, "withdrawn")
      yield* later("1 hour")(
        Effect.gen(function* () {
          yield* (yield* Withdrawals).work
        })
      )
      const [part] = (yield* (yield* Withdrawals).list(consumerId))[0]!.parts
      assert.strictEqual(part!.state, "failed")
      const { availableMicrocents, owedMicrocents } = yield* (yield* Ledger).funds(consumerId)
      assert.deepStrictEqual([availableMicrocents, owedMicrocents], [0n, fromCents(1_200)])
      yield* nothingUnbacked
    })
  )

  for (const mishap of ["before", "after", "crash_before", "crash_after"] as const) {
    it.effect(`is refunded once after the processor failed or the process died: ${mishap}`, () =>
      Effect.gen(function* () {
        const { consumerId } = yield* aFundedConsumer(1_000)
        const script = yield* ScriptedGateway.GatewayScript
        const [orders, before] = [script.orders.refund, yield* refundedCents]
        script.mishaps.refund.push(mishap)
        yield* Effect.exit(withdraw(consumerId, 1_000, "a key"))
        assert.strictEqual(yield* available(consumerId), 0)
        yield* later("1 hour")(
          Effect.gen(function* () {
            yield* (yield* Withdrawals).work
          })
        )
        const { repeated, withdrawal } = yield* withdraw(consumerId, 1_000, "a key")
        assert.deepStrictEqual([repeated, withdrawal.parts[0]!.state], [true, "paid"])
        assert.strictEqual(script.orders.refund, orders + 1)
        assert.strictEqual((yield* refundedCents) - before, 1_000)
        yield* nothingUnbacked
      })
    )
  }

  it.effect("that the processor rejects returns the money", () =>
    Effect.gen(function* () {
      const { consumerId } = yield* aFundedConsumer(1_000)
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.refund.push("refuse")
      const { withdrawal } = yield* withdraw(consumerId, 1_000)
      assert.strictEqual(withdrawal.parts[0]!.state, "failed")
      assert.strictEqual(yield* available(consumerId), 1_000)
      yield* nothingUnbacked
    })
  )

  it.effect("is not posted again by the webhooks of its refund, and is returned where the refund fails", () =>
    Effect.gen(function* () {
      const { consumerId } = yield* aFundedConsumer(1_000, 40)
      const { withdrawal } = yield* withdraw(consumerId, 500)
      const part = withdrawal.parts[0]!
      for (const state of ["pending", "settled", "settled"] as const) yield* reported(part, state)
      assert.strictEqual(yield* available(consumerId), 500)
      yield* reported(part, "failed")
      yield* reported(part, "failed")
      yield* reported(part, "settled")
      assert.strictEqual(yield* available(consumerId), 980)
      const shown = (yield* (yield* Withdrawals).list(consumerId))[0]!
      assert.strictEqual(shown.parts[0]!.state, "returned")
      yield* nothingUnbacked
    })
  )
})

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`A withdrawal over ${name}`, (it) => {
    it.effect("takes the money once in two concurrent requests", () =>
      Effect.gen(function* () {
        const { consumerId } = yield* aFundedConsumer(1_000)
        const before = yield* refundedCents
        const attempts = yield* Effect.all(
          Array.from({ length: 12 }, () => Effect.result(withdraw(consumerId, 600))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(attempts.filter(({ _tag }) => _tag === "Success").length, 1)
        const keyed = yield* aFundedConsumer(1_000)
        const same = yield* Effect.all(
          Array.from({ length: 8 }, () => withdraw(keyed.consumerId, 400, "a key")),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(same.map(({ withdrawal }) => withdrawal.id)).size, 1)
        assert.strictEqual((yield* Effect.flip(withdraw(keyed.consumerId, 401, "a key")))._tag, "IdempotencyConflict")
        assert.strictEqual(yield* available(keyed.consumerId), 600)
        yield* (yield* Withdrawals).work
        assert.strictEqual((yield* refundedCents) - before, 1_000)
        yield* nothingUnbacked
      })
    )
  })
}

it.layer(memoryCore, LIVE)("A withdrawal in dry run mode", (it) => {
  it.effect("is simulated from the load to the refund, and says so", () =>
    Effect.gen(function* () {
      const buyer = yield* aConsumer()
      const ask = (path: string, json?: object, headers = {}) =>
        send({ path, key: buyer.key, headers, ...(json === undefined ? {} : { json }) })
      yield* ask("/api/market/balance/load", { amount_cents: 1_000 })
      const path = "/api/v1/market/balance/withdraw"
      const key = { "idempotency-key": "a key" }
      const made = yield* ask(path, { amount_cents: 400 }, key)
      assert.strictEqual(made.status, 201)
      assert.include(made.json as object, { mode: "dry_run", status: "paid", amount_cents: 400, refund_cents: 400 })
      const again = yield* ask(path, { amount_cents: 400 }, key)
      assert.deepStrictEqual(again.json, made.json)
      const listed = yield* ask(path)
      assert.include(listed.json as object, { withdrawable_cents: 600, total: 1 })
      const tooMuch = yield* ask(path, { amount_cents: 601 })
      assert.strictEqual(tooMuch.status, 422)
      assert.include(tooMuch.json as object, { code: "NOT_WITHDRAWABLE", withdrawable_cents: 600 })
      assert.include((yield* ask("/api/v1/market/balance")).json as object, { balance_cents: 600, frozen: false })
      yield* clearingIsEmpty
    })
  )
})
