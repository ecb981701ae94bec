/**
 * The operator's summary: the figures of the lists and reports that it replaces, in one request.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { OperatorKey } from "../../../domain/accounts/Authentication.ts"
import { type PayoutState, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { aConsumer, aProvider, at, expecting, textAt, valueAt } from "../../support/market/Market.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { buy, load, offerOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const OPERATOR = "/api/v1/operator"
const SUMMARY = { path: `${OPERATOR}/summary` }
const read = (path: string) => expecting(200, { path: `${OPERATOR}${path}`, key: OPERATOR_KEY })
const AT = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")

const withoutTimes = (report: unknown) => ({ ...(report as object), timestamp: undefined })

const aPayout = Effect.fnUntraced(function* (state: PayoutState) {
  const providerId = ProviderId.make((yield* aProvider()).id)
  yield* (yield* PayoutStore).insert({
    id: PayoutId.make(randomUUID()),
    providerId,
    accountId: "acct_1",
    amountCents: 1_000,
    state,
    transferId: undefined,
    failure: state === "failed" ? "The account is restricted." : undefined,
    reversedCents: 0,
    attempts: 1,
    nextAttemptAt: AT,
    createdAt: AT,
    paidAt: undefined
  })
})

const service = memoryCore.pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY))))

it.layer(service, LIVE)("The operator's summary", (it) => {
  it.effect("has the solvency report, what waits, and the health of the node", () =>
    Effect.gen(function* () {
      const before = yield* read("/summary")
      assert.deepStrictEqual(at(before, "waiting"), {
        disputes: 0,
        next_decision_at: null,
        frozen_consumers: 0,
        open_payouts: 0,
        failed_payouts: 0
      })

      const { url } = yield* providing(fine)
      const provider = yield* aProvider({ endpoint_url: url })
      const consumer = yield* aConsumer()
      yield* load(consumer, 500)
      const offer = yield* offerOf(provider, { price_microcents: 50_000 })
      const bought = yield* buy(consumer, offer)
      const json = { receipt_id: textAt(bought, "meta", "receipt_id"), reason: "quality", description: "wrong" }
      const filed = yield* expecting(201, { path: "/api/v1/market/disputes", key: consumer.key, json })
      // A dispute that the provider has not answered does not wait for the operator.
      assert.strictEqual(valueAt(at(yield* read("/summary"), "waiting"), "disputes"), 0)
      const id = textAt(filed, "dispute_id")
      const action = { action: "contest", message: "It was right." }
      const path = `/api/v1/market/disputes/${id}/respond`
      const contested = yield* expecting(200, { path, key: provider.key, json: action })
      const freeze = { path: `${OPERATOR}/consumers/${consumer.id}/freeze`, key: OPERATOR_KEY }
      yield* expecting(200, { ...freeze, json: { reason: "Fraud is suspected." } })
      for (const state of ["requested", "transferring", "transferring", "paid", "failed", "reversed"] as const) {
        yield* aPayout(state)
      }

      const found = yield* read("/summary")
      assert.deepStrictEqual(at(found, "waiting"), {
        disputes: 1,
        next_decision_at: textAt(contested, "decide_by"),
        frozen_consumers: 1,
        open_payouts: 3,
        failed_payouts: 1
      })
      const solvency = (yield* read("/solvency")).json
      assert.deepStrictEqual(withoutTimes(at(found, "solvency")), withoutTimes(solvency))
      assert.notDeepEqual(withoutTimes(at(found, "solvency")), withoutTimes(at(before, "solvency")))
      const health = yield* send({ path: "/api/v1/health" })
      assert.deepStrictEqual(
        Object.keys(valueAt(at(found, "health"), "checks") as object),
        Object.keys(at(health, "checks") as object)
      )

      // It shows the money of the whole platform: no party to it may read it.
      for (const [key, status] of [
        [undefined, 401],
        [consumer.key, 403],
        [provider.key, 403],
        [`${OPERATOR_KEY}x`, 401]
      ] as const) {
        const rejected = yield* send({ ...SUMMARY, key })
        assert.deepStrictEqual([rejected.status, rejected.text.includes("solvency")], [status, false])
      }
    })
  )
})
