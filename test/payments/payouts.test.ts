/**
 * Payouts: made once, through crashes between any two steps, lost responses, rejections, and concurrent requests.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { ClaimId, ClaimStore } from "../../domain/earnings/Claims.ts"
import { PAYOUT_CENTS_MIN, Payouts } from "../../domain/earnings/Payouts.ts"
import { PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { ConsumerId, type PayoutId, ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents, Microcents } from "../../domain/shared/Microcents.ts"
import { aConsumer, aProvider } from "../support/market/Market.ts"
import { everyCoreWith, memoryCoreWith } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { anEarner, balanceOf, CENTS, earn, REST, statesOf, transfersMade } from "./Earners.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"

const NEXT_ATTEMPT = "3 hours"

const paidOut = Effect.fnUntraced(function* (providerId: ProviderId) {
  const asked = yield* (yield* Payouts).request(providerId)
  if (asked.mode !== "live") return yield* Effect.die("not live")
  return asked.payout
})

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A payout", (it) => {
  it.effect("pays all whole cents, and the rest stays", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const payout = yield* paidOut(providerId)
      assert.deepStrictEqual([payout.state, payout.amountCents], ["paid", CENTS])
      assert.strictEqual(yield* balanceOf(providerId), REST)
      yield* clearingIsEmpty
      const again = yield* Effect.flip(paidOut(providerId))
      assert.strictEqual(again._tag, "BelowMinimum")
    })
  )

  for (const mishap of ["before", "after", "crash_before", "crash_after"] as const) {
    it.effect(`is made once where the processor fails or the process dies: ${mishap}`, () =>
      Effect.gen(function* () {
        const providerId = yield* anEarner
        const script = yield* ScriptedGateway.GatewayScript
        const before = yield* transfersMade
        script.mishaps.transfer.push(mishap)
        yield* Effect.exit(paidOut(providerId))
        assert.deepStrictEqual(yield* statesOf(providerId), ["transferring"])
        assert.strictEqual(yield* balanceOf(providerId), REST)
        const { work } = yield* Payouts
        yield* work
        assert.deepStrictEqual(yield* statesOf(providerId), ["transferring"], "before its time")
        script.mishaps.lookup.push("before")
        yield* later(NEXT_ATTEMPT)(work)
        yield* later("6 hours")(work)
        assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
        assert.strictEqual((yield* transfersMade) - before, 1)
        assert.strictEqual(yield* balanceOf(providerId), REST)
        yield* clearingIsEmpty
      })
    )
  }

  it.effect("is made once where its response was lost and the processor then rejects the look-up", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const script = yield* ScriptedGateway.GatewayScript
      const before = yield* transfersMade
      script.mishaps.transfer.push("after")
      yield* paidOut(providerId)
      // As with a key that was revoked meanwhile: the look-up is rejected, the transfer was made.
      script.mishaps.lookup.push("refuse")
      const { work } = yield* Payouts
      yield* later(NEXT_ATTEMPT)(work)
      assert.deepStrictEqual(yield* statesOf(providerId), ["transferring"])
      assert.strictEqual(yield* balanceOf(providerId), REST)
      yield* later("6 hours")(work)
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
      assert.strictEqual((yield* transfersMade) - before, 1)
      yield* clearingIsEmpty
    })
  )

  it.effect("that was reserved when the process died is continued", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.transfer.push("before")
      const { id } = yield* paidOut(providerId)
      const store = yield* PayoutStore
      const payout = Option.getOrThrow(yield* store.find(id))
      // The state after the reservation, before a worker has claimed it.
      yield* store.update({ ...payout, state: "requested", attempts: 0, nextAttemptAt: payout.createdAt })
      yield* (yield* Payouts).work
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
      yield* clearingIsEmpty
    })
  )

  it.effect("that the processor rejects returns the money, and says why", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.transfer.push("refuse")
      const payout = yield* paidOut(providerId)
      assert.deepStrictEqual([payout.state, payout.failure], ["failed", "refused by the script"])
      assert.strictEqual(yield* balanceOf(providerId), fromCents(CENTS) + REST)
      yield* clearingIsEmpty
      assert.strictEqual((yield* paidOut(providerId)).state, "paid")
    })
  )

  it.effect("that the processor reverses is returned, in parts too, once each", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const { reversed } = yield* Payouts
      const { id, transferId } = yield* paidOut(providerId)
      const part = { transferId: transferId!, amountCents: CENTS, reversedCents: 234 }
      for (let n = 0; n < 2; n++) yield* reversed(id, part)
      assert.strictEqual(yield* balanceOf(providerId), fromCents(234) + REST)
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
      for (let n = 0; n < 2; n++) yield* reversed(id, { ...part, reversedCents: CENTS })
      yield* reversed(id, part)
      assert.strictEqual(yield* balanceOf(providerId), fromCents(CENTS) + REST)
      assert.deepStrictEqual(yield* statesOf(providerId), ["reversed"])
      yield* clearingIsEmpty
    })
  )

  it.effect("that is reversed before it is known to be made ends reversed", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.transfer.push("after")
      const { id } = yield* paidOut(providerId)
      const made = { transferId: `tr_${id}`, amountCents: CENTS, reversedCents: CENTS }
      yield* (yield* Payouts).reversed(id, made)
      yield* later(NEXT_ATTEMPT)((yield* Payouts).work)
      assert.deepStrictEqual(yield* statesOf(providerId), ["reversed"])
      assert.strictEqual(yield* balanceOf(providerId), fromCents(CENTS) + REST)
      yield* clearingIsEmpty
    })
  )

  it.effect("is what is left after the claims on the provider are paid", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const consumerId = ConsumerId.make((yield* aConsumer()).id)
      const refunded = yield* (yield* Refunds).refund({
        subject: randomUUID(),
        receiptId: callOfTransfer(randomUUID()),
        providerId,
        consumerId,
        lot: "2026-11-20",
        cost: fromCents(CENTS + 500),
        fee: fromCents(0),
        frozen: fromCents(0)
      })
      assert.strictEqual(refunded, fromCents(CENTS) + REST)
      assert.strictEqual((yield* Effect.flip(paidOut(providerId)))._tag, "BelowMinimum")
      yield* earn(providerId, fromCents(2_000))
      const owed = fromCents(500) - REST
      assert.strictEqual((yield* paidOut(providerId)).amountCents, Number((fromCents(2_000) - owed) / 10_000n))
      assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).available, fromCents(CENTS + 500))
      yield* clearingIsEmpty
    })
  )

  it.effect("is at least the minimum", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      yield* paidOut(providerId)
      const missing = Microcents.make(fromCents(PAYOUT_CENTS_MIN) - REST)
      yield* earn(providerId, Microcents.make(missing - 1n))
      const rejected = yield* Effect.flip(paidOut(providerId))
      assert.deepInclude(rejected, { _tag: "BelowMinimum", balanceCents: PAYOUT_CENTS_MIN - 1 })
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
      yield* earn(providerId, Microcents.make(1n))
      assert.strictEqual((yield* paidOut(providerId)).amountCents, PAYOUT_CENTS_MIN)
      assert.strictEqual(yield* balanceOf(providerId), 0n)
    })
  )

  it.effect("leaves what the provider owes, also where that is more claims than are collected at once", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      yield* earn(providerId, fromCents(2_000))
      const creditor = ConsumerId.make((yield* aConsumer()).id)
      const claims = yield* ClaimStore
      yield* Effect.forEach(Array.from({ length: 51 }), () =>
        claims.insert({
          id: ClaimId.make(randomUUID()),
          subject: randomUUID(),
          debtor: providerId,
          creditor,
          amount: fromCents(20),
          credit: fromCents(0),
          paid: fromCents(0),
          createdAt: DateTime.makeUnsafe(0)
        })
      )
      assert.strictEqual((yield* paidOut(providerId)).amountCents, CENTS + 2_000 - 51 * 20)
      assert.strictEqual(yield* claims.owedBy(providerId), fromCents(20))
      assert.strictEqual(yield* balanceOf(providerId), fromCents(20) + REST)
    })
  )

  it.effect("waits for an account that can be paid", () =>
    Effect.gen(function* () {
      const providerId = ProviderId.make((yield* aProvider()).id)
      yield* earn(providerId, fromCents(CENTS))
      assert.strictEqual((yield* Effect.flip(paidOut(providerId)))._tag, "NotOnboarded")
      assert.strictEqual(yield* balanceOf(providerId), fromCents(CENTS))
    })
  )

  it.effect("with the same key is the same payout, also long after it was paid", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const { request } = yield* Payouts
      const first = yield* request(providerId, "my key")
      yield* earn(providerId, fromCents(3_000))
      const again = yield* request(providerId, "my key")
      assert.isTrue(first.mode === "live" && again.mode === "live" && again.repeated)
      assert.isTrue(first.mode === "live" && again.mode === "live" && first.payout.id === again.payout.id)
      assert.strictEqual((yield* statesOf(providerId)).length, 1)
    })
  )

  it.effect("with the same key is the one of the first response, also where another request created it", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const { request } = yield* Payouts
      const { work } = yield* Payouts
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.transfer.push("before")
      const { id } = yield* paidOut(providerId)
      const answered = Effect.map(request(providerId, "my key"), (asked) =>
        asked.mode === "live" && asked.repeated ? asked.payout.id : "another one"
      )
      assert.strictEqual(yield* answered, id)
      yield* later(NEXT_ATTEMPT)(work)
      yield* earn(providerId, fromCents(3_000))
      assert.strictEqual(yield* answered, id)
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
      assert.strictEqual(yield* balanceOf(providerId), fromCents(3_000) + REST)
    })
  )
})

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`A payout over ${name}`, (it) => {
    it.effect("is one transfer for two hundred concurrent requests", () =>
      Effect.gen(function* () {
        const providerId = yield* anEarner
        const before = yield* transfersMade
        const { request } = yield* Payouts
        const asked = yield* Effect.all(
          Array.from({ length: 200 }, () => Effect.result(request(providerId))),
          { concurrency: "unbounded" }
        )
        const ids = new Set<PayoutId>()
        for (const one of asked) {
          if (one._tag === "Success" && one.success.mode === "live") ids.add(one.success.payout.id)
          if (one._tag === "Failure") assert.strictEqual(one.failure._tag, "BelowMinimum")
        }
        assert.strictEqual(ids.size, 1)
        yield* later(NEXT_ATTEMPT)((yield* Payouts).work)
        assert.strictEqual((yield* transfersMade) - before, 1)
        assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
        assert.strictEqual(yield* balanceOf(providerId), REST)
        yield* clearingIsEmpty
      })
    )

    it.effect("has one worker at a time", () =>
      Effect.gen(function* () {
        const providerId = yield* anEarner
        const script = yield* ScriptedGateway.GatewayScript
        const before = yield* transfersMade
        script.mishaps.transfer.push("before")
        yield* paidOut(providerId)
        const { work } = yield* Payouts
        yield* later(NEXT_ATTEMPT)(
          Effect.all(
            Array.from({ length: 16 }, () => work),
            { concurrency: "unbounded" }
          )
        )
        assert.deepStrictEqual(yield* statesOf(providerId), ["paid"])
        assert.strictEqual((yield* transfersMade) - before, 1)
        yield* clearingIsEmpty
      })
    )
  })
}
