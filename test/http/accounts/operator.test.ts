/**
 * What the operator sees and does over HTTP: accounts, disputes, payouts, claims, chargebacks and jobs.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { OperatorKey } from "../../../domain/accounts/Authentication.ts"
import { AccountFreezes } from "../../../domain/payments/AccountFreezes.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { aConsumer, aProvider, at, expecting, listAt, textAt, valueAt } from "../../support/market/Market.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { buy, load, offerOf } from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const OPERATOR = "/api/v1/operator"
const read = (path: string) => expecting(200, { path: `${OPERATOR}${path}`, key: OPERATOR_KEY })
const act = (path: string, json: object) => expecting(200, { path: `${OPERATOR}${path}`, json, key: OPERATOR_KEY })

const aShop = Effect.gen(function* () {
  const { url } = yield* providing(fine)
  const provider = yield* aProvider({ endpoint_url: url })
  const consumer = yield* aConsumer()
  yield* load(consumer, 500)
  return { consumer, provider, offer: yield* offerOf(provider, { price_microcents: 50_000 }) }
})

const service = memoryCore.pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY))))

it.layer(service, LIVE)("The operator", (it) => {
  it.effect("freezes an account: its calls are rejected until the operator unfreezes it", () =>
    Effect.gen(function* () {
      const { consumer, offer } = yield* aShop
      const account = `/consumers/${consumer.id}`
      assert.strictEqual((yield* buy(consumer, offer)).status, 200)
      const frozen = yield* act(`${account}/freeze`, { reason: "Fraud is suspected." })
      assert.deepStrictEqual(frozen.json, {
        consumer_id: consumer.id,
        frozen: true,
        was_frozen: false,
        reason: "Fraud is suspected."
      })
      const rejected = yield* buy(consumer, offer)
      assert.deepStrictEqual([rejected.status, at(rejected, "code")], [403, "ACCOUNT_FROZEN"])
      const balance = yield* expecting(200, { path: "/api/v1/market/balance", key: consumer.key })
      assert.strictEqual(at(balance, "frozen_reason"), "Fraud is suspected.")

      // Neither the job nor a payment ends it.
      yield* (yield* AccountFreezes).reviewAll
      yield* load(consumer, 500)
      assert.strictEqual((yield* buy(consumer, offer)).status, 403)
      const listed = yield* read("/consumers?frozen=true&limit=100")
      const row = listAt(listed, "consumers").find((one) => valueAt(one, "consumer_id") === consumer.id)
      assert.deepStrictEqual(
        ["frozen", "frozen_reason", "frozen_by_operator"].map((field) => valueAt(row, field)),
        [true, "Fraud is suspected.", true]
      )
      const again = yield* act(`${account}/freeze`, { reason: "Fraud is proved." })
      assert.strictEqual(at(again, "was_frozen"), true)

      assert.strictEqual(at(yield* act(`${account}/unfreeze`, {}), "was_frozen"), true)
      assert.strictEqual((yield* buy(consumer, offer)).status, 200)
      assert.strictEqual(at(yield* read(account), "frozen"), false)
    })
  )

  it.effect("finds an account by its email address, with its money", () =>
    Effect.gen(function* () {
      const { consumer, offer, provider } = yield* aShop
      yield* buy(consumer, offer)
      const named = yield* aConsumer({ name: "<b>Findable</b> Agent", email: "findable@owner.example" })
      const found = yield* read("/consumers?search=Findable%40")
      assert.deepStrictEqual(
        listAt(found, "consumers").map((one) => valueAt(one, "consumer_id")),
        [named.id]
      )
      const whole = yield* read(`/consumers/${consumer.id}`)
      assert.deepStrictEqual(
        ["available_microcents", "held_microcents", "owed_microcents"].map((field) => at(whole, field)),
        [4_950_000, 0, 0]
      )
      const earned = yield* read(`/providers/${provider.id}`)
      assert.isAbove(Number(at(earned, "available_microcents")), 0)
      const byId = listAt(yield* read(`/providers?search=${provider.id}`), "providers")
      assert.deepStrictEqual(
        byId.map((one) => valueAt(one, "provider_id")),
        [provider.id]
      )
      const unknown = "00000000-0000-4000-8000-000000000000"
      for (const path of [`/consumers/${unknown}`, `/providers/${unknown}`, `/disputes/${unknown}`]) {
        yield* expecting(404, { path: `${OPERATOR}${path}`, key: OPERATOR_KEY })
      }
      yield* expecting(400, { path: `${OPERATOR}/consumers?frozen=true&search=xy`, key: OPERATOR_KEY })
    })
  )

  it.effect("sees contested disputes, earliest deadline first, and decides them once", () =>
    Effect.gen(function* () {
      const { consumer, offer, provider } = yield* aShop
      const ids: Array<string> = []
      for (let n = 0; n < 3; n++) {
        const receipt = textAt(yield* buy(consumer, offer), "meta", "receipt_id")
        const filed = yield* expecting(201, {
          path: "/api/v1/market/disputes",
          key: consumer.key,
          json: { receipt_id: receipt, reason: "quality", description: `wrong answer ${n}` }
        })
        ids.push(textAt(filed, "dispute_id"))
      }
      for (const id of ids) {
        const path = `/api/v1/market/disputes/${id}/respond`
        yield* expecting(200, { path, key: provider.key, json: { action: "contest", message: "It was right." } })
      }
      const waiting = listAt(yield* read("/disputes?limit=100"), "disputes")
      assert.deepStrictEqual(
        waiting.map((one) => valueAt(one, "dispute_id")).filter((id) => ids.includes(String(id))),
        ids
      )
      const whole = yield* read(`/disputes/${ids[0]}`)
      assert.deepStrictEqual(
        [at(whole, "claim", "text"), at(whole, "answer", "text"), at(whole, "details", "filed_in_all")],
        ["wrong answer 0", "It was right.", 3]
      )
      const ruling = { note: "The receipt agrees.".repeat(200), resolution: "resolved_refund" }
      const resolve = { path: `/api/v1/market/disputes/${ids[0]}/resolve`, key: OPERATOR_KEY, json: ruling }
      yield* expecting(200, resolve)
      yield* expecting(409, resolve)
      const left = listAt(yield* read("/disputes?limit=100"), "disputes").map((one) => valueAt(one, "dispute_id"))
      assert.notInclude(left, ids[0])
      const refunded = listAt(yield* read("/disputes?status=resolved_refund&limit=100"), "disputes")
      assert.include(
        refunded.map((one) => valueAt(one, "dispute_id")),
        ids[0]
      )
      const [entry] = listAt(yield* read(`/audit-trail?subject=${ids[0]}`), "entries")
      assert.deepStrictEqual(
        [valueAt(entry, "action"), valueAt(entry, "reason")],
        ["dispute.decide", ruling.note.slice(0, 1_000)]
      )
      // A long note does not push the decision out of the details.
      assert.match(String(valueAt(entry, "details")), /…","resolution":"resolved_refund"\}$/u)
    })
  )
})
