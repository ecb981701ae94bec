/**
 * Credit does not become cash: what can be withdrawn was paid, and not spent. Paid funds are spent before credit, and a
 * refund restores the kind that its call was spent from.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Claims } from "../../domain/earnings/Claims.ts"
import { type CallToRefund, Refunds } from "../../domain/earnings/Refunds.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { lotDayOf } from "../../domain/ledger/Transfer.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { Withdrawals } from "../../domain/payments/Withdrawals.ts"
import { ConsumerId, type ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents, toCents, zero } from "../../domain/shared/Microcents.ts"
import { randomFrom } from "../../testing/Random.ts"
import { aCall, closingOf } from "../contracts/ledgerSamples.ts"
import { aConsumer } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { everyCore, memoryCore } from "../support/metering/Core.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"

const aLoadedConsumer = Effect.fnUntraced(function* (cents: number) {
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  yield* load(consumerId, cents)
  return consumerId
})

const load = (consumerId: ConsumerId, amountCents: number) =>
  Effect.flatMap(Loads, ({ load }) => load({ consumerId, amountCents, key: undefined }))

const give = Effect.fnUntraced(function* (consumerId: ConsumerId, cents: number) {
  const reference = `given ${randomUUID()}`
  yield* (yield* PlatformFunds).deposit({ amount: fromCents(cents), reference })
  yield* (yield* Ledger).credit({ consumerId, amount: fromCents(cents), reference })
})

const chargeBack = (consumerId: ConsumerId, cents: number) =>
  Effect.flatMap(Ledger, ({ reverse }) =>
    reverse({ consumerId, amount: fromCents(cents), cause: "dispute", reference: `back ${randomUUID()}` })
  )

let seconds = 0

/** A call without a platform fee, a second after the one before. */
const spend = Effect.fnUntraced(function* (consumerId: ConsumerId, cents: number, provider?: ProviderId) {
  const { close, open } = yield* CallStore
  const openedAt = DateTime.add(yield* DateTime.now, { seconds: ++seconds })
  const call = yield* aCall(consumerId, { holdAmount: fromCents(cents), openedAt, feeBasisPoints: 0 })
  const { providerId } = provider === undefined ? call : { providerId: provider }
  assert.strictEqual((yield* open({ ...call, providerId }))._tag, "Opened")
  const closing = yield* closingOf({ ...call, providerId }, { cost: fromCents(cents) })
  assert.strictEqual((yield* close(closing))._tag, "Closed")
  return {
    subject: randomUUID(),
    receiptId: call.invocationId,
    consumerId,
    providerId,
    lot: lotDayOf(DateTime.makeUnsafe(closing.receipt.created_at)),
    cost: fromCents(cents),
    fee: zero,
    frozen: zero
  } satisfies CallToRefund
})

const refund = (call: CallToRefund) => Effect.flatMap(Refunds, (refunds) => refunds.refund(call))

const withdrawable = (consumerId: ConsumerId) =>
  Effect.flatMap(Withdrawals, (withdrawals) => withdrawals.withdrawableCents(consumerId))

const withdraw = (consumerId: ConsumerId, amountCents: number) =>
  Effect.flatMap(Withdrawals, ({ request }) => request({ consumerId, amountCents, key: undefined }))

const available = (consumerId: ConsumerId) =>
  Effect.map(
    Effect.flatMap(Ledger, ({ wallet }) => wallet(consumerId)),
    (wallet) => toCents(wallet.available)
  )

const canWithdraw = (consumerId: ConsumerId, cents: number) =>
  Effect.map(withdrawable(consumerId), (left) => assert.strictEqual(left, cents))

const STEPS = { memory: 200, PostgreSQL: 60 }

/** A random history, beside a model that remembers of each call what it was spent from. */
const history = Effect.fnUntraced(function* (seed: number, steps: number) {
  const random = randomFrom(seed)
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  const calls: Array<{ readonly call: CallToRefund; readonly paid: number }> = []
  let [paid, balance, owed, loaded, withdrawn] = [0, 0, 0, 0, 0]
  const arrives = (cents: number) => {
    const repaid = Math.min(owed, cents)
    owed -= repaid
    balance += cents - repaid
  }
  for (let step = 0; step < steps; step++) {
    const cents = 100 + random.below(900)
    const act = random.pick([
      "load",
      "give",
      "spend",
      "spend",
      "spend",
      "refund",
      "withdraw",
      "withdraw",
      "back"
    ] as const)
    if (act === "load") {
      yield* load(consumerId, cents)
      paid += cents
      loaded += cents
      arrives(cents)
    } else if (act === "give") {
      yield* give(consumerId, cents)
      arrives(cents)
    } else if (act === "back" && random.percent(30)) {
      yield* chargeBack(consumerId, cents)
      paid -= cents
      owed += Math.max(0, cents - balance)
      balance = Math.max(0, balance - cents)
    } else if (act === "spend" && balance > 0) {
      const cost = Math.min(balance, cents)
      const fromPaid = Math.min(cost, Math.max(0, paid + owed))
      calls.push({ call: yield* spend(consumerId, cost), paid: fromPaid })
      paid -= fromPaid
      balance -= cost
    } else if (act === "refund" && calls.length > 0) {
      const [one] = calls.splice(random.below(calls.length), 1)
      assert.strictEqual(yield* refund(one!.call), one!.call.cost)
      paid += one!.paid
      arrives(toCents(one!.call.cost))
    } else if (act === "withdraw") {
      const left = yield* withdrawable(consumerId)
      const asked = random.percent(50) ? left : cents
      const rejected = asked > left ? yield* Effect.flip(withdraw(consumerId, asked)) : undefined
      assert.include([undefined, "NotWithdrawable", "DebtOutstanding"], rejected?._tag)
      if (rejected === undefined && asked > 0) {
        yield* withdraw(consumerId, asked)
        assert.isAtMost(asked, paid)
        paid -= asked
        balance -= asked
        withdrawn += asked
      }
    }
    const expected = owed > 0 ? 0 : Math.max(0, Math.min(paid, balance, loaded - withdrawn))
    assert.deepStrictEqual(
      [yield* withdrawable(consumerId), yield* available(consumerId)],
      [expected, balance],
      `seed ${seed}, step ${step}: ${act}`
    )
  }
  return withdrawn
})

it.layer(memoryCore, LIVE)("Paid funds", (it) => {
  it.effect("are not replaced by credit: $50 in, $50 spent, $50 credited, nothing out", () =>
    Effect.gen(function* () {
      const consumerId = yield* aLoadedConsumer(5_000)
      yield* spend(consumerId, 5_000)
      yield* give(consumerId, 5_000)
      yield* canWithdraw(consumerId, 0)
      const rejected = yield* Effect.flip(withdraw(consumerId, 5_000))
      assert.isTrue(rejected._tag === "NotWithdrawable" && rejected.withdrawableCents === 0)
      // Neither by a load later, of which only its own amount can be withdrawn.
      yield* load(consumerId, 1_000)
      yield* canWithdraw(consumerId, 1_000)
      yield* withdraw(consumerId, 1_000)
      yield* canWithdraw(consumerId, 0)
      yield* spend(consumerId, 5_000)
      yield* clearingIsEmpty
    })
  )

  it.effect("are spent before credit, whichever came first", () =>
    Effect.gen(function* () {
      const consumerId = ConsumerId.make((yield* aConsumer()).id)
      yield* give(consumerId, 500)
      yield* spend(consumerId, 200)
      yield* load(consumerId, 1_000)
      yield* canWithdraw(consumerId, 1_000)
      yield* spend(consumerId, 700)
      yield* canWithdraw(consumerId, 300)
      yield* spend(consumerId, 400)
      yield* canWithdraw(consumerId, 0)
      assert.strictEqual(yield* available(consumerId), 200)
      yield* load(consumerId, 100)
      yield* canWithdraw(consumerId, 100)
    })
  )

  it.effect("come back by the refund of a call that was spent from them, and credit comes back as credit", () =>
    Effect.gen(function* () {
      const consumerId = yield* aLoadedConsumer(1_000)
      const beforeAll = yield* spend(consumerId, 200)
      yield* give(consumerId, 500)
      const paid = yield* spend(consumerId, 500)
      const both = yield* spend(consumerId, 600)
      const credited = yield* spend(consumerId, 200)
      yield* canWithdraw(consumerId, 0)
      yield* refund(credited)
      yield* canWithdraw(consumerId, 0)
      yield* refund(both)
      yield* canWithdraw(consumerId, 300)
      yield* refund(paid)
      yield* canWithdraw(consumerId, 800)
      yield* refund(beforeAll)
      yield* canWithdraw(consumerId, 1_000)
      assert.strictEqual(yield* available(consumerId), 1_500)
    })
  )

  it.effect("come back before credit when a refund is paid in parts", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* aLoadedConsumer(600)
      yield* give(consumerId, 400)
      const call = yield* spend(consumerId, 1_000)
      const { lot, providerId } = call
      const leg = { kind: "payout", debit: "provider", credit: "payout_clearing", providerId, lot } as const
      yield* ledger.post({ reference: `payout ${randomUUID()}`, legs: [{ ...leg, amount: fromCents(900) }] })
      assert.strictEqual(yield* refund(call), fromCents(100))
      yield* canWithdraw(consumerId, 100)
      const other = yield* aLoadedConsumer(2_000)
      for (const [earned, left] of [
        [300, 400],
        [300, 600],
        [300, 600]
      ] as const) {
        yield* spend(other, earned, providerId)
        yield* (yield* Claims).collect(providerId)
        yield* canWithdraw(consumerId, left)
      }
      assert.strictEqual(yield* available(consumerId), 1_000)
      const back = { ...leg, debit: "payout_clearing", credit: "provider", amount: fromCents(900) } as const
      yield* ledger.post({ reference: `returned ${randomUUID()}`, legs: [back] })
    })
  )

  it.effect("are missing as long as credit has paid for a chargeback", () =>
    Effect.gen(function* () {
      const consumerId = yield* aLoadedConsumer(5_000)
      yield* spend(consumerId, 5_000)
      yield* give(consumerId, 3_000)
      yield* chargeBack(consumerId, 5_000)
      // The wallet is empty and $20 is owed, which credit pays as well.
      yield* give(consumerId, 2_000)
      yield* load(consumerId, 5_000)
      yield* canWithdraw(consumerId, 0)
      assert.strictEqual(yield* available(consumerId), 5_000)
      yield* load(consumerId, 100)
      yield* canWithdraw(consumerId, 100)
    })
  )
})

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`Paid funds over ${name}`, (it) => {
    it.effect("are exactly what a random history leaves of them", () =>
      Effect.gen(function* () {
        const withdrawn = yield* Effect.forEach([1, 2, 3], (seed) => history(seed, STEPS[name]))
        assert.isTrue(withdrawn.every((cents) => cents > 0))
      })
    )

    it.effect("are withdrawn once by requests, calls and credits at the same time", () =>
      Effect.gen(function* () {
        const consumerId = yield* aLoadedConsumer(1_000)
        yield* give(consumerId, 1_000)
        const results = yield* Effect.all(
          Array.from({ length: 24 }, (_, n) => {
            if (n % 3 === 0) return Effect.exit(spend(consumerId, 50))
            return n % 3 === 1 ? Effect.exit(withdraw(consumerId, 300)) : Effect.exit(give(consumerId, 50))
          }),
          { concurrency: "unbounded" }
        )
        const done = (kind: number) => results.filter(({ _tag }, n) => n % 3 === kind && _tag === "Success").length
        assert.deepStrictEqual([done(0), done(2)], [8, 8])
        // Of $10: calls take $4, before or after withdrawals, and credit pays what paid funds cannot.
        assert.isAtLeast(done(1), 2)
        assert.isAtMost(done(1), 3)
        const spentFromPaid = Math.min(400, 1_000 - 300 * done(1))
        yield* canWithdraw(consumerId, 1_000 - 300 * done(1) - spentFromPaid)
      })
    )
  })
}
