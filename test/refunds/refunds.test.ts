/**
 * Refunds over the ledger: what moves, what stays a claim, and what happens when payouts and refunds race for the
 * same money.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Claims } from "../../domain/earnings/Claims.ts"
import { LIVE_EARNINGS_POLICY } from "../../domain/earnings/EarningStates.ts"
import { ProviderMoney } from "../../domain/earnings/Earnings.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents, type Microcents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { clearingIsEmpty } from "../payments/LedgerChecks.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { everyCoreWith, memoryCoreWith } from "../support/metering/Core.ts"
import { when } from "../support/metering/TestTime.ts"

const DAY = "2026-10-01"

/** A provider with an amount in the lot of each day. */
const aProviderWith = Effect.fnUntraced(function* (lots: Readonly<Record<string, number>>) {
  const providerId = ProviderId.make((yield* aProvider()).id)
  const ledger = yield* Ledger
  for (const [day, cents] of Object.entries(lots)) {
    const reference = `${providerId} ${day}`
    yield* (yield* PlatformFunds).deposit({ amount: fromCents(cents), reference })
    yield* ledger.post({
      reference,
      legs: [
        {
          kind: "adjustment",
          debit: "platform_fee",
          credit: "provider",
          lot: day,
          providerId,
          amount: fromCents(cents)
        }
      ]
    })
  }
  return providerId
})

const aCall = (
  providerId: ProviderId,
  consumerId: ConsumerId,
  cents: number,
  changes: { frozen?: Microcents } = {}
) => ({
  subject: randomUUID(),
  receiptId: callOfTransfer(randomUUID()),
  providerId,
  consumerId,
  lot: DAY,
  cost: fromCents(cents),
  fee: fromCents(0),
  frozen: fromCents(0),
  ...changes
})

const availableTo = (consumerId: ConsumerId) =>
  Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.wallet(consumerId), ({ available }) => available))

const aConsumerId = Effect.map(aConsumer(), ({ id }) => ConsumerId.make(id))

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A refund", (it) => {
  it.effect("takes the lot of its own call first, then the others", () =>
    Effect.gen(function* () {
      const providerId = yield* aProviderWith({ "2026-09-30": 300, [DAY]: 200, "2026-10-02": 300 })
      const consumerId = yield* aConsumerId
      const refunds = yield* Refunds
      assert.strictEqual(yield* refunds.refund(aCall(providerId, consumerId, 450)), fromCents(450))
      const left = (yield* (yield* Ledger).lots(providerId)).map(({ credits, day, debits }) => [day, credits - debits])
      assert.deepStrictEqual(left, [
        ["2026-09-30", fromCents(50)],
        ["2026-10-02", fromCents(300)]
      ])
      assert.strictEqual(yield* availableTo(consumerId), fromCents(450))
      yield* clearingIsEmpty
    })
  )

  it.effect("moves only covered money, and later earnings pay the oldest claim first", () =>
    Effect.gen(function* () {
      const providerId = yield* aProviderWith({ [DAY]: 100 })
      const [first, second] = [yield* aConsumerId, yield* aConsumerId]
      const refunds = yield* Refunds
      const claims = yield* Claims
      const calls = [aCall(providerId, first, 300), aCall(providerId, second, 50)]
      assert.strictEqual(yield* refunds.refund(calls[0]!), fromCents(100))
      assert.strictEqual(yield* refunds.refund(calls[1]!), fromCents(0))
      assert.strictEqual(yield* claims.owedBy(providerId), fromCents(250))
      const ledger = yield* Ledger
      const earn = Effect.fnUntraced(function* (cents: number) {
        const reference = randomUUID()
        yield* (yield* PlatformFunds).deposit({ amount: fromCents(cents), reference })
        yield* ledger.adjust({ owner: { providerId }, direction: "credit", amount: fromCents(cents), reference })
      })
      yield* earn(120)
      yield* Effect.all([claims.work, claims.work, claims.collect(providerId)], { concurrency: "unbounded" })
      assert.deepStrictEqual([yield* availableTo(first), yield* availableTo(second)], [fromCents(220), 0n])
      yield* earn(200)
      yield* Effect.all([claims.work, claims.collect(providerId)], { concurrency: "unbounded" })
      assert.deepStrictEqual([yield* availableTo(first), yield* availableTo(second)], [fromCents(300), fromCents(50)])
      assert.strictEqual((yield* ledger.provider(providerId)).balance, fromCents(70))
      assert.strictEqual(yield* claims.owedBy(providerId), 0n)
      yield* clearingIsEmpty
    })
  )

  it.effect("pays a consumer's debt before its wallet", () =>
    Effect.gen(function* () {
      const providerId = yield* aProviderWith({ [DAY]: 500 })
      const consumerId = yield* aConsumerId
      const ledger = yield* Ledger
      yield* ledger.reverse({ consumerId, amount: fromCents(120), cause: "dispute", reference: randomUUID() })
      yield* (yield* Refunds).refund(aCall(providerId, consumerId, 200))
      assert.deepStrictEqual(yield* ledger.funds(consumerId), {
        availableMicrocents: fromCents(80),
        owedMicrocents: 0n
      })
      yield* clearingIsEmpty
    })
  )
})

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`A refund over ${name}`, (it) => {
    it.effect("and a concurrent payout of the same money take it once", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 10; round++) {
          const providerId = yield* aProviderWith({ [DAY]: 2_000 })
          const consumerId = yield* aConsumerId
          const urls = { returnUrl: "https://a.example", refreshUrl: "https://a.example" }
          yield* (yield* Payouts).connect(providerId, urls)
          const payouts = yield* Payouts
          const refunds = yield* Refunds
          const [paid, ...refunded] = yield* Effect.all(
            [
              Effect.result(payouts.request(providerId)),
              ...Array.from({ length: 4 }, () => refunds.refund(aCall(providerId, consumerId, 500)))
            ] as const,
            { concurrency: "unbounded" }
          )
          const out = paid._tag === "Success" && paid.success.mode === "live" ? paid.success.payout.amountCents : 0
          const back = refunded.reduce<bigint>((sum, one) => sum + one, 0n)
          const { balance } = yield* (yield* Ledger).provider(providerId)
          assert.strictEqual(fromCents(out) + back + balance, fromCents(2_000))
          assert.strictEqual(yield* availableTo(consumerId), back)
          assert.strictEqual(yield* (yield* Claims).owedBy(providerId), fromCents(2_000) - back)
        }
        yield* clearingIsEmpty
      })
    )
  })
}

it.layer(memoryCoreWith(ScriptedGateway.layer, { ...LIVE_EARNINGS_POLICY, refundLossLimitCents: 150 }), LIVE)(
  "A refund with the live rules",
  (it) => {
    it.effect("is advanced from platform funds up to the loss limit, and the platform is paid back", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* aProviderWith({}), yield* aProviderWith({})]
        const consumerId = yield* aConsumerId
        const refunds = yield* Refunds
        const claims = yield* Claims
        const ledger = yield* Ledger
        assert.strictEqual(yield* refunds.refund(aCall(one, consumerId, 100)), 0n)
        yield* (yield* PlatformFunds).deposit({ amount: fromCents(1_000), reference: randomUUID() })
        assert.strictEqual(yield* refunds.refund(aCall(one, consumerId, 100)), fromCents(100))
        assert.strictEqual(yield* refunds.refund(aCall(other, consumerId, 100)), fromCents(50))
        assert.strictEqual((yield* claims.totals).advancedMicrocents, fromCents(150))
        assert.strictEqual(yield* ledger.platformFunds, fromCents(850))
        const reference = randomUUID()
        yield* (yield* PlatformFunds).deposit({ amount: fromCents(500), reference })
        yield* ledger.adjust({ owner: { providerId: one }, direction: "credit", amount: fromCents(500), reference })
        yield* claims.work
        assert.strictEqual(yield* claims.owedBy(one), 0n)
        assert.strictEqual((yield* claims.totals).advancedMicrocents, fromCents(50))
        assert.strictEqual(yield* ledger.platformFunds, fromCents(950))
        yield* clearingIsEmpty
      })
    )

    it.effect("takes maturing and reserved money; a payout takes available money only", () =>
      Effect.gen(function* () {
        const providerId = ProviderId.make((yield* aProvider()).id)
        const ledger = yield* Ledger
        const lots: ReadonlyArray<readonly [string, number]> = [
          ["2026-10-01", 2_000],
          ["2026-12-20", 3_000]
        ]
        for (const [day, cents] of lots) {
          yield* (yield* PlatformFunds).deposit({ amount: fromCents(cents), reference: `${providerId} ${day}` })
          const leg = { kind: "adjustment", debit: "platform_fee", credit: "provider", lot: day, providerId } as const
          yield* ledger.post({ reference: `${providerId} ${day}`, legs: [{ ...leg, amount: fromCents(cents) }] })
        }
        const urls = { returnUrl: "https://a.example", refreshUrl: "https://a.example" }
        yield* (yield* Payouts).connect(providerId, urls)
        const atNewYear = when("2027-01-01T12:00:00.000Z")
        const { availableMicrocents, maturingMicrocents } = yield* atNewYear(
          (yield* ProviderMoney).holdings(providerId)
        )
        assert.deepStrictEqual([maturingMicrocents, availableMicrocents], [fromCents(3_000), fromCents(2_000)])
        const paid = yield* atNewYear((yield* Payouts).request(providerId))
        assert.strictEqual(paid.mode === "live" && paid.payout.amountCents, 2_000)
        const refused = yield* Effect.flip(atNewYear((yield* Payouts).request(providerId)))
        assert.deepInclude(refused, { _tag: "BelowMinimum", balanceCents: 0 })
        const refund = (yield* Refunds).refund(aCall(providerId, yield* aConsumerId, 3_000))
        assert.strictEqual(yield* atNewYear(refund), fromCents(3_000))
        yield* clearingIsEmpty
      })
    )
  }
)
