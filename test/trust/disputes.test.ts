/**
 * Disputes over HTTP: who may do what, when, and what money moves.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { Claims } from "../../domain/earnings/Claims.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { at, expecting, listAt, textAt } from "../support/market/Market.ts"
import { aFundedConsumer, books, buy, FEE, PRICE, problemOf, walletOf } from "../support/metering/Shop.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import {
  memoryDisputedCore,
  contest,
  DISPUTES,
  earned,
  file,
  filed,
  MILLION,
  OPERATOR,
  resolve,
  respond,
  sold
} from "../support/trust/Disputing.ts"

it.layer(memoryDisputedCore, LIVE)("Disputes", (it) => {
  it.effect("are filed by a party, and the response states what happens next", () =>
    Effect.gen(function* () {
      const { buyer, receiptId } = yield* sold
      const answer = yield* file(buyer, receiptId, { evidence: { expected: "a", got: ["b"] } })
      assert.strictEqual(answer.status, 201)
      assert.strictEqual(at(answer, "status"), "filed")
      assert.strictEqual(at(answer, "filed_by"), buyer.id)
      assert.strictEqual(at(answer, "filed_by_type"), "agent")
      const [created, until] = [textAt(answer, "created_at"), textAt(answer, "respond_by")]
      assert.strictEqual(Date.parse(until) - Date.parse(created), 7 * 86_400_000)
      assert.deepStrictEqual(problemOf(yield* file(buyer, receiptId)), [409, "DUPLICATE"])
    })
  )

  it.effect("of a receipt that was not issued here are 404, however many digits its id has", () =>
    Effect.gen(function* () {
      const { buyer, receiptId } = yield* sold
      for (const id of ["rcpt_0123456789abcdef", receiptId.slice(0, 21), `${receiptId}0`]) {
        assert.deepStrictEqual(problemOf(yield* file(buyer, id)), [404, "NOT_FOUND"], id)
      }
    })
  )

  it.effect("carry the filer's own reference, which the parties see", () =>
    Effect.gen(function* () {
      const { buyer, offer, receiptId } = yield* sold
      for (const reference of ["x".repeat(101), "a\nb", " ", 7]) {
        assert.deepStrictEqual(problemOf(yield* file(buyer, receiptId, { reference })), [422, "VALIDATION_ERROR"])
      }
      const path = textAt(yield* file(buyer, receiptId, { reference: " SUP-1042 " }), "dispute_url")
      const dispute = new URL(path).pathname
      for (const key of [buyer.key, offer.provider.key, OPERATOR]) {
        assert.strictEqual(textAt(yield* expecting(200, { path: dispute, key }), "claim", "reference"), "SUP-1042")
        const listed = listAt(yield* expecting(200, { path: DISPUTES, key }), "disputes")
        assert.include(JSON.stringify(listed), '"reference":"SUP-1042"')
      }
      assert.notInclude(JSON.stringify((yield* expecting(200, { path: dispute })).json), "SUP-1042")
    })
  )

  it.effect("show their parties everything, and other readers the status", () =>
    Effect.gen(function* () {
      const { buyer, id, offer } = yield* filed
      const contested = { action: "contest", message: "It was what you asked for", evidence: { trace: 7 } }
      assert.strictEqual((yield* respond(offer.provider, id, contested)).status, 200)
      const stranger = yield* aFundedConsumer()
      const path = `${DISPUTES}/${id}`
      for (const key of [buyer.key, offer.provider.key, OPERATOR]) {
        const whole = yield* expecting(200, { path, key })
        assert.strictEqual(textAt(whole, "answer", "text"), "It was what you asked for")
        assert.deepStrictEqual(at(whole, "answer", "evidence"), { trace: 7 })
        assert.strictEqual(at(whole, "details", "filed_in_all"), 1)
      }
      for (const key of [undefined, stranger.key, "atb_c_wrong"]) {
        const shown = yield* expecting(200, { path, key })
        assert.deepStrictEqual(Object.keys(shown.json as object).toSorted(), [
          "created_at",
          "decide_by",
          "decided_by",
          "dispute_id",
          "filed_by_type",
          "reason",
          "resolved_at",
          "respond_by",
          "status"
        ])
        for (const secret of [buyer.id, offer.provider.id, "asked for"]) assert.notInclude(shown.text, secret)
      }
      const mine = yield* expecting(200, { path: `${DISPUTES}?status=under_review`, key: buyer.key })
      assert.deepStrictEqual([listAt(mine, "disputes").length, at(mine, "total")], [1, 1])
      const theirs = yield* expecting(200, { path: DISPUTES, key: stranger.key })
      assert.deepStrictEqual(listAt(theirs, "disputes"), [])
    })
  )

  it.effect("that the provider accepts refund the price, and the fee with it", () =>
    Effect.gen(function* () {
      const { buyer, id, offer } = yield* filed
      const before = yield* books
      assert.strictEqual(yield* earned(offer), PRICE - FEE)
      const answer = yield* respond(offer.provider, id, { action: "accept" })
      assert.deepStrictEqual(
        [at(answer, "status"), at(answer, "paid_microcents"), at(answer, "decided_by")],
        ["resolved_refund", PRICE, "provider"]
      )
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
      assert.strictEqual(yield* earned(offer), 0)
      const after = yield* books
      assert.deepStrictEqual(
        [after.wallets - before.wallets, after.providers - before.providers, after.fees - before.fees],
        [BigInt(PRICE), BigInt(FEE - PRICE), BigInt(-FEE)]
      )
      for (const json of [{ action: "accept" }, { action: "contest", message: "no" }]) {
        assert.deepStrictEqual(problemOf(yield* respond(offer.provider, id, json)), [409, "DUPLICATE"])
      }
      assert.deepStrictEqual(problemOf(yield* resolve(id, { resolution: "resolved_denied" })), [409, "DUPLICATE"])
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
    })
  )

  it.effect("are decided by the operator: for the consumer, for the provider, or at the platform's cost", () =>
    Effect.gen(function* () {
      yield* (yield* PlatformFunds).deposit({ amount: Microcents.make(BigInt(2 * PRICE)), reference: "credits" })
      for (const [json, back, left] of [
        [{ resolution: "resolved_refund", note: "Right" }, PRICE, 0],
        [{ resolution: "resolved_denied" }, 0, PRICE - FEE],
        [{ resolution: "resolved_credit" }, PRICE, PRICE - FEE],
        [{ resolution: "resolved_credit", amount_microcents: 7 }, 7, PRICE - FEE]
      ] as const) {
        const { buyer, id, offer } = yield* filed
        yield* respond(offer.provider, id, { action: "contest", message: "It was fine" })
        const answer = yield* resolve(id, json)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - PRICE + back)
        assert.strictEqual(yield* earned(offer), left)
        yield* books
      }
      const { id } = yield* filed
      for (const amount_microcents of [0, PRICE + 1]) {
        const answer = yield* resolve(id, { resolution: "resolved_credit", amount_microcents })
        assert.deepStrictEqual(problemOf(answer), [422, "VALIDATION_ERROR"])
      }
    })
  )

  it.effect("may be filed again only when they were denied", () =>
    Effect.gen(function* () {
      const { buyer, id, receiptId } = yield* filed
      yield* resolve(id, { resolution: "resolved_denied" })
      const again = yield* file(buyer, receiptId)
      assert.strictEqual(again.status, 201)
      yield* resolve(textAt(again, "dispute_id"), { resolution: "resolved_refund" })
      assert.deepStrictEqual(problemOf(yield* file(buyer, receiptId)), [409, "DUPLICATE"])
    })
  )

  it.effect("that wait for the operator are listed to it, whichever party filed them", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* filed, yield* filed]
      for (const { id, offer } of [one, other]) yield* contest(offer.provider, id)
      const path = `${DISPUTES}?status=under_review&limit=2`
      const listed = yield* expecting(200, { path, key: OPERATOR })
      assert.deepStrictEqual(
        listAt(listed, "disputes").map((dispute) => (dispute as { readonly dispute_id: string }).dispute_id),
        [other.id, one.id]
      )
    })
  )

  it.effect("move only what is covered; the rest is a claim that the provider's next earnings pay", () =>
    Effect.gen(function* () {
      const { buyer, offer, receiptId } = yield* sold
      const ledger = yield* Ledger
      const providerId = ProviderId.make(offer.provider.id)
      // What it earned has been spent otherwise.
      const amount = Microcents.make(BigInt(PRICE - FEE))
      yield* ledger.adjust({ reference: `test:${receiptId}`, owner: { providerId }, direction: "debit", amount })
      const id = textAt(yield* file(buyer, receiptId), "dispute_id")
      const answer = yield* respond(offer.provider, id, { action: "accept" })
      assert.deepStrictEqual(
        [at(answer, "refunded_microcents"), at(answer, "outstanding_microcents")],
        [FEE, PRICE - FEE]
      )
      assert.strictEqual(yield* earned(offer), 0)
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - PRICE + FEE)
      assert.strictEqual((yield* buy(buyer, offer)).status, 200)
      yield* (yield* Claims).work
      assert.strictEqual(yield* earned(offer), 0)
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - PRICE)
      for (const key of [buyer.key, offer.provider.key]) {
        const seen = yield* expecting(200, { path: `${DISPUTES}/${id}`, key })
        assert.deepStrictEqual([at(seen, "refunded_microcents"), at(seen, "outstanding_microcents")], [PRICE, 0])
      }
      yield* books
    })
  )

  it.effect("freeze the earnings of the call until they are decided", () =>
    Effect.gen(function* () {
      const { buyer, id, offer } = yield* filed
      const providerId = ProviderId.make(offer.provider.id)
      const { frozen } = yield* (yield* Ledger).provider(providerId)
      assert.strictEqual(Number(frozen), PRICE - FEE)
      assert.deepStrictEqual(yield* (yield* Ledger).lots(providerId), [])
      const seen = yield* expecting(200, { path: `${DISPUTES}/${id}`, key: buyer.key })
      assert.strictEqual(at(seen, "frozen_microcents"), PRICE - FEE)
      yield* contest(offer.provider, id)
      yield* resolve(id, { resolution: "resolved_denied" })
      assert.strictEqual((yield* (yield* Ledger).provider(providerId)).frozen, 0n)
      assert.strictEqual(yield* earned(offer), PRICE - FEE)
      yield* books
    })
  )

  it.effect("are credited from platform funds, or not at all", () =>
    Effect.gen(function* () {
      const { id, offer } = yield* filed
      yield* contest(offer.provider, id)
      const { platformFundsMicrocents: amount } = yield* (yield* PlatformFunds).solvency
      yield* (yield* PlatformFunds).withdraw({ amount: Microcents.make(amount), reference: id })
      const refused = yield* resolve(id, { resolution: "resolved_credit" })
      assert.deepStrictEqual(problemOf(refused), [409, "INSUFFICIENT_PLATFORM_FUNDS"])
      yield* (yield* PlatformFunds).deposit({ amount: Microcents.make(BigInt(PRICE)), reference: id })
      assert.strictEqual((yield* resolve(id, { resolution: "resolved_credit" })).status, 200)
      yield* books
    })
  )
})
