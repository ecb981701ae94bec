/**
 * What is rejected about disputes, and what happens to concurrent ones.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ReceiptId } from "../../domain/shared/Ids.ts"
import { DisputeId } from "../../domain/trust/DisputeStore.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { aProvider, textAt } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, books, buy, problemOf, walletOf } from "../support/metering/Shop.ts"
import { later } from "../support/metering/TestTime.ts"
import {
  DISPUTES,
  earned,
  everyDisputedCore,
  file,
  filed,
  memoryDisputedCore,
  MILLION,
  resolve,
  respond,
  sold
} from "../support/trust/Disputing.ts"

it.layer(memoryDisputedCore, LIVE)("Limits of disputes", (it) => {
  it.effect("cannot be filed, answered or decided by others", () =>
    Effect.gen(function* () {
      const { buyer, id, offer, receiptId } = yield* filed
      const [stranger, rival] = [yield* aFundedConsumer(), yield* aProvider()]
      for (const other of [stranger, rival]) {
        assert.deepStrictEqual(problemOf(yield* file(other, receiptId)), [403, "FORBIDDEN"])
      }
      assert.deepStrictEqual(problemOf(yield* file(buyer, `rcpt_${"0".repeat(32)}`)), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* respond(buyer, id, { action: "accept" })), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* respond(rival, id, { action: "accept" })), [404, "NOT_FOUND"])
      for (const member of [buyer, offer.provider]) {
        const decided = yield* resolve(id, { resolution: "resolved_refund" }, member.key)
        assert.deepStrictEqual(problemOf(decided), [403, "FORBIDDEN"])
      }
      assert.deepStrictEqual(problemOf(yield* resolve(id, { resolution: "resolved_refund" }, "")), [
        401,
        "UNAUTHORIZED"
      ])
    })
  )

  it.effect("are rejected after thirty days", () =>
    Effect.gen(function* () {
      const { buyer, receiptId } = yield* sold
      const disputes = yield* Disputes
      const filing = disputes.file(
        { role: "consumer", ownerId: buyer.id as never },
        { receiptId: ReceiptId.make(receiptId), reason: "quality", text: undefined, evidence: undefined }
      )
      const late = yield* later("721 hours")(Effect.flip(filing))
      assert.strictEqual(late._tag, "FilingTooLate")
      assert.strictEqual((yield* later("719 hours")(filing)).status, "filed")
    })
  )

  it.effect("have a daily limit, which is lower for those who lose them", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url)
      const buyer = yield* aFundedConsumer(1_000)
      const fileOne = Effect.gen(function* () {
        return yield* file(buyer, textAt(yield* buy(buyer, offer), "meta", "receipt_id"))
      })
      for (let n = 0; n < 10; n++) {
        yield* resolve(textAt(yield* fileOne, "dispute_id"), { resolution: "resolved_denied" })
      }
      for (let n = 0; n < 5; n++) assert.strictEqual((yield* fileOne).status, 201)
      const sixth = yield* fileOne
      assert.deepStrictEqual(problemOf(sixth), [429, "RATE_LIMITED"])
      assert.include(textAt(sixth, "message"), "were denied")

      const honest = yield* aFundedConsumer(1_000)
      for (let n = 0; n < 20; n++) {
        const bought = yield* buy(honest, offer)
        assert.strictEqual((yield* file(honest, textAt(bought, "meta", "receipt_id"))).status, 201)
      }
      const beyond = yield* file(honest, textAt(yield* buy(honest, offer), "meta", "receipt_id"))
      assert.deepStrictEqual(problemOf(beyond), [429, "RATE_LIMITED"])
      assert.isDefined(beyond.headers["retry-after"])
    })
  )

  it.effect("are rejected with invalid bodies", () =>
    Effect.gen(function* () {
      const { buyer, id, offer, receiptId } = yield* filed
      for (const json of [
        {},
        { receipt_id: receiptId },
        { receipt_id: "rcpt_1", reason: "quality" },
        { receipt_id: receiptId, reason: "boredom" },
        { receipt_id: receiptId, reason: "other" },
        { receipt_id: receiptId, reason: "other", description: "   " },
        { receipt_id: receiptId, reason: "quality", description: "x".repeat(4_001) },
        { receipt_id: receiptId, reason: "quality", evidence: "text" },
        { receipt_id: receiptId, reason: "quality", evidence: { long: "x".repeat(16_384) } }
      ]) {
        const answer = yield* send({ path: DISPUTES, key: buyer.key, json })
        assert.deepStrictEqual(problemOf(answer), [422, "VALIDATION_ERROR"], JSON.stringify(json).slice(0, 100))
      }
      for (const json of [{}, { action: "agree" }, { action: "contest" }, { action: "contest", message: " " }]) {
        assert.deepStrictEqual(problemOf(yield* respond(offer.provider, id, json)), [422, "VALIDATION_ERROR"])
      }
      for (const json of [
        {},
        { resolution: "filed" },
        { resolution: "resolved_credit", amount_microcents: -1 },
        { resolution: "resolved_credit", amount: 5 }
      ]) {
        assert.deepStrictEqual(problemOf(yield* resolve(id, json)), [422, "VALIDATION_ERROR"])
      }
      assert.deepStrictEqual(problemOf(yield* send({ path: `${DISPUTES}/1` })), [404, "NOT_FOUND"])
      const none = "00000000-0000-4000-8000-000000000000"
      assert.deepStrictEqual(problemOf(yield* send({ path: `${DISPUTES}/${none}` })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* resolve(none, { resolution: "resolved_denied" })), [404, "NOT_FOUND"])
    })
  )
})

for (const [name, core] of everyDisputedCore) {
  it.layer(core, LIVE)(`Limits of disputes over ${name}`, (it) => {
    it.effect("are filed once and decided once under concurrent requests", () =>
      Effect.gen(function* () {
        const { buyer, offer, receiptId } = yield* sold
        const answers = yield* Effect.all(
          Array.from({ length: 64 }, () => file(buyer, receiptId)),
          { concurrency: "unbounded" }
        )
        const won = answers.filter((answer) => answer.status === 201)
        assert.strictEqual(won.length, 1)
        assert.isTrue(answers.every((answer) => answer.status === 201 || answer.status === 409))
        const id = DisputeId.make(textAt(won[0]!, "dispute_id"))
        const disputes = yield* Disputes
        const late = later("8 days")(disputes.work)
        yield* Effect.all(
          Array.from({ length: 24 }, (_, n) =>
            n % 3 === 0
              ? Effect.asVoid(respond(offer.provider, id, { action: "accept" }))
              : n % 3 === 1
                ? Effect.asVoid(resolve(id, { resolution: "resolved_refund" }))
                : Effect.asVoid(late)
          ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
        assert.strictEqual(yield* earned(offer), 0)
        yield* books
        const decided = yield* disputes.find(id)
        assert.strictEqual(decided.status, "resolved_refund")
        assert.isTrue(DateTime.isDateTime(decided.decision!.at))
      })
    )
  })
}
