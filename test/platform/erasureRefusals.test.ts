/**
 * Accounts that cannot be erased: unknown ones, and those with a balance or money in transit.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { randomUUID } from "node:crypto"
import { AccountStore } from "../../domain/accounts/Account.ts"
import { PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { LoadStore } from "../../domain/payments/Loads.ts"
import { WithdrawalStore } from "../../domain/payments/Withdrawals.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId, WithdrawalId, WithdrawalPartId } from "../../domain/shared/Ids.ts"
import { aConsumer, aProvider, expecting } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { BALANCE } from "../support/metering/Shop.ts"
import { aPair, filed, ordered, refusalOf } from "../support/security/Erasable.ts"
import { KEYS } from "../support/security/Paths.ts"
import { memoryDisputedCore, resolve } from "../support/trust/Disputing.ts"

it.layer(memoryDisputedCore, LIVE)("Erasure", (it) => {
  it.effect("rejects an unknown account, and one with money, unless told to abandon it", () =>
    Effect.gen(function* () {
      const pair = yield* aPair
      const { consumer, provider } = pair
      const nobody = yield* refusalOf({ id: randomUUID() })
      assert.strictEqual(nobody._tag, "AccountNotFound")
      const profile = Effect.flatMap(AccountStore, (store) => store.findConsumer(ConsumerId.make(consumer.id)))
      const before = yield* profile
      for (const owner of [consumer, provider]) {
        const refusal = yield* refusalOf(owner, false)
        assert.strictEqual(refusal._tag, "MoneyRemaining")
        assert.match(refusal.message, /still has \$\d+\.\d+\. Refund it.*leave the amount in the ledger/u)
      }
      const dispute = yield* filed(pair)
      for (const owner of [consumer, provider]) {
        const refusal = yield* refusalOf(owner)
        assert.strictEqual(refusal._tag, "MoneyInTransit")
        assert.include(refusal.message, "open disputes")
      }
      yield* resolve(dispute, { resolution: "resolved_denied" })

      const now = yield* DateTime.now
      const loads = yield* LoadStore
      const order = {
        id: LoadId.make(randomUUID()),
        consumerId: ConsumerId.make(consumer.id),
        amountCents: 500,
        state: "open" as const,
        sessionId: `cs_${randomUUID()}`,
        checkoutUrl: undefined,
        paymentId: undefined,
        feeCents: undefined,
        createdAt: now,
        paidAt: undefined,
        updatedAt: now
      }
      yield* loads.insert(order)
      assert.include((yield* refusalOf(consumer)).message, "loads that may still be paid")
      yield* loads.update({ ...order, state: "expired" })

      const withdrawals = yield* WithdrawalStore
      const withdrawalId = WithdrawalId.make(randomUUID())
      const part = {
        id: WithdrawalPartId.make(randomUUID()),
        withdrawalId,
        consumerId: ConsumerId.make(consumer.id),
        loadId: order.id,
        paymentId: "pi_1",
        amountCents: 100,
        feeCents: 0,
        state: "refunding" as const,
        refundId: undefined,
        failure: undefined,
        attempts: 1,
        nextAttemptAt: now
      }
      yield* withdrawals.insert({
        id: withdrawalId,
        consumerId: part.consumerId,
        amountCents: 100,
        createdAt: now,
        parts: [part]
      })
      assert.include((yield* refusalOf(consumer)).message, "a withdrawal in progress")
      yield* withdrawals.updatePart({ ...part, state: "paid" })

      const payouts = yield* PayoutStore
      const payout = {
        id: PayoutId.make(randomUUID()),
        providerId: ProviderId.make(provider.id),
        accountId: "acct_1",
        amountCents: 1_000,
        state: "requested" as const,
        transferId: undefined,
        failure: undefined,
        reversedCents: 0,
        attempts: 0,
        nextAttemptAt: now,
        createdAt: now,
        paidAt: undefined
      }
      yield* payouts.insert(payout)
      assert.include((yield* refusalOf(provider)).message, "a payout in progress")
      yield* payouts.update({ ...payout, state: "failed" })

      assert.deepStrictEqual(yield* profile, before, "whoever is refused is left as it was")
      yield* expecting(200, { path: BALANCE, key: consumer.key })
      for (const owner of [consumer, provider]) {
        assert.isTrue(Result.isSuccess(yield* Effect.result(ordered(owner))))
      }
    })
  )

  it.effect("accepts an account without money", () =>
    Effect.gen(function* () {
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      for (const owner of [consumer, provider]) {
        const { record } = yield* ordered(owner, false)
        assert.strictEqual(record.leftMicrocents, 0n)
      }
      assert.strictEqual((yield* send({ path: KEYS, key: provider.key })).status, 401)
    })
  )
})
